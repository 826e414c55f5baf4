import { expect, it } from 'vitest'
import type { ExecutionEvent } from '../../schemas/generated.ts'
import type { GuardedClock } from '../../src/ground/clock/guarded-clock.ts'
import { newMetrics } from '../../src/ground/metrics/metrics.ts'
import { processClock } from '../../src/log/cluster/process-clock.ts'
import { Retrier } from '../../src/worker/retrier/retrier.ts'
import { codecs, executionOf, names, silent } from '../executor/harness.ts'
import { LoopbackLog, type LoopbackReader } from '../tools/loopback-log.ts'
import { ManualClock, rest, VirtualTime } from '../tools/manual-clock.ts'

class Harness {
  readonly clock: ManualClock
  readonly guarded: GuardedClock
  readonly log: LoopbackLog
  readonly metrics = newMetrics()
  readonly retrier: Retrier

  constructor({ time = new VirtualTime(), log = new LoopbackLog(), leadMs = 0 } = {}) {
    this.clock = new ManualClock(time)
    this.log = log
    this.guarded = processClock({
      ...{ clock: this.clock, stepMsMax: 2_000, needsProof: false },
      ...{ metrics: newMetrics(), logger: silent },
    })
    const { guarded: clock, metrics } = this
    this.retrier = new Retrier({
      ...{ log, codecs, names, clock, metrics, logger: silent },
      ...{ instance: 'retrier@test:1:a', leadMs },
    })
  }

  async start(): Promise<this> {
    this.log.nowMs = () => this.clock.nowMs()
    await this.retrier.start()
    await rest()
    return this
  }

  get reader(): LoopbackReader {
    return this.log.readers.at(-1) as LoopbackReader
  }

  put(tier: string, jobId: string, partition = 0): void {
    const value = codecs.execution.encode(executionOf(this.clock, { jobId, runNo: 4, attempt: 2 }))
    this.log.append({ topic: names.retry(tier), partition, key: jobId, value })
  }

  events(partition?: number): ExecutionEvent[] {
    return this.log.records(names.events, partition).map(({ value }) => codecs.event.decode(value as Buffer) as ExecutionEvent)
  }

  jobs(partition?: number): string[] {
    return this.events(partition).map(({ jobId }) => jobId)
  }

  committed(tier: string, partition = 0): number | undefined {
    return this.log.committed.get(`test.retry ${names.retry(tier)}/${partition}`)
  }
}

it('reports a retry to the owner of its partition when its tier has passed since the append, not before', async () => {
  const harness = await new Harness().start()
  harness.put('5s', 'a', 1)
  await rest()
  await harness.clock.advance(4_999)
  expect(harness.events()).toEqual([])
  await harness.clock.advance(1)
  expect(harness.events(1)).toMatchObject([
    { type: 'RETRY_DUE', jobId: 'a', runNo: 4, attempt: 2, specOffset: 7, worker: 'retrier@test:1:a', error: null },
  ])
  expect(harness.committed('5s', 1)).toBe(1)
  await harness.retrier.stop()
})

it('reports it earlier by the lead of its owner, and no more', async () => {
  const harness = await new Harness({ leadMs: 300 }).start()
  harness.put('5s', 'a')
  await rest()
  await harness.clock.advance(4_699)
  expect(harness.events()).toEqual([])
  await harness.clock.advance(1)
  expect(harness.jobs()).toEqual(['a'])
  await harness.retrier.stop()
})

it('commits nothing of a partition that moved to another member during the write', async () => {
  const harness = await new Harness().start()
  harness.put('1s', 'lost', 1)
  await rest()
  let open = (): void => {}
  harness.log.gate = new Promise((resolve) => {
    open = resolve
  })
  await harness.clock.advance(1_000)
  harness.reader.assign(harness.reader.options.topics.map((topic) => ({ topic, partition: 0 })))
  harness.log.gate = undefined
  open()
  await rest()
  expect(harness.jobs()).toEqual(['lost'])
  expect(harness.committed('1s', 1)).toBeUndefined()
  await harness.retrier.stop()
})

it('does not delay a fast tier by a slow one', async () => {
  const harness = await new Harness().start()
  harness.put('1h', 'slow')
  harness.put('1s', 'fast')
  await rest()
  await harness.clock.advance(1_000)
  expect(harness.jobs()).toEqual(['fast'])
  await harness.clock.advance(3_600_000)
  expect(harness.jobs()).toEqual(['fast', 'slow'])
  await harness.retrier.stop()
})

it('forwards due retries together and waits for the first that is not due', async () => {
  const harness = await new Harness().start()
  for (let index = 0; index < 2_500; index++) harness.put('1s', `early-${index}`)
  await rest()
  await harness.clock.advance(400)
  harness.put('1s', 'late')
  await harness.clock.advance(600)
  await rest()
  expect(harness.jobs()).toHaveLength(2_500)
  expect(harness.committed('1s')).toBe(2_500)
  expect(harness.log.writes).toBeLessThanOrEqual(4)
  await harness.clock.advance(400)
  expect(harness.jobs().at(-1)).toBe('late')
  expect(harness.committed('1s')).toBe(2_501)
  await harness.retrier.stop()
})

