/**
 * Copies of systems that run: their owners decide, die and are replaced, workers report, users write, and brokers compact while a backup reads
 * them. The oracle counts what users asked for. Each occurrence, each trigger and each follow-up is one run in the copy, if its record is.
 *
 * DUELOG_MODEL_COPIES sets the number of histories, DUELOG_MODEL_FIRST_SEED the first seed.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { Chance } from '../../src/testing/simulation/chance.ts'
import { onlyOverHeaders } from '../../streams/state/condition.ts'
import { partitionOf } from '../../streams/topics/topics.ts'
import { usually } from '../setup/long.ts'
import { SchedulerDriver } from '../tools/scheduler-driver.ts'
import { compact, report, statesOf } from './copies/acts.ts'
import { copied } from './copies/copying.ts'
import { codecs, names } from './world.ts'

const copies = Number(process.env.DUELOG_MODEL_COPIES ?? usually(30, 500))
const firstSeed = Number(process.env.DUELOG_MODEL_FIRST_SEED ?? 1)
const folder = await mkdtemp(join(tmpdir(), 'duelog-live-'))
afterAll(() => rm(folder, { recursive: true, force: true }))

const partitionsOfOriginal = 2
const targets = ['t1', 't2']

/** A record that a user wrote, with its place. */
interface Wrote {
  id: string
  topic: string
  offset: number
  /** Of a definition: its runs by the schedule, and the job that follows each of them. */
  runs?: number
  then?: string
}

class Users {
  readonly wrote: Wrote[] = []
  readonly #driver: SchedulerDriver
  readonly #chance: Chance
  #made = 0

  constructor(driver: SchedulerDriver, chance: Chance) {
    this.#driver = driver
    this.#chance = chance
  }

  /** Only the first definition of a job counts, as each says that it is new. */
  define(id: string, then?: string): void {
    const chance = this.#chance
    const runs = then === undefined ? 1 : chance.int(1, 8)
    const value = codecs.definition.encode({
      ...{
        schedule: { everyMs: chance.pick([300, 500]) },
        target: { handler: 'x' },
        maxRuns: runs,
        catchUp: 'ALL',
        catchUpMax: 100,
      },
      // Only follow-ups wait for a place; a trigger of a user is refused.
      ...{ overlap: 'ALLOW', maxConcurrentRuns: then === undefined ? chance.pick([1, 2, 100]) : 100 },
      ...{ onSuccess: then === undefined ? [] : [then] },
      ...{ leaseMs: 1_000, retry: { maxAttempts: 50, backoff: { fixed: { delayMs: 0 } } } },
    })
    const record = { topic: names.jobs, ofJob: true, key: id, value, headers: onlyOverHeaders('none') }
    const offset = [...this.#driver.log.append([record]).values()][0] ?? -1
    this.wrote.push({ id, topic: names.jobs, offset, runs, ...(then !== undefined && { then }) })
  }

  act(): void {
    const id = `s${this.#chance.int(1, 6)}`
    if (this.#chance.happens(0.3)) return this.define(id, this.#chance.pick(targets))
    // Between two topics there is no order: a command may be read before the definition.
    if (!statesOf(this.#driver).has(id)) return
    const offset = this.#driver.command(id, { type: 'TRIGGER', commandId: `c${this.#made++}` })
    this.wrote.push({ id, topic: names.commands, offset })
  }

  /** The runs of each job, by the records before these ends. Without ends: by all. */
  expected(ends?: ReadonlyMap<string, number>): Record<string, number> {
    const counts: Record<string, number> = {}
    const then = new Map<string, string>()
    const seen = (one: Wrote): boolean =>
      ends === undefined || one.offset < (ends.get(`${one.topic}/${partitionOf(one.id, partitionsOfOriginal)}`) ?? 0)
    for (const one of this.wrote.filter(seen)) {
      if (one.runs === undefined && counts[one.id] !== undefined) counts[one.id] = (counts[one.id] ?? 0) + 1
      if (one.runs === undefined || counts[one.id] !== undefined) continue
      counts[one.id] = one.runs
      if (one.then !== undefined) then.set(one.id, one.then)
    }
    for (const [id, target] of then) counts[target] = (counts[target] ?? 0) + (counts[id] ?? 0)
    return counts
  }
}

/** Lets everything end. Each run succeeds. */
async function ended(driver: SchedulerDriver): Promise<Record<string, number>> {
  driver.boot('B')
  for (let step = 0; step < 60; step++) {
    await driver.advance(500, 250)
    report(driver, () => 'succeed')
  }
  await driver.advance(500)
  const all = [...statesOf(driver)]
  for (const [id, { status, followUps, succeeded, runNo }] of all)
    expect({ id, status, followUps, succeeded }).toEqual({ id, status: 'COMPLETED', followUps: null, succeeded: runNo })
  return Object.fromEntries(all.map(([id, { runNo }]) => [id, runNo]))
}

it(`a copy of a running system has each run once, in ${copies} histories from seed ${firstSeed} on`, {
  timeout: 180_000 + copies * 3_000,
}, async () => {
  const had = { written: 0, killed: 0 }
  for (let seed = firstSeed; seed < firstSeed + copies; seed++) {
    const chance = new Chance(seed)
    const original = new SchedulerDriver(partitionsOfOriginal)
    original.boot('A')
    await original.settle()
    const users = new Users(original, chance)
    for (const target of targets) users.define(target)
    await original.advance(100)
    const lives = async (): Promise<void> => {
      for (let acts = chance.int(0, 2); acts > 0; acts--) users.act()
      await original.advance(chance.pick([10, 60, 300, 700]), 250)
      report(original, () => chance.pick(['start', 'succeed', 'succeed', undefined]))
      if (chance.happens(0.1)) compact(original, chance)
      if (!chance.happens(0.1)) return
      for (const process of original.processes) original.kill(process)
      original.boot(`A${original.processes.length}`)
      had.killed++
    }
    for (let step = chance.int(3, 12); step > 0; step--) await lives()
    const before = users.wrote.length
    const { system, ends } = await copied(original, chance.int(1, 3), folder, lives)
    had.written += users.wrote.length - before
    for (const process of original.processes) original.kill(process)
    expect(await ended(system), `the copy of seed ${seed}`).toEqual(users.expected(ends))
    expect(await ended(original), `the original of seed ${seed}`).toEqual(users.expected())
  }
  expect(had.written).toBeGreaterThan(copies)
  if (copies >= 30) expect(had.killed).toBeGreaterThan(copies / 10)
})
