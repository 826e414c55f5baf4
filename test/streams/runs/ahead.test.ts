/** The ahead topic is read in offset order. So an attempt that is due earlier than a record in it must not be written there. */
import { expect, it } from 'vitest'
import { JobHistory } from './history.ts'

const dispatches = (job: JobHistory): [attempt: number, ahead: boolean, at: number][] =>
  job.out.flatMap((output) =>
    output.kind === 'dispatch' ? [[output.execution.attempt, output.ahead, output.execution.dispatchedAt] as const] : [],
  ) as [number, boolean, number][]

const giveBack = (aheadFrom: number, more: object = {}): JobHistory => {
  const options = { leadMs: 100, aheadFrom: 0 }
  const job = new JobHistory(options).define({ schedule: { at: 3_000 }, ...more }).fireAhead()
  // Other attempts were written to the ahead topic in the meantime.
  options.aheadFrom = aheadFrom
  job.until(500).report('RELEASED')
  return job
}

it('accepts a run that a worker gave back, if nothing later is there', () => {
  expect(dispatches(giveBack(3_000))).toEqual([
    [1, true, 0],
    [2, true, 500],
  ])
})

it('does not accept it after a later run: it waits for the usual lead, also if only timers are left', () => {
  const job = giveBack(9_000)
  expect(dispatches(job)).toEqual([[1, true, 0]])
  expect(job.state.active).toMatchObject([{ status: 'RETRY_WAIT', parked: true, dueAt: 3_000, attempt: 2 }])
  expect(dispatches(job.until(2_899))).toHaveLength(1)
  expect(dispatches(job.until(2_900)).at(-1)).toEqual([2, false, 2_900])
  expect(job.report('SUCCEEDED').state).toMatchObject({ succeeded: 1, lastRun: { attempts: 2 } })
})

it('is not for pinned runs, which have their own topic', () => {
  expect(dispatches(giveBack(9_000, { pinTo: 'here' }))).toEqual([
    [1, false, 0],
    [2, false, 500],
  ])
})

it('accepts no occurrence of a burst after a later one: its timer waits', () => {
  const job = new JobHistory({ leadMs: 100, aheadFrom: 9_000 }).define({ schedule: { at: 3_000 } }).fireAhead()
  expect(dispatches(job)).toEqual([])
  expect(job.last.deferUntil).toBe(2_900)
  expect(job.job.state).toBeUndefined()
  expect(dispatches(job.until(3_000))).toEqual([[1, false, 2_900]])
  const pinned = new JobHistory({ leadMs: 100, aheadFrom: 9_000 }).define({ schedule: { at: 3_000 }, pinTo: 'here' })
  expect(dispatches(pinned.fireAhead())).toEqual([[1, false, 0]])
})

it('a run that is sent to one worker is dispatched at most ten seconds ahead: the worker holds it in memory', () => {
  const history = (more: object, workers?: Record<string, string[]>): JobHistory => {
    const job = new JobHistory({ leadMs: 100 })
    if (workers !== undefined) job.workers = workers
    return job.define({ schedule: { at: 120_000 }, ...more })
  }
  for (const one of [history({ pinTo: 'here' }), history({}, { a: [], b: ['noop'] })]) {
    expect(one.fireAhead().dispatched).toEqual([])
    expect(one.last.deferUntil).toBe(110_000)
    expect(one.until(110_000).dispatched).toMatchObject([{ dispatchedAt: 110_000, dueAt: 120_000 }])
  }
  expect(history({}, { a: ['noop'], b: ['noop'] }).fireAhead().dispatched).toHaveLength(1)
})