it('has one timer for each waiting head and none when it waits for nothing', async () => {
  const harness = await new Harness().start()
  expect(harness.clock.armed).toBe(0)
  harness.put('1s', 'a')
  harness.put('1s', 'b', 1)
  await rest()
  expect(harness.clock.armed).toBe(2)
  await harness.clock.advance(1_000)
  expect(harness.clock.armed).toBe(0)
  await harness.retrier.stop()
})

it('commits nothing that the broker has not accepted, and tries again', async () => {
  const harness = await new Harness().start()
  harness.put('1s', 'a')
  await rest()
  harness.log.refusal = new Error('the broker is away')
  await harness.clock.advance(5_000)
  expect(harness.committed('1s')).toBeUndefined()
  harness.log.refusal = undefined
  await harness.clock.advance(1_000)
  expect(harness.jobs()).toEqual(['a'])
  expect(harness.committed('1s')).toBe(1)
  await harness.retrier.stop()
})

it('shows how late the first retry of a tier is that waits, 0 when none does, and nothing of tiers that others have', async () => {
  const harness = await new Harness().start()
  const lags = async () => (await harness.metrics.retryTierLag.get()).values.map(({ labels, value }) => [labels.tier, value])
  const others = harness.reader.options.topics.filter((topic) => topic !== names.retry('5s'))
  harness.reader.assign([
    { topic: names.retry('5s'), partition: 0 },
    { topic: names.retry('5s'), partition: 1 },
  ])
  expect(await lags()).toEqual([['5s', 0]])
  harness.put('5s', 'a', 1)
  await rest()
  await harness.clock.advance(4_000)
  expect(await lags()).toEqual([['5s', 0]])
  harness.log.refusal = new Error('the broker is away')
  harness.put('5s', 'b', 0)
  await harness.clock.advance(4_500)
  expect(await lags()).toEqual([['5s', 3.5]])
  harness.log.refusal = undefined
  await harness.clock.advance(1_000)
  expect(harness.jobs().toSorted()).toEqual(['a', 'b'])
  expect(await lags()).toEqual([['5s', 0]])
  harness.reader.assign(others.map((topic) => ({ topic, partition: 0 })))
  expect((await lags()).some(([tier]) => tier === '5s')).toBe(false)
  await harness.retrier.stop()
})

it('forwards again after a crash between the event and the commit', async () => {
  const harness = await new Harness().start()
  harness.reader.commitRefusal = new Error('the group rebalances')
  harness.put('1s', 'a')
  await rest()
  await harness.clock.advance(1_000)
  harness.reader.crash(new Error('no coordinator'))
  await harness.clock.advance(2_000)
  expect(harness.log.readers).toHaveLength(2)
  expect(harness.jobs()).toEqual(['a', 'a'])
  expect(harness.committed('1s')).toBe(1)
  await harness.retrier.stop()
})

it('keeps its position and its pauses in a rebalance, and forgets lost partitions', async () => {
  const harness = await new Harness().start()
  harness.put('5s', 'kept', 0)
  harness.put('5s', 'lost', 1)
  await rest()
  const { delivered } = harness.reader
  harness.reader.assign(harness.reader.options.topics.map((topic) => ({ topic, partition: 0 })))
  await rest()
  expect(harness.reader.delivered).toBe(delivered)
  await harness.clock.advance(6_000)
  expect(harness.jobs()).toEqual(['kept'])
  await harness.retrier.stop()
})

it('passes over records that cannot be decoded and counts them', async () => {
  const harness = await new Harness().start()
  harness.put('1s', 'a')
  for (const value of [Buffer.from('not avro'), null]) {
    harness.log.append({ topic: names.retry('1s'), partition: 0, key: 'x', value })
  }
  // No owner writes these. If reported, they would be too large for the log, and the lane would retry forever.
  harness.put('1s', 'x'.repeat(300_000))
  harness.put('1s', '')
  harness.put('1s', 'b')
  await rest()
  await harness.clock.advance(1_000)
  expect(harness.jobs()).toEqual(['a', 'b'])
  expect(harness.committed('1s')).toBe(6)
  expect(await harness.metrics.registry.getSingleMetricAsString('duelog_invalid_total')).toContain(
    '{reason="undecodable-retry"} 4',
  )
  await harness.retrier.stop()
})

it('reports and counts once that a delay topic was recreated, and forwards its records', async () => {
  const harness = await new Harness().start()
  const topic = names.retry('1s')
  for (const id of ['a', 'b', 'c']) harness.put('1s', id)
  await rest()
  await harness.clock.advance(1_000)
  const [first, second] = harness.log.records(topic, 0)
  for (const [index, record] of [first, second].entries())
    if (record !== undefined)
      await harness.reader.options.onBatch({ topic, partition: 0, records: [record], highWatermark: index + 1 })
  expect(harness.jobs()).toEqual(['a', 'b', 'c', 'a', 'b'])
  const { values } = await harness.metrics.positionsReset.get()
  expect(values).toMatchObject([{ labels: { topic, reason: 'beyond-end' }, value: 1 }])
  await harness.retrier.stop()
})

