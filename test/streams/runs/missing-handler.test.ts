/** Runs go to workers that have their handler, and wait without losing an attempt while no worker has it. */
import { describe, expect, it } from 'vitest'
import type { JobDefinitionInput } from '../../../schemas/generated.ts'
import { whyOf } from '../../../streams/jobs/reasons.ts'
import { waitChecksOf } from '../../../streams/runs/wait-checks.ts'
import { timerKind } from '../../../streams/state/keys.ts'
import { timersOf } from '../../../streams/state/timers.ts'
import { JobHistory } from './history.ts'

const hour = 3_600_000
const job = (workers: JobHistory['workers'], more: Partial<JobDefinitionInput> = {}): JobHistory => {
  const history = new JobHistory()
  history.workers = workers
  return history.define({ retry: { maxAttempts: 1 }, leaseMs: 10_000, startDeadlineMs: hour, ...more })
}
/** Where each dispatch and redelivery went; null: to a topic of the pool. */
const sentTo = ({ out }: JobHistory): (string | null)[] =>
  out.flatMap((output) => (output.kind === 'dispatch' || output.kind === 'redeliver' ? [output.to] : []))

describe('a run is sent', () => {
  it.each([
    ['to the topics, if nothing is known about the workers', undefined, null],
    ['to the topics, if there is no worker: one may come', {}, null],
    ['to the topics, if all workers have the handler', { a: ['noop'], b: ['noop', 'x'] }, null],
    ['to the worker that has the handler, if not all have it', { a: ['x'], b: ['noop'] }, 'b'],
  ])('%s', (_, workers, to) => {
    const history = job(workers).until(1_000)
    expect(sentTo(history)).toEqual([to])
    expect(history.state.active).toMatchObject([{ status: 'DISPATCHED', routedTo: to, attempt: 1 }])
  })
  it('where pinTo says', () => {
    expect(sentTo(job({ a: ['x'], b: ['noop'] }, { pinTo: 'a' }).until(1_000))).toEqual(['a'])
  })
  it('once while its worker is there, because a copy could run twice behind a long backlog', () => {
    const history = job({ a: ['x'], b: ['noop'] }, { startDeadlineMs: 2 * hour }).until(hour / 2)
    expect(sentTo(history)).toEqual(['b'])
    expect(history.state.active).toMatchObject([{ attempt: 1, status: 'DISPATCHED' }])
    // worker-control keeps records for an hour.
    expect(sentTo(history.until(hour)).length).toBeGreaterThan(1)
  })
  it('to each of those that have the handler, with limits as well as without', () => {
    for (const limits of [
      {},
      { concurrencyKey: 'k', concurrencyLimit: 100 },
      { rateLimit: { key: 'r', limit: 1_000, perMs: 1_000 } },
    ]) {
      const history = job(
        { a: ['x'], b: ['noop'], c: ['noop'] },
        { schedule: { everyMs: 1_000 }, maxConcurrentRuns: 100, ...limits },
      )
      const counts = { b: 0, c: 0 }
      for (const to of sentTo(history.until(60_000))) counts[to as 'b' | 'c']++
      expect(Math.min(counts.b, counts.c), JSON.stringify(limits)).toBeGreaterThan(15)
    }
  })
})

