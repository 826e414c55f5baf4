/** Dead runs that have left the run history are found by time and error, redriven and discarded, also by the next owner. */
import { expect, it } from 'vitest'
import type { JobFilter } from '../../src/ground/ports/owner-views.ts'
import { completeDefinition } from '../../streams/definitions/definition-json.ts'
import { definitionKey, definitionValue, indexKeysOf, pristineState, stateKey } from '../../streams/state/index.ts'
import type { Process } from '../model/cluster/process.ts'
import { codecs } from '../model/world.ts'
import { SchedulerDriver } from '../tools/scheduler-driver.ts'

const minute = 60_000
const count = 30

/** A job whose runs die, one each minute: those with an odd number by another error. */
async function diedOvernight(
  before: (owner: Process) => Promise<unknown> = async () => undefined,
): Promise<{ driver: SchedulerDriver; owner: Process; diedAt: number[] }> {
  const driver = new SchedulerDriver(1)
  const owner = driver.boot('A')
  await driver.settle()
  await before(owner)
  driver.define('j', { schedule: { everyMs: minute }, target: { handler: 'x' }, payload: Buffer.from('{}') })
  const diedAt: number[] = []
  while (diedAt.length < count) {
    await driver.advance(minute, 1_000)
    const run = driver.executions().at(-1)
    if (run === undefined || run.runNo === diedAt.length) continue
    const type = run.runNo % 2 === 1 ? 'TypeError' : 'Timeout'
    const error = { type, message: 'no', stack: 'at x', retryable: false, retryAfterMs: null }
    driver.report(run, 'FAILED', { startedAt: driver.time.nowMs, error })
    await driver.settle()
    diedAt.push(driver.time.nowMs)
  }
  return { driver, owner, diedAt }
}

const listed = async ({ scheduler }: Process, filter: JobFilter = {}) => {
  const query = { filter, limit: 100, harmlessOnly: false }
  const { runs, count, dropped } = await scheduler.queries.deadRuns(0, query)
  return { numbers: runs.map(({ place }) => place.runNo), runs, count, dropped }
}

it('they are listed by their ends, and chosen by time and error', async () => {
  const { driver, owner, diedAt } = await diedOvernight()
  const all = await listed(owner)
  expect(all).toMatchObject({ count, dropped: 0, numbers: Array.from({ length: count }, (_, index) => count - index) })
  for (const { run, place } of all.runs) {
    expect(run?.finishedAt).toBeGreaterThan(diedAt[place.runNo - 2] ?? 0)
    expect(run?.errors).toMatchObject([{ message: 'no', stack: null }])
  }
  const early = { diedTo: (diedAt[3] ?? 0) + 1, errorType: 'TypeError' }
  expect((await listed(owner, early)).numbers).toEqual([3, 1])
  const { targets } = await owner.scheduler.queries.targets(0, {
    ...{ action: 'DISCARD', commandPrefix: 'operation/1/', limit: 100, filter: early },
    cutOff: { jobsOffset: 10, at: driver.time.nowMs },
  })
  expect(targets).toMatchObject([{ id: 'j', runs: [1, 3] }])
  const found = await owner.scheduler.queries.runs(0, 'j', 1)
  expect(found?.finished.at(-1)).toMatchObject({ runNo: 1, status: 'DEAD', errors: [{ type: 'TypeError' }] })
})

it('the next owner has them, and redrives and discards each once', async () => {
  const { driver, owner } = await diedOvernight()
  driver.kill(owner)
  const next = driver.boot('B')
  await driver.settle()
  await driver.advance(2_000, 500)
  expect((await listed(next, { errorType: 'Timeout' })).count).toBe(count / 2)
  driver.command('j', { type: 'REDRIVE', commandId: 'a', at: 0, runNo: 1 })
  driver.command('j', { type: 'REDRIVE', commandId: 'b', at: 0, runNo: 1 })
  driver.command('j', { type: 'CANCEL_RUN', commandId: 'c', at: 0, runNo: 2, discard: true })
  await driver.settle()
  const again = driver.executions().filter(({ trigger }) => trigger === 'REDRIVE')
  expect(again.map(({ payload }) => String(payload))).toEqual(['{}'])
  expect((await listed(next)).numbers.at(-1)).toBe(3)
})

/** Jobs with `each` dead runs, as the owner's store has them. */
async function storeDeadRuns(owner: Process, jobs: number, each: number): Promise<void> {
  const spec = completeDefinition({ schedule: { at: 1 }, target: { handler: 'h' } })
  const deadRuns = Array.from({ length: each }, (_, at) => at + 1)
  for (let index = 0; index < jobs; index++) {
    const id = `dead-${index}`
    const definition = { offset: 0, appendedAt: 0, spec, bytes: codecs.definition.encode(spec) }
    const state = { ...pristineState({ id, definition }), status: 'COMPLETED' as const, runNo: each, deadRuns }
    await owner.disk
      .get(0)
      ?.apply([
        { key: definitionKey(id), value: definitionValue(definition) },
        { key: stateKey(id), value: codecs.state.encode({ state }) },
        ...indexKeysOf({ id, definition, state }).map((key) => ({ key, value: Buffer.alloc(0) })),
      ])
  }
}

it.each([
  [99, 0],
  [100, count - 10],
])(
  'in a partition where %i jobs have 1,000 each, %i of a further job are dropped once the owner has counted',
  async (jobs, dropped) => {
    const { owner } = await diedOvernight(async (process) => {
      await storeDeadRuns(process, jobs, 1_000)
      process.scheduler.queries.partitions()
    })
    expect(await owner.scheduler.queries.job(0, 'j')).toMatchObject({
      deadRuns: { length: count - dropped },
      deadRunsDropped: dropped,
    })
  },
)