it('stops twice, leaves no timer and closes its writer', async () => {
  const harness = await new Harness().start()
  harness.put('1h', 'a')
  await rest()
  await Promise.all([harness.retrier.stop(), harness.retrier.stop()])
  expect(harness.clock.armed).toBe(0)
  expect(harness.log.openWriters).toBe(0)
  expect(harness.reader.running).toBe(false)
})

it('reports nothing while its clock is ahead, and due retries when it is right again', async () => {
  const harness = await new Harness().start()
  const sentMs = harness.clock.steadyMs()
  harness.guarded.appended({ source: 'broker 1', sentMs, receivedMs: sentMs, brokerMs: harness.clock.nowMs() })
  harness.put('30s', 'a')
  await rest()
  await harness.clock.advance(5_000)
  harness.clock.skewMs = 3_600_000
  await harness.clock.advance(10_000)
  harness.log.nowMs = () => harness.clock.nowMs() - harness.clock.skewMs
  harness.put('1s', 'b')
  await harness.clock.advance(10_000)
  expect(harness.jobs()).toEqual([])
  harness.clock.skewMs = 0
  await harness.clock.advance(2_000)
  expect(harness.jobs()).toEqual(['b'])
  await harness.clock.advance(3_000)
  expect(harness.jobs()).toEqual(['b', 'a'])
  await harness.retrier.stop()
})

it('leaves its partitions to other forwarders while its clock stays wrong, and comes back when it is right', async () => {
  const time = new VirtualTime()
  const harness = await new Harness({ time }).start()
  const { guarded, clock, reader } = harness
  const tell = (): void => {
    const sentMs = clock.steadyMs()
    guarded.appended({ source: 'broker 1', sentMs, receivedMs: sentMs, brokerMs: clock.nowMs() - clock.skewMs })
  }
  tell()
  guarded.start(async () => tell())
  harness.put('5s', 'a')
  await clock.advance(2_000)
  clock.skewMs = 3_600_000
  await clock.advance(34_000)
  expect(reader.running).toBe(true)
  await clock.advance(3_000)
  expect([reader.running, harness.events()]).toEqual([false, []])
  const other = await new Harness({ time, log: harness.log }).start()
  await clock.advance(10_000)
  expect(harness.jobs()).toEqual(['a'])
  await other.retrier.stop()
  harness.put('1s', 'b')
  await clock.advance(10_000)
  expect(harness.jobs()).toEqual(['a'])
  clock.skewMs = 0
  await clock.advance(8_000)
  expect(harness.jobs()).toEqual(['a', 'b'])
  const stopped = harness.retrier.stop()
  await clock.advance(1_000)
  await stopped
  guarded.stop()
})

it('has at most one membership, also if it loses its session and joins again while its clock makes it leave', async () => {
  const harness = await new Harness().start()
  const { guarded, clock, log } = harness
  const tell = (): void => {
    const sentMs = clock.steadyMs()
    guarded.appended({ source: 'broker 1', sentMs, receivedMs: sentMs, brokerMs: clock.nowMs() - clock.skewMs })
  }
  tell()
  guarded.start(async () => tell())
  // From now on a join takes three seconds, unless the reader is stopped first.
  const { reader } = log
  log.reader = (options) => {
    const made = reader.call(log, options)
    const { start, stop } = made
    const stopped = Promise.withResolvers<void>()
    stopped.promise.catch(() => undefined)
    const joining = (): Promise<void> => new Promise((resolve) => clock.at(clock.nowMs() + 3_000, resolve))
    made.start = () => Promise.race([joining(), stopped.promise]).then(() => start.call(made))
    made.stop = () => {
      stopped.reject(new Error('stopped'))
      return stop.call(made)
    }
    return made
  }
  const running = (): number => log.readers.filter((each) => each.running).length
  clock.skewMs = 3_600_000
  await clock.advance(33_000)
  harness.reader.crash(new Error('The session was lost.'))
  await clock.advance(1_500)
  expect([log.readers.length, running()]).toEqual([2, 0])
  await clock.advance(10_000)
  expect([log.readers.length, running()]).toEqual([2, 0])
  clock.skewMs = 0
  harness.put('1s', 'a')
  for (let second = 0; second < 40; second++) {
    await clock.advance(1_000)
    expect(running()).toBeLessThanOrEqual(1)
  }
  expect([log.readers.length, running(), harness.jobs()]).toEqual([3, 1, ['a']])
  await harness.retrier.stop()
  await clock.advance(40_000)
  expect([log.readers.length, running()]).toEqual([3, 0])
  guarded.stop()
})
