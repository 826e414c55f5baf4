/**
 * Copies of random histories: at any moment a system without owners is backed up and restored to another number of partitions. The oracle is
 * the system itself, which a new owner takes over: from then on both get the same reports, and must decide the same.
 *
 * DUELOG_MODEL_COPIES sets the number of histories, DUELOG_MODEL_FIRST_SEED the first seed.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import type { JobCommandInput, JobState } from '../../schemas/generated.ts'
import { BackupWriter } from '../../src/backup/backup-file.ts'
import type { BackupHeader } from '../../src/backup/backup-header.ts'
import { readSystem } from '../../src/backup/logged-system.ts'
import { Restoring } from '../../src/backup/restoring.ts'
import { Scratch } from '../../src/backup/scratch.ts'
import { Writing } from '../../src/backup/writing.ts'
import { codecsOfSchemas, ownSchemas } from '../../src/kafka/avro/codecs.ts'
import type { RecordIn, RecordOut } from '../../src/ports/log.ts'
import { Chance } from '../../src/testing/simulation/chance.ts'
import { onlyOverHeaders } from '../../streams/state/condition.ts'
import { pristineState } from '../../streams/state/draft.ts'
import { randomDefinition } from '../streams/random-definition.ts'
import { SchedulerDriver } from '../tools/scheduler-driver.ts'
import { jobsOf } from './cluster/settled.ts'
import { codecs, names } from './world.ts'

const copies = Number(process.env.DUELOG_MODEL_COPIES ?? 60)
const firstSeed = Number(process.env.DUELOG_MODEL_FIRST_SEED ?? 1)
const ids = ['a', 'b', 'c', 'd', 'e', 'f']
const partitions = { from: 2, to: 3 }
const folder = await mkdtemp(join(tmpdir(), 'duelog-copies-'))
afterAll(() => rm(folder, { recursive: true, force: true }))

const ofJobs = { define: 5, condition: 3, remove: 1 }
const ofCommands = { command: 6, followUps: 2 }

/** One act of a user, valid or not. */
function act(driver: SchedulerDriver, chance: Chance, weights: Partial<typeof ofJobs & typeof ofCommands>): void {
  const id = chance.pick(ids)
  const what = chance.weighted(weights)
  if (what === 'define' || what === 'condition') {
    // Limits are counted in each partition. In the copy definitions have other append times, from which dedupWindowMs counts.
    const {
      concurrencyKey: _,
      rateLimit: __,
      pinTo: ___,
      dedupKey: ____,
      ...definition
    } = randomDefinition(chance, driver.time.nowMs)
    const schedule = { ...definition.schedule, from: 'START' as const }
    // Whether an occurrence meets an active run is a matter of a millisecond in both. Without a next occurrence follow-ups wait all the same.
    const recurs = schedule.at === null && schedule.delayMs === null
    const overlap = recurs ? { overlap: 'ALLOW' as const, maxConcurrentRuns: 100 } : {}
    const spec = { ...definition, schedule, ...overlap, target: { ...definition.target, pool: 'default' } }
    const inForce = statesOf(driver).get(id)?.specOffset ?? 0
    const over = chance.pick(['any', 'none', inForce, inForce, chance.int(0, inForce + 3)] as const)
    const headers = what === 'condition' ? onlyOverHeaders(over) : {}
    driver.log.append([{ topic: names.jobs, ofJob: true, key: id, value: codecs.definition.encode(spec), headers }])
  } else if (what === 'remove') driver.remove(id)
  else if (what === 'followUps')
    for (let count = chance.int(1, 8); count > 0; count--)
      driver.command(id, { type: 'TRIGGER', trigger: 'FOLLOW_UP', commandId: `f${chance.int(0, 1e9)}` })
  else {
    const type = chance.pick(['TRIGGER', 'PAUSE', 'RESUME', 'CANCEL', 'CANCEL_RUN', 'REDRIVE', 'BACKFILL'] as const)
    const now = driver.time.nowMs
    const more: Partial<JobCommandInput> =
      type === 'BACKFILL'
        ? { from: now - 8_000, to: now }
        : type === 'CANCEL_RUN' || type === 'REDRIVE'
          ? { runNo: chance.int(1, 9) }
          : {}
    driver.command(id, { type, commandId: `c${chance.int(0, 1e9)}`, ...more })
  }
}

/** The states of all jobs, as the owner has them. One that nothing was decided about follows from its definition. */
function statesOf(driver: SchedulerDriver): Map<string, JobState> {
  const owner = driver.processes.at(-1)
  const jobs = [...(owner?.disk.values() ?? [])].flatMap((store) => [...jobsOf(store)])
  return new Map(
    jobs.flatMap(([id, { definition, state }]): [string, JobState][] => {
      const known = state ?? (definition === undefined ? undefined : pristineState({ id, definition }))
      return known === undefined ? [] : [[id, known]]
    }),
  )
}

/** Reports about the attempts that are handed out. `share`: which of them, by their runs. */
function report(driver: SchedulerDriver, isMeant: (id: string, runNo: number) => 'start' | 'succeed' | 'die' | undefined): void {
  for (const [jobId, state] of statesOf(driver))
    for (const { runNo, attempt, specOffset, status } of state.active) {
      const meant = status === 'DISPATCHED' || status === 'RUNNING' ? isMeant(jobId, runNo) : undefined
      const startedAt = driver.time.nowMs
      if (meant !== undefined && status === 'DISPATCHED')
        driver.report({ jobId, runNo, attempt, specOffset }, 'STARTED', { startedAt })
      if (meant === 'succeed') driver.report({ jobId, runNo, attempt, specOffset }, 'SUCCEEDED')
      if (meant === 'die')
        driver.report({ jobId, runNo, attempt, specOffset }, 'FAILED', { error: { type: 'E', message: 'm', retryable: false } })
    }
}