describe('a worker without the handler', () => {
  it('costs no attempt: the run goes to one that has it, and may fail there as often as retry says', () => {
    const history = job(undefined).until(1_000)
    history.workers = { w: ['x'], b: ['noop'] }
    history.missHandler()
    expect(sentTo(history)).toEqual([null, 'b'])
    expect(history.state.active).toMatchObject([{ attempt: 2, releasedAttempts: 1, errors: [], status: 'DISPATCHED' }])
    history.fail()
    expect(history.state.lastRun).toMatchObject({ status: 'DEAD', errors: [{ attempt: 2, type: 'Error' }] })
  })
  it('is not asked again at once when a second one reports the same, whatever they announce', () => {
    const history = job({ a: ['x'], v: ['noop'], w: ['noop'] }).until(1_000)
    const sentBefore = sentTo(history).length
    const miss = (): unknown => history.missHandler({ worker: history.state.active[0]?.routedTo ?? '' })
    miss()
    expect(sentTo(history)).toHaveLength(sentBefore + 1)
    for (let reports = 0; reports < 5; reports++) {
      miss()
      expect(history.state.active).toMatchObject([{ status: 'RETRY_WAIT', handlerMissingAt: 1_000 }])
      history.until(timersOf(history.job)[0]?.dueAt ?? 0)
    }
    // 1, 1, 2, 4, 8 s: each wait is as long as the run has waited.
    expect(history.now).toBe(1_000 + 16_000)
  })
  it('does not matter if a handler that was started throws an error with that name', () => {
    const history = job(undefined).until(1_000).report('STARTED').missHandler()
    expect(history.state.lastRun).toMatchObject({ status: 'DEAD' })
    const quick = job(undefined).until(1_000).missHandler({ startedAt: 1_000 })
    expect(quick.state.lastRun).toMatchObject({ status: 'DEAD' })
  })
  it('lets no later reader of its record run the attempt', () => {
    const history = job(undefined).until(1_000).missHandler()
    expect(history.last.out).toMatchObject([{ kind: 'cancel', runNo: 1, attempt: 1 }])
  })
  it('gives back the time that the retention of the topic took from the run, once', () => {
    const history = new JobHistory({ keptMs: 7 * 24 * hour })
    history.workers = undefined
    history.define({ startDeadlineMs: 30 * 24 * hour, leaseMs: 10_000 }).until(1_000)
    expect(history.state.active[0]?.startDeadlineAt).toBeLessThan(7 * 24 * hour)
    history.workers = { w: ['x'] }
    history.until(hour).missHandler()
    expect(history.state.active).toMatchObject([{ status: 'RETRY_WAIT', startDeadlineAt: 1_000 + 30 * 24 * hour }])
    history.workers = { b: ['noop'] }
    history
      .followWorkers()
      .until(2 * hour)
      .missHandler({ worker: 'b' })
    expect(history.state.active[0]?.startDeadlineAt).toBeLessThanOrEqual(1_000 + 30 * 24 * hour)
  })
  it('does not change the end of the job', () => {
    for (const limits of [{}, { concurrencyKey: 'k' }]) {
      const history = job(undefined, { expireAt: 100_000, ...limits }).until(1_000)
      history.workers = { a: ['x'], b: ['noop'], c: ['noop'] }
      history.missHandler({ worker: 'a' }).until(50_000).report('RELEASED', { worker: 'b' })
      expect(history.state.active).toMatchObject([{ startDeadlineAt: 100_000 }])
    }
  })
  it('does not matter if the report says that the run is not to be repeated', () => {
    const history = job(undefined).until(1_000).fail('handler-missing', { retryable: false })
    expect(history.state.lastRun).toMatchObject({ status: 'DEAD' })
  })
})

