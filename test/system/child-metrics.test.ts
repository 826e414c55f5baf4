/** Metrics of executor processes beside those of the process they belong to. */
import { describe, expect, it } from 'vitest'
import { expose, shownOf } from '../../src/ground/metrics/exposition.ts'
import { newMetrics } from '../../src/ground/metrics/metrics.ts'
import { type Channel, ChildMetrics, childAnswerMsMax, tellMetrics } from '../../src/program/system/role-child.ts'
import { ManualClock, rest } from '../tools/manual-clock.ts'

/** A child with metrics of its own, over a channel as JSON as it is in life. It may be deaf. */
function child(name: string, clock = new ManualClock()) {
  const state = { metrics: newMetrics(), connected: true, deaf: false, asked: 0 }
  let hear: (message: unknown) => void = () => {}
  const told = new ChildMetrics(name, clock, (message) => {
    state.asked++
    if (state.connected && !state.deaf) hear(JSON.parse(JSON.stringify(message)))
    return state.connected
  })
  const channel: Channel = {
    on: (_event, listener) => {
      hear = listener
    },
    send: (message) => told.received(JSON.parse(JSON.stringify(message))),
  }
  const born = (): void => {
    state.metrics = newMetrics()
    tellMetrics(channel, () => shownOf(state.metrics.registry))
  }
  born()
  const die = (): void => {
    told.ended()
    born()
  }
  return { told, clock, state, die }
}

const linesOf = (text: string, start: string): string[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith(start))
    .sort()

describe('the metrics of executor processes', () => {
  it('are added to ours under the same labels', async () => {
    const [own, one, two] = [newMetrics(), child('executor-1'), child('executor-2')]
    own.sources.add(one.told.source).add(two.told.source)
    one.state.metrics.attempts.inc({ pool: 'default', outcome: 'succeeded' }, 3)
    two.state.metrics.attempts.inc({ pool: 'default', outcome: 'succeeded' }, 4)
    two.state.metrics.attempts.inc({ pool: 'other', outcome: 'failed' })
    own.dispatched.inc({ pool: 'default' }, 9)
    one.state.metrics.running.set({ pool: 'default' }, 2)
    two.state.metrics.running.set({ pool: 'default' }, 5)
    one.state.metrics.startLateness.observe({ pool: 'default' }, 0.003)
    two.state.metrics.startLateness.observe({ pool: 'default' }, 0.5)
    const text = await expose(own.registry, own.sources)
    expect(linesOf(text, 'duelog_attempts_total')).toEqual([
      'duelog_attempts_total{pool="default",outcome="succeeded"} 7',
      'duelog_attempts_total{pool="other",outcome="failed"} 1',
    ])
    expect(linesOf(text, 'duelog_running')).toEqual(['duelog_running{pool="default"} 7'])
    expect(linesOf(text, 'duelog_dispatched')).toEqual(['duelog_dispatched_total{pool="default"} 9'])
    expect(text).toContain('duelog_start_lateness_seconds_count{pool="default"} 2')
    expect(text).toContain('duelog_start_lateness_seconds_bucket{le="0.005",pool="default"} 1')
    expect(text).toContain('duelog_start_lateness_seconds_bucket{le="+Inf",pool="default"} 2')
  })

  it('are not added where a sum means nothing: clocks, pauses and problems', async () => {
    const [own, one, two] = [newMetrics(), child('executor-1'), child('executor-2')]
    own.sources.add(one.told.source).add(two.told.source)
    const all = [own, one.state.metrics, two.state.metrics]
    for (const metrics of all) {
      metrics.clockTrusted.set(1)
      metrics.clockOffset.set(0.2)
      metrics.tzInfo.set({ version: '2026c', icu: '78' }, 1)
      metrics.poolPaused.set({ pool: 'mail' }, 1)
    }
    own.historyProblem.set(1)
    const text = await expose(own.registry, own.sources)
    expect(linesOf(text, 'duelog_clock_trusted')).toEqual(['duelog_clock_trusted 1'])
    expect(Number(linesOf(text, 'duelog_clock_offset_seconds')[0]?.split(' ')[1])).toBeCloseTo(0.2)
    expect(linesOf(text, 'duelog_tz_info')).toEqual(['duelog_tz_info{version="2026c",icu="78"} 1'])
    expect(linesOf(text, 'duelog_pool_paused')).toEqual(['duelog_pool_paused{pool="mail"} 1'])
    expect(linesOf(text, 'duelog_history_problem')).toEqual(['duelog_history_problem 1'])
    // One executor process whose clock is wrong is enough.
    two.state.metrics.clockTrusted.set(0)
    expect(linesOf(await expose(own.registry, own.sources), 'duelog_clock_trusted')).toEqual(['duelog_clock_trusted 0'])
  })

  it('include the metrics of Node, with the name of each process', async () => {
    const [own, one] = [newMetrics(), child('executor-1')]
    own.sources.add(one.told.source)
    const text = await expose(own.registry, own.sources)
    const memory = linesOf(text, 'process_resident_memory_bytes')
    expect(memory.map((line) => line.split(' ')[0])).toEqual([
      'process_resident_memory_bytes',
      'process_resident_memory_bytes{process="executor-1"}',
    ])
    for (const name of ['process_start_time_seconds', 'nodejs_version_info', 'nodejs_eventloop_lag_p99_seconds'])
      expect(linesOf(text, name), name).toHaveLength(2)
    expect(text).not.toMatch(/ (null|undefined)$/m)
    // Each metric is described once.
    const described = text.split('\n').filter((line) => line.startsWith('# TYPE'))
    expect(new Set(described).size).toBe(described.length)
  })

  it('are absent without such processes', async () => {
    const own = newMetrics()
    own.dispatched.inc({ pool: 'default' })
    expect(linesOf(await expose(own.registry, own.sources), 'duelog_dispatched')).toHaveLength(1)
  })
})

