/** kill -9 of the process that carries out an operation: another one goes on, and nothing is done twice or left out. */
import { expect, test, vi } from 'vitest'
import type { Operation } from '../../src/ground/answers/answers.ts'
import { DuelogProcess } from '../tools/duelog-process.ts'
import { ask, counted, define, ended, idsOf, openSystem, operate, patience } from './harness.ts'

const { start, settings, calls } = await openSystem()
const dying = { target: { handler: 'give-up' }, schedule: { at: '2020-01-01T00:00:00Z' }, catchUp: 'ALL' }
const jobs = (count: number, prefix: string, more: object) =>
  Array.from({ length: count }, (_, index) => ({ id: `${prefix}${index}`, ...more }))

/** Resolves with the operation while it is in the middle of its changes. */
async function midway(url: string, id: string): Promise<Operation> {
  let seen: Operation | undefined
  await vi.waitUntil(
    async () => {
      seen = (await ask(url, 'GET', `/v1/operations/${id}`)).body as Operation
      return seen.applied > 0 || seen.endedAt !== null
    },
    { ...patience, interval: 5 },
  )
  const { applied, total, endedAt } = seen as Operation
  // A pause is counted beside the changes, so its total may follow.
  expect([endedAt, total === null || applied < total]).toEqual([null, true])
  return seen as Operation
}

/** Two partitions have as many pages each as three with more jobs. */
const partitions = { DUELOG_PARTITIONS: '2' }
/** Enough for several pages in each partition. */
const count = Number(process.env.DUELOG_TEST_DEAD_RUNS ?? 6_000)
const farCount = 12_000

test('each of many dead runs is redriven once although its driver is killed in the middle and each fails again', {
  timeout: 240_000 + 20 * count,
}, async (context) => {
  const owning = await start('scheduler,executor,retrier', partitions)
  expect(owning.partitions).toBe(2)
  const first = await DuelogProcess.system(context, settings('api', partitions))
  const { url } = await first.next('system', undefined, 0)
  const second = await DuelogProcess.system(context, settings('api', partitions))
  const { url: otherUrl } = await second.next('system', undefined, 0)
  await define(url, jobs(count, 'dead-', dying))
  await counted(url, { action: 'REDRIVE', filter: {} }, count)

  const { body } = await ask(url, 'POST', '/v1/operations', { action: 'REDRIVE', filter: {} })
  const { driver } = await midway(url, body.id)
  const [driving, standing] = driver?.includes(`:${first.pid}:`) ? [first, otherUrl] : [second, url]
  expect(driver).toContain(`:${driving.pid}:`)
  driving.signal('SIGKILL')
  const done = await ended(standing, body.id)
  expect(done).toMatchObject({ status: 'DONE', total: count, applied: count, refused: 0, problem: null })
  expect(done.driver).not.toBe(driver)
  await vi.waitUntil(() => [...calls.values()].reduce((sum, times) => sum + times, 0) >= 2 * count, patience)
  expect([...calls].filter(([, times]) => times !== 2)).toEqual([])

  // Two at once, and one that is cancelled in the middle: its numbers are those of the jobs.
  await define(
    standing,
    jobs(farCount, 'far-', { target: { handler: 'noop' }, schedule: { at: '2040-01-01T00:00:00Z' }, tags: ['far'] }),
  )
  await counted(standing, { action: 'PAUSE', filter: { tag: 'far' } }, farCount)
  const pausing = await ask(standing, 'POST', '/v1/operations', { action: 'PAUSE', filter: { tag: 'far' } })
  const discarding = operate(standing, { action: 'DISCARD', filter: { idPrefix: 'dead-' } })
  await midway(standing, pausing.body.id)
  expect((await ask(standing, 'POST', `/v1/operations/${pausing.body.id}/cancel`)).status).toBe(202)
  const cancelled = await ended(standing, pausing.body.id)
  expect(cancelled.status).toBe('CANCELLED')
  expect(await idsOf(standing, 'status=PAUSED')).toHaveLength(cancelled.applied)
  expect(cancelled.applied).toBeLessThan(farCount)
  expect(await discarding).toMatchObject({ status: 'DONE', total: count, applied: count })
})