describe('without a worker that has the handler', () => {
  const waiting = (more: Partial<JobDefinitionInput> = {}): JobHistory => job({ a: ['x'] }, more).until(1_000)

  it('a run waits, and why says so', () => {
    const history = waiting()
    expect(sentTo(history)).toEqual([])
    expect(history.state.active).toMatchObject([{ status: 'RETRY_WAIT', parked: true, attempt: 1, handlerMissingAt: 1_000 }])
    expect(whyOf(history.job, history.now).map(({ code }) => code)).toContain('handler-missing')
    expect(history.last.notes).toContainEqual({ kind: 'waiting', reason: 'handler-missing' })
  })
  /** The waits between the checks until then. */
  const checksUntil = (history: JobHistory, time: number): number[] => {
    const checks: number[] = []
    while (history.now < time) {
      const dueAt = history.nextTimerAt ?? Number.NaN
      checks.push(dueAt - history.now)
      history.until(dueAt)
    }
    return checks
  }
  it('it is checked after 1 s, then after as long as it has waited, at most every minute', () => {
    expect(checksUntil(waiting(), 4 * 60_000)).toEqual([
      1_000, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000,
    ])
  })
  it('is not dispatched before its usual lead, although a clock that was ahead made it wait', () => {
    for (const learns of [true, false]) {
      const history = job({ a: ['x'] }, { schedule: { at: 10_000 } }).fireAhead()
      history.workers = { b: ['noop'] }
      history.until(6_000)
      if (learns) history.followWorkers()
      expect(sentTo(history.until(9_999))).toEqual([])
      expect(history.until(10_000).dispatched).toMatchObject([{ dispatchedAt: 10_000, dueAt: 10_000 }])
    }
  })
  it('its checks change and log nothing, however long it waits', () => {
    const history = waiting({ startDeadlineMs: 10 * hour })
    const [{ state }, begun] = [history, history.decisions.length]
    history.until(9 * hour)
    expect(history.state).toBe(state)
    const checks = history.decisions.slice(begun)
    expect(checks.length).toBeGreaterThan(9 * 60 - 10)
    expect(checks.flatMap(({ notes, out }) => [...notes, ...out])).toEqual([])
  })
  it('a new owner, a timer that is there twice, and a clock that is set back leave it one check a minute', () => {
    const history = waiting({ startDeadlineMs: 10 * hour }).until(hour)
    for (const at of [hour + 10_000, hour + 25_000, hour + 40_000])
      history.until(at).step({ kind: 'timer', timer: { dueAt: at, kind: timerKind.retry, jobId: 'job', runNo: 1 } })
    expect(new Set(checksUntil(history, 2 * hour).slice(1))).toEqual(new Set([60_000]))
    // Its first check is in the past, and the next one follows.
    expect(new Set(checksUntil(history.restore(), 3 * hour).slice(2))).toEqual(new Set([60_000]))
    history.now = -hour
    history.restore()
    for (const timer of waitChecksOf(history.job, history.now)) history.step({ kind: 'timer', timer })
    expect(history.nextTimerAt).toBeLessThanOrEqual(-hour + 60_000)
  })
  it('an end of the job that comes sooner than its start deadline holds at the next check', () => {
    const history = waiting({ startDeadlineMs: hour }).until(300_000)
    history.define({ startDeadlineMs: hour, expireAt: 400_000 }).until(399_999)
    expect(history.state.active).toHaveLength(1)
    expect(history.until(400_000).state.lastRun).toMatchObject({ status: 'EXPIRED', finishedAt: 400_000 })
  })
  it('it is dispatched with its first attempt when a worker comes, and at once when the owner learns of it', () => {
    const history = waiting().until(20_500)
    history.workers = { a: ['x'], b: ['noop'] }
    history.followWorkers()
    expect(sentTo(history)).toEqual(['b'])
    expect(history.dispatched).toMatchObject([{ attempt: 1, startDeadlineAt: 1_000 + hour }])
    expect(history.report('STARTED').state.active).toMatchObject([{ status: 'RUNNING', handlerMissingAt: null }])
  })
  it('a change that is of no use decides nothing', () => {
    const history = waiting()
    const { state } = history
    history.workers = { a: ['x'], c: ['y'] }
    expect(history.followWorkers().state).toBe(state)
  })
  it('it expires at its start deadline, which the wait does not move', () => {
    const history = waiting({ startDeadlineMs: 100_000 }).until(100_999)
    expect(history.state.active).toHaveLength(1)
    history.until(101_000)
    expect(history.state.lastRun).toMatchObject({ status: 'EXPIRED', finishedAt: 101_000 })
    expect(history.decisions.flatMap(({ endedRuns }) => endedRuns)).toMatchObject([{ reason: 'handler-missing' }])
  })
  it('it expires also if workers keep saying that they lack the handler', () => {
    const history = job(undefined, { startDeadlineMs: 100_000 }).until(1_000)
    while (history.job.state?.active.length === 1 && history.now < hour) {
      history.missHandler()
      const dueAt = timersOf(history.job)[0]?.dueAt
      if (dueAt !== undefined) history.until(dueAt)
    }
    expect(history.state.lastRun).toMatchObject({ status: 'EXPIRED', finishedAt: 101_000 })
  })
  it('it holds no slot and takes no start', () => {
    const limits = { concurrencyKey: 'k', rateLimit: { key: 'r', limit: 1, perMs: 60_000 } }
    const history = waiting(limits).until(9_000)
    expect(history.starts.size).toBe(0)
    history.workers = { a: ['noop'] }
    history.until(20_000)
    expect(history.dispatched).toMatchObject([{ attempt: 1, startDeadlineAt: 1_000 + hour }])
    expect(history.starts.size).toBe(1)
  })
  it('a run whose owner was away for long waits as long as one that is dispatched then', () => {
    const retry = { maxAttempts: 3, backoff: { fixed: { delayMs: 1_000 } } }
    const history = job({ b: ['noop'] }, { retry, startDeadlineMs: 60_000 })
      .until(1_000)
      .report('STARTED')
      .fail()
    history.workers = { a: ['x'] }
    history.downUntil(hour)
    expect(history.state.active).toMatchObject([{ status: 'RETRY_WAIT', handlerMissingAt: hour, startDeadlineAt: hour + 60_000 }])
  })
  it('a run that waits for its slot waits for the handler afterwards, gives the slot back and takes no start', () => {
    const history = job({ a: ['noop'], b: ['noop'] }, { concurrencyKey: 'k', rateLimit: { key: 'r', limit: 1, perMs: 60_000 } })
    history.others = { held: 1, waiting: 0 }
    history.until(1_000)
    expect(history.state.active).toMatchObject([{ status: 'WAITING', waitsFor: 'SLOT' }])
    history.workers = { a: ['x'] }
    history.others = { held: 0, waiting: 0 }
    history.admit()
    expect(history.state.active).toMatchObject([{ status: 'RETRY_WAIT', waitsFor: null, handlerMissingAt: 1_000 }])
    expect(history.starts.size).toBe(0)
  })
  it('it can be cancelled, and no worker is told', () => {
    const history = waiting().command('CANCEL_RUN', { runNo: 1 })
    expect(history.state.lastRun).toMatchObject({ status: 'CANCELLED' })
    expect(history.last.out).toEqual([])
  })
})