describe('a child', () => {
  const attempts = async (own: ReturnType<typeof newMetrics>): Promise<number> =>
    Number(linesOf(await expose(own.registry, own.sources), 'duelog_attempts_total{')[0]?.split(' ')[1] ?? 0)
  const setUp = () => {
    const [own, one] = [newMetrics(), child('executor-1')]
    own.sources.add(one.told.source)
    const count = (times: number): void => one.state.metrics.attempts.inc({ pool: 'p', outcome: 'succeeded' }, times)
    return { own, one, count }
  }

  it('that ends keeps its counts, and its replacement continues them', async () => {
    const { own, one, count } = setUp()
    count(5)
    one.state.metrics.running.set({ pool: 'p' }, 3)
    expect(await attempts(own)).toBe(5)
    one.die()
    expect(await attempts(own)).toBe(5)
    // What it was doing is over.
    expect(linesOf(await expose(own.registry, own.sources), 'duelog_running{')).toEqual([])
    count(2)
    expect(await attempts(own)).toBe(7)
    one.die()
    one.die()
    expect(await attempts(own)).toBe(7)
  })

  it('that shows its own counts is shown with those of its former lives', async () => {
    const [own, one] = [newMetrics(), child('front')]
    own.sources.add(one.told.former)
    const count = (times: number): void => one.state.metrics.attempts.inc({ pool: 'p', outcome: 'succeeded' }, times)
    count(5)
    expect(await attempts(own)).toBe(0)
    one.die()
    count(2)
    expect(await attempts(own)).toBe(5)
    one.die()
    expect(await attempts(own)).toBe(7)
  })

  it('that does not answer in time is shown with its last values', async () => {
    const { own, one, count } = setUp()
    count(5)
    expect(await attempts(own)).toBe(5)
    count(1)
    one.state.deaf = true
    const asked = attempts(own)
    await rest()
    await one.clock.advance(childAnswerMsMax)
    expect(await asked).toBe(5)
    one.state.deaf = false
    expect(await attempts(own)).toBe(6)
    expect(one.clock.armed).toBe(0)
  })

  it('that is missing is not waited for', async () => {
    const { own, one, count } = setUp()
    count(5)
    await attempts(own)
    one.state.connected = false
    expect(await attempts(own)).toBe(5)
    expect(one.clock.armed).toBe(0)
  })

  it('is asked once for simultaneous readers', async () => {
    const { own, one } = setUp()
    await Promise.all([attempts(own), attempts(own), attempts(own)])
    expect(one.state.asked).toBe(1)
  })

  it('may send other messages, which are ignored', () => {
    const { one } = setUp()
    for (const message of [null, 'x', {}, { answer: 'duelog:metrics', id: 77, metrics: [] }]) one.told.received(message)
  })
})
