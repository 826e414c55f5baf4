/** How workers handle cancellations from worker-control. */
import { describe, expect, it } from 'vitest'
import type { Execution } from '../../schemas/generated.ts'
import { Cancellations, cancelsKeptMax } from '../../src/worker/executor/consume/cancellations.ts'
import { eventLingerMs } from '../../src/worker/executor/report/report-sender.ts'
import { ManualClock, rest } from '../tools/manual-clock.ts'
import { executionOf, Harness, names } from './harness.ts'

const cancel = (jobId: string, attempt = 1) => ({ type: 'CANCEL', jobId, runNo: 1, attempt, reason: 'by the operator' }) as const

/** A handler that ends when the test tells it to, and records its signal. */
function stubborn() {
  const reasons: Error[] = []
  const finish: (() => void)[] = []
  const handler = ({ signal }: { signal: AbortSignal }) => {
    signal.addEventListener('abort', () => reasons.push(signal.reason as Error))
    return new Promise<void>((resolve) => finish.push(resolve))
  }
  return { handler, reasons, finish }
}

describe('a run that is canceled while it runs', () => {
  it('has its signal aborted with the reason, and is not reported again', async () => {
    const { handler, reasons, finish } = stubborn()
    const harness = await new Harness({ slow: handler }).start()
    harness.put({ jobId: 'a', handler: 'slow', leaseMs: 3_000 })
    await rest()
    await harness.clock.advance(eventLingerMs)
    harness.control(cancel('a'))
    await rest()
    expect(reasons).toMatchObject([{ name: 'Cancelled', message: 'by the operator' }])
    await harness.clock.advance(10_000)
    finish[0]?.()
    await rest()
    await harness.clock.advance(10_000)
    expect(harness.events().map(({ type }) => type)).toEqual(['STARTED'])
    expect(harness.committed()).toBe(1)
    expect(await harness.metrics.registry.getSingleMetricAsString('duelog_attempts_total')).toContain('outcome="cancelled"} 1')
    await harness.stop()
  })

  it('is done although its start was not reported yet', async () => {
    const { handler } = stubborn()
    const harness = await new Harness({ slow: handler }).start()
    harness.put({ jobId: 'a', handler: 'slow' })
    await rest()
    expect(harness.executor.current().running).toHaveLength(1)
    harness.control(cancel('a'))
    await rest()
    await harness.clock.advance(2_000)
    expect(harness.events()).toEqual([])
    expect(harness.committed()).toBe(1)
    await harness.stop()
  })

  it('keeps its slot until its handler returns', async () => {
    const { handler, finish } = stubborn()
    const harness = await new Harness({ slow: handler }, { concurrency: 1 }).start()
    harness.put({ jobId: 'a', handler: 'slow' })
    harness.put({ jobId: 'next' })
    await rest()
    harness.control(cancel('a'))
    await rest()
    expect(harness.starts.map(({ jobId }) => jobId)).toEqual(['a'])
    finish[0]?.()
    await rest()
    expect(harness.starts.map(({ jobId }) => jobId)).toEqual(['a', 'next'])
    await harness.stop()
  })

  it('continues if the cancellation names another attempt, run or job', async () => {
    const { handler, reasons } = stubborn()
    const harness = await new Harness({ slow: handler }).start()
    harness.put({ jobId: 'a', handler: 'slow', attempt: 2 })
    await rest()
    harness.control(cancel('a', 1))
    harness.control({ ...cancel('a', 2), runNo: 2 })
    harness.control(cancel('b', 2))
    await rest()
    expect(reasons).toEqual([])
    await harness.stop()
  })

  it('is canceled while the worker drains, too', async () => {
    const { handler, reasons } = stubborn()
    const harness = await new Harness({ slow: handler }).start()
    harness.put({ jobId: 'a', handler: 'slow' })
    await rest()
    const stopped = harness.executor.stop()
    await harness.clock.advance(500)
    harness.control(cancel('a'))
    await rest()
    expect(reasons.map(({ name }) => name)).toEqual(['Cancelled'])
    await harness.clock.advance(20_000)
    await stopped
    expect(harness.events().filter(({ type }) => type === 'RELEASED')).toEqual([])
  })
})