/** What a cluster is for a backup and a restore. */
function clusterOn({ log }: SchedulerDriver) {
  const write = async (records: RecordOut[]): Promise<Map<string, number>> => log.append(records)
  return {
    names,
    log: {
      readToEnd: async (options: {
        topics: readonly string[]
        begin?: Map<string, number> | undefined
        onRecord(record: RecordIn): void | Promise<void>
      }) => {
        const spans: { topic: string; partition: number; from: number; to: number }[] = []
        for (const topic of options.topics)
          for (let partition = 0; partition < log.partitions; partition++) {
            const place = log.at(topic, partition)
            const from = options.begin?.get(`${topic}/${partition}`) ?? place.earliest
            const { records, next } = place.read(from, Number.POSITIVE_INFINITY)
            for (const record of records) await options.onRecord(record)
            spans.push({ topic, partition, from, to: next })
          }
        return spans
      },
      writer: { write, close: async () => {} },
      transactionalWriter: async () => ({ commit: write, close: async () => {} }),
    },
  }
}

/** A driver over a copy of the logs of another one. */
async function copied(from: SchedulerDriver, seed: number): Promise<SchedulerDriver> {
  const signal = new AbortController().signal
  const all = codecsOfSchemas(ownSchemas())
  const reading = { ...all, ...codecs, operation: all.operation } as unknown as typeof all
  const file = join(folder, `${seed}.backup`)
  const scratch = await Scratch.open(folder)
  const source = clusterOn(from) as never
  const system = await readSystem({ cluster: source, codecs: reading, scratch, signal, onProgress() {} })
  const header: BackupHeader = {
    ...{
      createdAt: from.time.nowMs,
      duelog: '0',
      clusterId: 'here',
      prefix: 'model.',
      partitions: partitions.from,
      pools: ['default'],
    },
    ...{ zoneRules: '', live: false, ends: system.ends, intake: [], schemas: ownSchemas() },
  }
  const writer = await BackupWriter.create(file, header)
  const counts = await new Writing(writer, reading, scratch, system).all(() => {}, signal)
  await writer.end(counts)
  await scratch.close()
  const to = new SchedulerDriver(partitions.to)
  to.time.nowMs = from.time.nowMs
  const target = clusterOn(to)
  const second = await Scratch.open(folder)
  const options = { file, signal, onProgress() {} }
  const place = { options, cluster: target as never, codecs: reading, scratch: second, writer: target.log.writer }
  await new Restoring({ ...place, header, partitions: partitions.to, jobs: counts.jobs }).all()
  await second.close()
  return to
}

/** What two systems must agree on. Offsets, lives and times of reports are their own. */
function told(driver: SchedulerDriver): Record<string, unknown> {
  const shown = [...statesOf(driver)].map(([id, state]): [string, unknown] => {
    const { status, nextFireAt, runNo, scheduledRuns, succeeded, failed, cancelled, skipped } = state
    const counts = { runNo, scheduledRuns, succeeded, failed, cancelled, skipped }
    const { queuedFor, deadRuns, pausedByCommand, followUps, backfill } = state
    const waits = { queuedFor, deadRuns, pausedByCommand, followUps: followUps?.count ?? 0, backfill: backfill?.nextAt ?? null }
    const runs = state.active.map((run) => [run.runNo, run.scheduledFor, run.trigger, run.attempt, run.status])
    return [id, { status, nextFireAt, ...counts, ...waits, runs }]
  })
  return Object.fromEntries(shown.sort(([a], [b]) => (a < b ? -1 : 1)))
}

async function history(seed: number): Promise<{ original: object; copy: object; jobs: number }> {
  const chance = new Chance(seed)
  const original = new SchedulerDriver(partitions.from)
  original.boot('A')
  await original.settle()
  for (let step = chance.int(10, 60); step > 0; step--) {
    for (let acts = chance.int(0, 3); acts > 0; acts--) act(original, chance, { ...ofJobs, ...ofCommands })
    await original.advance(chance.pick([90, 330, 1_170]), 500)
    report(original, () => chance.pick(['start', 'succeed', 'succeed', 'die', undefined]))
    if (!chance.happens(0.1)) continue
    for (const process of original.processes) original.kill(process)
    original.boot(`A${step}`)
  }
  // Both know of each start: a copy sends again what no worker has reported.
  await original.advance(200)
  report(original, () => 'start')
  await original.advance(20)
  for (const process of original.processes) original.kill(process)
  // Nobody has decided these. Between two topics there is no order.
  const pending = chance.pick([ofJobs, ofCommands])
  for (let acts = chance.int(0, 8); acts > 0; acts--) act(original, chance, pending)
  const copy = await copied(original, seed)
  for (const driver of [original, copy]) {
    driver.boot('B')
    await driver.settle()
    for (let step = 0; step < 40; step++) {
      await driver.advance(530, 500)
      report(driver, (id, runNo) => (step > 2 ? ((id.charCodeAt(0) + runNo) % 5 === 0 ? 'die' : 'succeed') : undefined))
    }
    await driver.advance(700, 100)
  }
  return { original: told(original), copy: told(copy), jobs: statesOf(copy).size }
}

it(`a copy decides what the original would have decided, in ${copies} histories from seed ${firstSeed} on`, async () => {
  let jobs = 0
  for (let seed = firstSeed; seed < firstSeed + copies; seed++) {
    const { original, copy, jobs: found } = await history(seed)
    expect(copy, `seed ${seed}`).toEqual(original)
    jobs += found
  }
  expect(jobs).toBeGreaterThan(copies)
})
