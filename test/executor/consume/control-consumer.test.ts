/** worker-control, pinned jobs and progress on a real broker, with real owners and workers. */
import { expect, it, test } from 'vitest'
import { createWorker, type Run } from '../../../src/clients/library/index.ts'
import { brokers, openSite, registryUrl } from '../../faults/harness.ts'
import { openCluster } from '../cluster.ts'
import { silent } from '../harness.ts'

it('a cancellation that an owner commits aborts the run that it names, and no other', async () => {
  const { names, codecs, log, prefix, ...cluster } = await openCluster()
  const { events, until } = await cluster.watchEvents()
  const running: Run[] = []
  const executor = cluster.executor({
    handlers: {
      noop: (run) => {
        running.push(run)
        return new Promise<void>((resolve) => run.signal.addEventListener('abort', () => resolve()))
      },
    },
  })
  await executor.start()
  await cluster.dispatch(['a', 'b'].map((jobId) => cluster.record({ jobId })))
  await until(() => events.filter(({ type }) => type === 'STARTED').length === 2)
  const [, other] = running.toSorted((left, right) => left.jobId.localeCompare(right.jobId))
  const owner = await log.transactionalWriter(`${prefix}canceller`)
  const value = codecs.control.encode({ type: 'CANCEL', jobId: 'a', runNo: 1, attempt: 1, reason: 'by the operator' })
  // A record that no owner would write comes first and must not block the rest.
  const bad = [
    Buffer.from('not avro'),
    codecs.control.encode({ type: 'CANCEL', jobId: 'x'.repeat(300_000), runNo: 1, attempt: 1, reason: '' }),
    codecs.control.encode({ type: 'RUN', jobId: 'b', runNo: 1, attempt: 1, reason: '', execution: Buffer.alloc(9, 0xff) }),
  ]
  await owner.commit(bad.map((each) => ({ topic: names.control, key: 'a', value: each })))
  await owner.commit([{ topic: names.control, key: 'a', value }])
  await owner.close()
  await expect.poll(() => executor.current().running.map(({ jobId }) => jobId)).toEqual(['b'])
  expect(other?.signal.aborted).toBe(false)
  // Runs that end later are reported after any report of the canceled run.
  await executor.stop()
  await until(() => events.some(({ type }) => type === 'RELEASED'))
  expect(events.filter(({ jobId, type }) => jobId === 'a' && type !== 'STARTED')).toEqual([])
})

test('a pinned job runs only on the worker of that name, and expires if there is none', async (context) => {
  const site = await openSite(context)
  await site.system('scheduler,retrier', 'owner')
  const ran: Record<string, string[]> = { gpu: [], other: [] }
  for (const name of ['gpu', 'other']) {
    const mine = ({ jobId }: Run) => void ran[name]?.push(jobId)
    const worker = createWorker({ brokers, registryUrl, topicPrefix: site.prefix, name, handlers: { mine }, logger: silent })
    context.onTestFinished(() => worker.close())
    await worker.start()
  }
  const job = (id: string, pinTo: string) => ({ id, pinTo, schedule: { at: Date.now() }, target: { handler: 'mine' } })
  const pinned = Array.from({ length: 20 }, (_, index) => job(`pinned-${index}`, 'gpu'))
  await site.client.scheduleMany([...pinned, { ...job('absent', 'nobody'), startDeadlineMs: 1_000 }])
  const succeeded = () => new Set(site.checker.events.flatMap(({ type, jobId }) => (type === 'SUCCEEDED' ? [jobId] : [])))
  await expect.poll(() => succeeded().size).toBe(20)
  expect(ran.gpu?.toSorted()).toEqual(pinned.map(({ id }) => id).toSorted())
  expect(ran.other).toEqual([])
  expect(site.checker.executions).toEqual([])
})

test('the API shows progress, message and last heartbeat of a running attempt', async (context) => {
  const site = await openSite(context)
  const system = await site.system('all', 'all')
  const { url } = await system.next('system', () => true, 0)
  const before = Date.now()
  await site.client.schedule({ id: 'long', schedule: { at: Date.now() }, target: { handler: 'stuck' } })
  const run = async () => (await fetch(`${url}/v1/runs/long/1`)).json()
  await expect.poll(run).toMatchObject({ status: 'RUNNING', message: 'still there', progress: 0.5 })
  const { runs } = (await (await fetch(`${url}/v1/jobs/long/runs`)).json()) as { runs: { checkedAt: string }[] }
  expect(runs[0]).toMatchObject({ message: 'still there', progress: 0.5 })
  expect(Date.parse(runs[0]?.checkedAt ?? '')).toBeGreaterThanOrEqual(before)
})