describe('a run that is canceled before it starts', () => {
  it('is dropped and counts as done, whether it is prefetched already or comes later', async () => {
    const harness = await new Harness().start()
    harness.put({ jobId: 'held', dueAt: harness.clock.nowMs() + 90 })
    await rest()
    harness.control(cancel('held'))
    harness.control(cancel('later'))
    await rest()
    harness.put({ jobId: 'later' })
    harness.put({ jobId: 'other' })
    await rest()
    await harness.clock.advance(2_000)
    expect(harness.starts.map(({ jobId }) => jobId)).toEqual(['other'])
    expect(harness.events().map(({ jobId }) => jobId)).toEqual(['other'])
    expect(harness.committed()).toBe(3)
    await harness.stop()
  })

  it('is dropped when it waits in an ahead topic two minutes before its time, and others of the burst start', async () => {
    const harness = await new Harness({}, { leadMs: 100 }).start()
    const dueAt = harness.clock.nowMs() + 120_000
    for (let runNo = 1; runNo <= 400; runNo++) harness.put({ jobId: `herd-${runNo}`, dueAt }, { ahead: true })
    await rest()
    expect(harness.executor.current().held).toBe(0)
    for (let runNo = 1; runNo <= 200; runNo++) harness.control(cancel(`herd-${runNo}`))
    await rest()
    await harness.clock.advance(125_000)
    const started = harness.starts.map(({ jobId }) => jobId)
    expect(new Set(started)).toEqual(new Set(Array.from({ length: 200 }, (_, index) => `herd-${index + 201}`)))
    expect(started).toHaveLength(200)
    expect(Math.min(...harness.starts.map(({ atMs }) => atMs))).toBeGreaterThanOrEqual(dueAt)
    expect(harness.committed({ ahead: true })).toBe(400)
    await harness.stop()
  })

  it('is not started by a worker that starts and finds both the run and its cancellation', async () => {
    const harness = new Harness()
    harness.put({ jobId: 'a' })
    harness.put({ jobId: 'b' })
    harness.control(cancel('a'))
    await harness.start()
    await harness.clock.advance(2_000)
    expect(harness.starts.map(({ jobId }) => jobId)).toEqual(['b'])
    expect(harness.committed()).toBe(2)
    await harness.stop()
  })

  it('is known to a worker that starts after the cancellation', async () => {
    const harness = new Harness()
    harness.control(cancel('a'))
    await harness.start()
    harness.put({ jobId: 'a' })
    await rest()
    await harness.clock.advance(2_000)
    expect(harness.starts).toEqual([])
    expect(harness.committed()).toBe(1)
    await harness.stop()
  })
})

it('a record that cannot be read is counted and passed over', async () => {
  const { handler, reasons } = stubborn()
  const harness = await new Harness({ slow: handler }).start()
  harness.put({ jobId: 'a', handler: 'slow' })
  await rest()
  harness.log.append({ topic: names.control, partition: 0, key: 'a', value: Buffer.from('not avro') })
  harness.log.append({ topic: names.control, partition: 0, key: 'a', value: null })
  harness.control(cancel('a'))
  await rest()
  expect(reasons).toHaveLength(1)
  expect(await harness.metrics.registry.getSingleMetricAsString('duelog_invalid_total')).toContain(
    'reason="undecodable-control"} 2',
  )
  await harness.stop()
})

it('a cancellation does not match an attempt of a job that was deleted and defined again, whose runs count from 1 again', async () => {
  const harness = await new Harness().start()
  harness.control(cancel('again'))
  harness.control({ ...cancel('other'), specOffset: 6 })
  harness.control({ ...cancel('same'), specOffset: 7 })
  await rest()
  await harness.clock.advance(10)
  harness.put({ jobId: 'again' })
  harness.put({ jobId: 'other' })
  harness.put({ jobId: 'same' })
  await rest()
  expect(harness.starts.map(({ jobId }) => jobId)).toEqual(['again', 'other'])
  await harness.stop()
})

it('only the latest cancellations are remembered, up to a limit', () => {
  const cancels = new Cancellations()
  const clock = new ManualClock()
  const common = { jobId: 'a', attempt: 1, specOffset: null, reason: '', atMs: clock.nowMs() }
  const take = (runNo: number) => cancels.take(executionOf(clock, { jobId: 'a', runNo }) as Execution)
  for (let runNo = 0; runNo <= cancelsKeptMax; runNo++) cancels.add({ ...common, runNo })
  expect(cancels.size).toBe(cancelsKeptMax)
  expect(take(0)).toBe(false)
  expect(take(cancelsKeptMax)).toBe(true)
  expect(take(cancelsKeptMax)).toBe(false)
})
