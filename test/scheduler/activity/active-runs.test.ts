import { describe, expect, it } from 'vitest'
import type { ActiveRun } from '../../../schemas/generated.ts'
import { ActiveRuns, idsOfRunTimers } from '../../../src/scheduler/activity/active-runs.ts'
import { retriesIn, startLatenessMs } from '../../../src/scheduler/commit/batch-result.ts'
import type { Input, Job } from '../../../streams/state/job.ts'
import { timerKey, timerKind } from '../../../streams/state/keys.ts'
import { attemptError } from '../../tools/attempt-error.ts'

const run = (runNo: number, status: ActiveRun['status'], more: Partial<ActiveRun> = {}): ActiveRun =>
  ({
    runNo,
    status,
    attempt: 1,
    specOffset: 7,
    dueAt: 1_000,
    errors: [],
    handlerMissingAt: null,
    poolPausedAt: null,
    routedTo: null,
    tellAt: null,
    ...more,
  }) as ActiveRun

describe('the active runs of a partition', () => {
  it('are counted by status, in any order and number of updates', () => {
    const activeRuns = new ActiveRuns()
    activeRuns.set('a', [run(1, 'DISPATCHED'), run(2, 'RUNNING')])
    activeRuns.set('b', [run(1, 'RETRY_WAIT')])
    activeRuns.set('a', [run(2, 'RUNNING')])
    activeRuns.set('a', [run(2, 'RUNNING')])
    expect([activeRuns.counts, activeRuns.ids.sort()]).toEqual([
      { dispatched: 0, running: 1, waiting: 1, withoutHandler: 0, inPausedPools: 0 },
      ['a', 'b'],
    ])
    activeRuns.set('a', [])
    activeRuns.set('never', [])
    expect([activeRuns.counts, activeRuns.ids]).toEqual([
      { dispatched: 0, running: 0, waiting: 1, withoutHandler: 0, inPausedPools: 0 },
      ['b'],
    ])
    activeRuns.clear()
    expect([activeRuns.counts, activeRuns.ids]).toEqual([
      { dispatched: 0, running: 0, waiting: 0, withoutHandler: 0, inPausedPools: 0 },
      [],
    ])
  })

  it('of others are learnt once for all callers, again after a failure, and again after the memory is cleared', async () => {
    const activeRuns = new ActiveRuns()
    let learns = 0
    let fails = true
    const learn = async (): Promise<void> => {
      learns++
      await Promise.resolve()
      if (fails) throw new Error('the disk')
    }
    await expect(activeRuns.learned(learn)).rejects.toThrow('the disk')
    fails = false
    await Promise.all([activeRuns.learned(learn), activeRuns.learned(learn)])
    await activeRuns.learned(learn)
    expect(learns).toBe(2)
    activeRuns.clear()
    await activeRuns.learned(learn)
    expect(learns).toBe(3)
  })

  it('that depend on the workers of their pool are known until they start or end', () => {
    const activeRuns = new ActiveRuns()
    const waiting = { ...run(1, 'RETRY_WAIT'), handlerMissingAt: 5, tellAt: 1_005 }
    const sent = { ...run(2, 'DISPATCHED'), routedTo: null, tellAt: 1_005 }
    const other = { ...run(3, 'DISPATCHED'), routedTo: null }
    activeRuns.set('a', [waiting, sent, other])
    expect([...activeRuns.workerBound]).toEqual([['a', [1, 2]]])
    expect(activeRuns.counts).toMatchObject({ dispatched: 2, waiting: 1, withoutHandler: 1 })
    activeRuns.set('a', [{ ...sent, status: 'RUNNING' as const }, other])
    expect([activeRuns.workerBound.size, activeRuns.counts.withoutHandler]).toEqual([0, 0])
    activeRuns.set('a', [waiting])
    activeRuns.set('a', [])
    expect([activeRuns.workerBound.size, activeRuns.counts.withoutHandler]).toEqual([0, 0])
  })

  it('are found by the timers of runs when the owner is new', async () => {
    const timers = [
      { dueAt: 500, kind: timerKind.fire, jobId: 'fires', runNo: 0 },
      { dueAt: 600, kind: timerKind.lease, jobId: 'runs', runNo: 3 },
      { dueAt: 700, kind: timerKind.attemptTimeout, jobId: 'runs', runNo: 3 },
    ]
    const asked: { limit: number }[] = []
    const store = {
      scan: async (range: { limit: number }) => {
        asked.push(range)
        return timers.map((timer) => ({ key: timerKey(timer), value: Buffer.alloc(0) }))
      },
    } as unknown as Parameters<typeof idsOfRunTimers>[0]
    expect(await idsOfRunTimers(store, 100)).toEqual(['runs'])
    expect(asked).toEqual([expect.objectContaining({ limit: 20_000, keysOnly: true })])
  })
})

describe('the lateness in a report', () => {
  const job = (active: ActiveRun[]): Job => ({ id: 'a', state: { active } }) as unknown as Job
  const report = (more: object): Input =>
    ({
      kind: 'event',
      event: { type: 'STARTED', runNo: 1, attempt: 1, specOffset: 7, at: 1_300, startedAt: 1_250, ...more },
    }) as unknown as Input

  it('is how long after its time the handler started, in the first report of that', () => {
    const dispatched = job([run(1, 'DISPATCHED')])
    expect(startLatenessMs(dispatched, report({}))).toBe(250)
    expect(startLatenessMs(dispatched, report({ startedAt: null }))).toBe(300)
    expect(startLatenessMs(dispatched, report({ type: 'SUCCEEDED', startedAt: 900 }))).toBe(0)
  })

  it('is missing for a second report, one of another attempt, or one without a start', () => {
    expect(startLatenessMs(job([run(1, 'RUNNING')]), report({}))).toBeUndefined()
    expect(startLatenessMs(job([run(1, 'DISPATCHED')]), report({ attempt: 2 }))).toBeUndefined()
    expect(startLatenessMs(job([]), report({}))).toBeUndefined()
    expect(startLatenessMs(job([run(1, 'DISPATCHED')]), report({ type: 'RELEASED', startedAt: null }))).toBeUndefined()
    expect(startLatenessMs(job([run(1, 'DISPATCHED')]), { kind: 'deletion' } as unknown as Input)).toBeUndefined()
  })
})

describe('retries', () => {
  const error = attemptError({ attempt: 1, at: 1, type: 'Error', message: 'm' })
  it('are attempts after a failed one, not after one that was given back', () => {
    const before = [run(1, 'RUNNING'), run(2, 'RUNNING'), run(3, 'RUNNING')]
    const after = [run(1, 'RETRY_WAIT', { attempt: 2, errors: [error] }), run(2, 'DISPATCHED', { attempt: 2 }), run(3, 'RUNNING')]
    expect(retriesIn(before, after)).toBe(1)
    expect(retriesIn([], after)).toBe(0)
  })
})
