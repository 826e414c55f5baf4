/** States that cannot be read, in a store or in the changelog: only their job is affected, and its neighbors continue to fire. */
import { describe, expect, it } from 'vitest'
import type { JobDefinitionInput } from '../../schemas/generated.ts'
import { executionIdOf } from '../../streams/state/job.ts'
import { snapshotKey, stateKey } from '../../streams/state/keys.ts'
import type { Process } from '../model/cluster/process.ts'
import { codecs, names } from '../model/world.ts'
import { SchedulerDriver } from '../tools/scheduler-driver.ts'

/** Begins like a valid value of ours; the rest is invalid. */
const garbage = Buffer.concat([codecs.state.encode({}).subarray(0, 5), Buffer.alloc(40, 0xff)])
const everySecond = { schedule: { everyMs: 1_000 }, target: { handler: 'x' }, maxConcurrentRuns: 100 }
/** Too large to stay in memory while a run is active, so each cycle reads what the store has. */
const largeEverySecond = { ...everySecond, payload: Buffer.alloc(5_000) }

async function begun(poison: JobDefinitionInput = everySecond): Promise<{ driver: SchedulerDriver; first: Process }> {
  const driver = new SchedulerDriver()
  const first = driver.boot('A')
  await driver.settle()
  driver.define('poison', poison)
  driver.define('neighbor', everySecond)
  await driver.advance(3_500, 100)
  return { driver, first }
}

/** Puts bytes where the store, or the changelog, has an entry of a job. */
async function spoil(driver: SchedulerDriver, process: Process, where: 'store' | 'changelog', key: Buffer): Promise<void> {
  if (where === 'store') await process.disk.get(0)?.apply([{ key, value: garbage }])
  else driver.log.append([{ topic: names.state, partition: 0, key, value: garbage }])
}

const of = (driver: SchedulerDriver, id: string) => driver.executions().filter(({ jobId }) => jobId === id)

const viewOf = (process: Process, id: string) => process.scheduler.queries.job(0, id)

async function takeOver(driver: SchedulerDriver, first: Process): Promise<Process> {
  driver.kill(first)
  const second = driver.boot('B')
  await driver.advance(5_000, 100)
  return second
}

describe('a state that cannot be read', () => {
  it.each(['store', 'changelog'] as const)(
    'in the %s: its job is INVALID with the reason, other jobs fire, and a new definition begins it again',
    async (where) => {
      const { driver, first } = await begun(largeEverySecond)
      await spoil(driver, first, where, stateKey('poison'))
      const process = where === 'store' ? first : await takeOver(driver, first)
      const [before, fired] = [of(driver, 'neighbor').length, of(driver, 'poison').length]
      driver.command('poison', { type: 'TRIGGER', commandId: 'c' })
      await driver.advance(5_000, 100)
      expect(driver.phases(process)).toBe('active')
      expect(of(driver, 'neighbor').length).toBeGreaterThanOrEqual(before + 5)
      expect(of(driver, 'poison').length).toBe(fired)
      expect(await viewOf(process, 'poison')).toMatchObject({
        status: 'INVALID',
        reason: expect.stringContaining('cannot be read'),
      })
      const { jobs } = await process.scheduler.queries.list(0, { status: 'INVALID' }, 10)
      expect(jobs.map(({ id }) => id)).toEqual(where === 'store' ? [] : ['poison'])

      driver.define('poison', largeEverySecond)
      await driver.advance(3_000, 100)
      expect(await viewOf(process, 'poison')).toMatchObject({ status: 'ACTIVE' })
      expect(of(driver, 'poison').length).toBeGreaterThanOrEqual(fired + 2)
      expect(new Set(of(driver, 'poison').map(executionIdOf)).size).toBe(of(driver, 'poison').length)
      const successor = await takeOver(driver, process)
      expect(await viewOf(successor, 'poison')).toMatchObject({ status: 'ACTIVE' })
    },
  )

  it('goes with its job when that is deleted', async () => {
    const { driver, first } = await begun()
    await spoil(driver, first, 'store', stateKey('poison'))
    driver.remove('poison')
    await driver.advance(1_000, 100)
    expect(await viewOf(first, 'poison')).toBeUndefined()
    expect(await first.disk.get(0)?.get([stateKey('poison')])).toEqual([null])
  })

  it('counts again as soon as it can be read: no decision replaced it', async () => {
    const { driver, first } = await begun()
    const [good] = (await first.disk.get(0)?.get([stateKey('poison')])) ?? []
    await spoil(driver, first, 'store', stateKey('poison'))
    await driver.advance(5_000, 100)
    const fired = of(driver, 'poison').length
    await first.disk.get(0)?.apply([{ key: stateKey('poison'), value: good ?? null }])
    await driver.advance(70_000, 500)
    expect(await viewOf(first, 'poison')).toMatchObject({ status: 'ACTIVE' })
    expect(of(driver, 'poison').length).toBeGreaterThan(fired)
    const runs = of(driver, 'poison').map(({ runNo }) => runNo)
    expect(new Set(runs).size).toBe(runs.length)
  })

  it.each(['before', 'while'] as const)(
    'keeps its definition against one that was refused %s it cannot be read',
    async (when) => {
      const { driver, first } = await begun()
      const [good] = (await first.disk.get(0)?.get([stateKey('poison')])) ?? []
      const refused = async (): Promise<void> => {
        const headers = { 'only-over': '99' }
        const value = codecs.definition.encode({ ...everySecond, payload: Buffer.from('refused') })
        driver.log.append([{ topic: names.jobs, ofJob: true, key: 'poison', value, headers }])
        await driver.advance(1_000, 100)
      }
      if (when === 'before') await refused()
      const state = when === 'before' ? (await first.disk.get(0)?.get([stateKey('poison')]))?.[0] : good
      await spoil(driver, first, 'store', stateKey('poison'))
      await spoil(driver, first, 'changelog', stateKey('poison'))
      if (when === 'while') await refused()
      const jobs = driver.log.at(names.jobs, 0)
      driver.log.compact(jobs, jobs.next, 0)
      const second = await takeOver(driver, first)
      await second.disk.get(0)?.apply([{ key: stateKey('poison'), value: state ?? null }])
      await driver.advance(70_000, 500)
      expect(await viewOf(second, 'poison')).toMatchObject({ status: 'ACTIVE', definition: { payload: null } })
    },
  )

  it('of a snapshot: the run ends as DEAD at its next attempt, with nothing else in its place', async () => {
    const { driver, first } = await begun()
    const [run] = of(driver, 'poison')
    if (run === undefined) throw new Error('Nothing fired.')
    driver.define('poison', { ...everySecond, payload: Buffer.from('other'), retry: { maxAttempts: 3 } })
    await driver.advance(200, 100)
    await spoil(driver, first, 'store', snapshotKey('poison', run.runNo))
    driver.report(run, 'FAILED', { error: { type: 'Error', message: 'no', stack: null, retryable: true } } as never)
    const before = of(driver, 'neighbor').length
    await driver.advance(5_000, 100)
    expect(of(driver, 'neighbor').length).toBeGreaterThanOrEqual(before + 5)
    expect(of(driver, 'poison').filter(({ runNo }) => runNo === run.runNo)).toHaveLength(1)
    const { active = [] } = driver.state(first, 'poison') ?? {}
    expect(active.map(({ runNo }) => runNo)).not.toContain(run.runNo)
    expect(await viewOf(first, 'poison')).toMatchObject({ status: 'INVALID', reason: expect.stringContaining('cannot be read') })
  })
})