describe('a worker that leaves', () => {
  const left = (at: number): JobHistory => {
    const history = job({ a: ['x'], b: ['noop'], c: ['noop'] }).until(1_000)
    expect(sentTo(history)).toEqual(['b'])
    history.until(at)
    history.workers = { a: ['x'], c: ['noop'] }
    history.gone.set('b', at)
    return history
  }
  it('loses the runs that it has not started: they go to another one, without losing an attempt', () => {
    const history = left(2_000).followWorkers()
    expect(sentTo(history)).toEqual(['b', 'c'])
    expect(history.state.active).toMatchObject([{ attempt: 2, releasedAttempts: 1, routedTo: 'c' }])
    // It may only have lost its session, and still have the run.
    expect(history.last.out).toMatchObject([
      { kind: 'cancel', attempt: 1 },
      { kind: 'dispatch', to: 'c' },
    ])
  })
  it('renews no start deadline, however often they change', () => {
    const history = job({ a: ['x'], b: ['noop'] }, { concurrencyKey: 'k', startDeadlineMs: 60_000 }).until(1_000)
    for (let turn = 0; turn < 30 && history.state.active.length > 0; turn++) {
      const { routedTo } = history.state.active[0] ?? {}
      history.until(history.now + 5_000)
      history.gone.set(routedTo ?? '', history.now)
      history.workers = { a: ['x'], [`w${turn}`]: ['noop'] }
      history.followWorkers()
    }
    expect(history.state.lastRun).toMatchObject({ status: 'EXPIRED' })
    expect(history.now).toBeLessThan(80_000)
  })
  it('keeps them until all its reports are known', () => {
    const history = left(2_000)
    history.eventsReadUntil = 1_999
    history.followWorkers()
    expect(history.last).toMatchObject({ awaitsEventsUntil: 2_000, out: [] })
    history.report('STARTED', { worker: 'b' })
    history.eventsReadUntil = 2_000
    history.followWorkers()
    expect(history.state.active).toMatchObject([{ attempt: 1, status: 'RUNNING' }])
  })
  it('keeps a run that it has failed and that is retried at once, if no other has the handler', () => {
    const history = job({ a: ['x'], b: ['noop'] }, { retry: { maxAttempts: 3 } })
      .until(1_000)
      .report('STARTED', { worker: 'b' })
    history.fail('Error', { retryAfterMs: 0 }, { worker: 'b' })
    expect(history.state.active).toMatchObject([{ status: 'DISPATCHED', attempt: 2, routedTo: 'b' }])
  })
  it('loses them at their own timer at the latest', () => {
    expect(sentTo(left(2_000).until(11_000))).toEqual(['b', 'c'])
  })
  it('gives them back itself when it stops, and gets none of them again', () => {
    const history = job({ a: ['x'], b: ['noop'], c: ['noop'] })
      .until(1_000)
      .report('RELEASED', { worker: 'b' })
    expect(sentTo(history)).toEqual(['b', 'c'])
    delete history.workers?.b
    history.report('RELEASED', { worker: 'c' })
    expect(history.state.active).toMatchObject([
      { status: 'RETRY_WAIT', handlerMissingAt: 1_000, attempt: 3, releasedAttempts: 2 },
    ])
  })
})
