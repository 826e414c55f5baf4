/** All owners are away for longer than every limit of a run, while its success is in the log. No run is repeated. */
import { expect, test } from 'vitest'
import { createCodecs } from '../../src/log/kafka/avro/codecs.ts'
import { topicPlans } from '../../streams/topics/topics.ts'
import { openLog } from '../kafka/harness.ts'
import { openSite, registryUrl } from './harness.ts'

test('a new owner applies reports of its absence before timeouts, leases and start deadlines', async (context) => {
  const site = await openSite(context, { partitions: 1 })
  const codecs = await createCodecs({ registryUrl, plans: topicPlans(site.names, ['default']) })
  const job = { schedule: { at: Date.now() }, target: { handler: 'noop' }, retry: { maxAttempts: 3 } }
  await site.client.scheduleMany([
    { id: 'running', ...job, leaseMs: 60_000, attemptTimeoutMs: 60_000 },
    { id: 'untaken', ...job, startDeadlineMs: 60_000 },
  ])
  const first = await site.scheduler()
  const dispatched = () => site.checker.executions.filter(({ jobId }) => jobId === 'running' || jobId === 'untaken')
  await site.checker.until(() => dispatched().length === 2)
  const log = openLog()
  const writer = await log.writer()
  context.onTestFinished(() => writer.close())
  const report = async (jobId: string, type: 'STARTED' | 'SUCCEEDED') => {
    const found = dispatched().find((execution) => execution.jobId === jobId)
    if (found === undefined) throw new Error(`${jobId} was not dispatched.`)
    const { runNo, attempt, specOffset } = found
    const at = Date.now()
    const event = { jobId, runNo, attempt, specOffset, worker: 'w@h:1:a', type, at, startedAt: at }
    await writer.write([{ topic: site.names.events, ofJob: true, key: jobId, value: codecs.event.encode(event) }])
  }
  await report('running', 'STARTED')
  await first.stop()
  // Enough records for more than one fetched batch and commit cycle.
  await writer.write(
    Array.from({ length: 3_000 }, () => {
      const stale = { jobId: 'running', runNo: 99, attempt: 1, specOffset: 0, worker: 'w@h:1:a', type: 'STARTED', at: 1 } as const
      return { topic: site.names.events, ofJob: true, key: 'running', value: codecs.event.encode(stale) }
    }),
  )
  for (const id of ['running', 'untaken']) await report(id, 'SUCCEEDED')
  await site.client.schedule({ id: 'last', schedule: { at: Date.now() }, target: { handler: 'noop' } })
  const successor = await site.scheduler({ clockAheadMs: 600_000 })
  await site.checker.until(() => site.checker.executions.some(({ jobId }) => jobId === 'last'))
  await site.checker.until(() => site.checker.events.length >= 3_003)
  await successor.stop()
  // A third owner, whose clock is further ahead, has read all that the second one logged.
  const third = await site.scheduler({ clockAheadMs: 1_200_000 })
  await site.client.schedule({ id: 'very-last', schedule: { at: Date.now() }, target: { handler: 'noop' } })
  await site.checker.until(() => site.checker.executions.some(({ jobId }) => jobId === 'very-last'))
  await third.stop()
  expect(
    dispatched()
      .map(({ jobId, attempt }) => `${jobId} ${attempt}`)
      .sort(),
  ).toEqual(['running 1', 'untaken 1'])
})
