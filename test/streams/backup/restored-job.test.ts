/** A job of a copy keeps all that was decided, whatever happened before, and each of its runs goes on. */
import { expect, it } from 'vitest'
import type { ActiveRun, ExecutionEvent, JobState } from '../../../schemas/generated.ts'
import { Chance } from '../../../src/testing/simulation/chance.ts'
import { type BackedUpJob, restoredHeaders, restoredJob } from '../../../streams/backup/index.ts'
import type { Decision, KnownDefinition } from '../../../streams/state/job.ts'
import { stateTimers, timersOf } from '../../../streams/state/timers.ts'
import { randomCommand, randomReport } from '../random-acts.ts'
import { randomDefinition } from '../random-definition.ts'
import { step } from '../runs/chain-steps.ts'
import { JobHistory } from '../runs/history.ts'

/** A job after random acts, with a report of some of its dispatched runs that no owner has read. */
function randomJob(seed: number): { history: JobHistory; copy: BackedUpJob; reported: ReadonlySet<number> } {
  const chance = new Chance(seed)
  const history = new JobHistory()
  for (let count = chance.int(1, 25); count > 0; count--) {
    const act = history.job.definition === undefined ? 0 : chance.int(0, 9)
    if (act < 2) history.definition({ spec: randomDefinition(chance, history.now) })
    else if (act < 4) randomCommand(history, chance)
    else if (act < 6 && history.sent.length > 0) randomReport(history, chance)
    else if (act === 6) history.garble()
    else history.until(history.now + chance.int(0, 3_000))
  }
  const { job } = history
  const dispatched = (job.state?.active ?? []).filter(({ status }) => status === 'DISPATCHED' && chance.happens(0.4))
  const events = dispatched.map(({ runNo, attempt, specOffset }) => eventOf(runNo, attempt, specOffset, history.now))
  const copy = { id: job.id, definition: job.definition, state: job.state, runs: [...history.endedRuns.values()], events }
  return { history, copy: { ...copy, snapshots: history.snapshots }, reported: new Set(dispatched.map(({ runNo }) => runNo)) }
}

const eventOf = (runNo: number, attempt: number, specOffset: number, at: number): ExecutionEvent => ({
  ...{ type: 'STARTED', jobId: 'job', runNo, attempt, specOffset, at, worker: 'w', startedAt: at },
  ...{ result: null, error: null, progress: null, message: null },
})

const newOffset = 40
const seeds = Array.from({ length: 600 }, (_, seed) => seed)

const decided = ({ specOffset, droppedOffset, definitionKept, active, lastRun, ...rest }: JobState): object => rest
const identity = ({ runNo, attempt, dueAt, scheduledFor, releasedAttempts, errors, limits }: ActiveRun): object => ({
  ...{ runNo, attempt, dueAt, scheduledFor, releasedAttempts, errors, limits },
})

it('keeps times, counts and runs, and each run that goes on has a timer or a report', () => {
  const met = new Set<string>()
  for (const seed of seeds) {
    const { history, copy, reported } = randomJob(seed)
    const { state } = restoredJob(copy, newOffset)
    const { job } = history
    if (state === undefined) {
      expect(job.definition ?? job.state, String(seed)).toBeUndefined()
      continue
    }
    expect(
      timersOf({ ...job, state }).filter(({ runNo }) => runNo === 0),
      String(seed),
    ).toEqual(timersOf(job).filter(({ runNo }) => runNo === 0))
    if (job.state === undefined) continue
    expect(decided(state), String(seed)).toEqual(decided(job.state))
    expect([state.definitionKept, state.droppedOffset], String(seed)).toEqual([false, -1])
    if (job.state.definitionKept) met.add('kept')
    expect(state.active.map(identity), String(seed)).toEqual(job.state.active.map(identity))
    for (const [index, run] of state.active.entries()) {
      const before = job.state.active[index] as ActiveRun
      met.add(before.status)
      const isOfDefinition = before.specOffset === job.definition?.offset
      expect(run.specOffset === newOffset, String(seed)).toBe(isOfDefinition)
      expect(run.specOffset).toBeLessThanOrEqual(newOffset)
      const isDispatched = before.status === 'DISPATCHED'
      expect(run.status, String(seed)).toBe(isDispatched && !reported.has(run.runNo) ? 'RETRY_WAIT' : before.status)
      const timers = stateTimers('job', { ...state, active: [run] }).filter(({ runNo }) => runNo === run.runNo)
      expect(timers.length, String(seed)).toBeGreaterThan(0)
      // No topic of the new system holds it, so it must not wait for one.
      if (run.status === 'RETRY_WAIT' && run.tellAt === null) expect(timers[0]?.dueAt, String(seed)).toBe(run.dueAt)
    }
  }
  expect([...met].sort()).toEqual(['DISPATCHED', 'RETRY_WAIT', 'RUNNING', 'WAITING', 'kept'])
})

it('reports name the attempts of the new states', () => {
  let count = 0
  for (const seed of seeds) {
    const { copy } = randomJob(seed)
    const { state, events } = restoredJob(copy, newOffset)
    for (const event of events) {
      const run = state?.active.find(({ runNo }) => runNo === event.runNo)
      expect([run?.attempt, run?.specOffset, run?.status]).toEqual([event.attempt, event.specOffset, 'DISPATCHED'])
      count++
    }
  }
  expect(count).toBeGreaterThan(20)
})

it('a dispatched run that nobody has reported is sent to no worker of the old system', () => {
  const history = new JobHistory()
    .define({ retry: { backoff: { list: [0] } } })
    .until(1_000)
    .fail()
    .until(1_001)
  const [run] = history.state.active
  if (run === undefined) throw new Error('It should have a run.')
  const active = [{ ...run, routedTo: 'w-1', worker: 'w-1', startedAt: 3, handlerMissingAt: 4, poolPausedAt: 5, tellAt: 6 }]
  // The first attempt was reported, and this is the second.
  const events = [eventOf(1, 1, 0, 1_000)]
  const copy = { ...history.job, state: { ...history.state, active }, runs: [], snapshots: new Map(), events }
  const nowhere = { routedTo: null, worker: null, startedAt: null, handlerMissingAt: null, poolPausedAt: null, tellAt: null }
  expect(restoredJob(copy as BackedUpJob, newOffset).state?.active).toMatchObject([
    { attempt: 2, status: 'RETRY_WAIT', parked: true, ...nowhere },
  ])
})

it('a copy of a copy is the same', () => {
  for (const seed of seeds) {
    const { copy } = randomJob(seed)
    const first = restoredJob(copy, newOffset)
    if (copy.definition === undefined) continue
    const again = { ...copy, ...first, definition: { ...copy.definition, offset: newOffset } }
    expect(restoredJob(again, newOffset), String(seed)).toEqual(first)
  }
})

it('a job without a definition refers to none, and a life keeps its name', () => {
  const history = new JobHistory().define({ schedule: { everyMs: 1_000 } }).until(1_000)
  const { job } = history
  const copy = { id: 'job', state: job.state, runs: [], snapshots: new Map(), events: [] }
  expect(restoredJob({ ...copy, definition: undefined }, newOffset).state).toMatchObject({
    specOffset: -1,
    active: [{ specOffset: 0 }],
  })
  const untouched = new JobHistory().define({ schedule: { delayMs: 5_000 } }).job
  const { state } = restoredJob({ ...copy, definition: untouched.definition, state: undefined }, newOffset)
  expect(state).toMatchObject({ specOffset: newOffset, life: '0-0', anchorAt: 0, nextFireAt: 5_000 })
})

it('a run that ends in the copy too sends its follow-ups under the same command, so that they run once', () => {
  const history = new JobHistory()
    .define()
    .define({ schedule: { everyMs: 1_000 }, onSuccess: ['next'] })
    .until(1_000)
  const { job } = history
  const reports = [{ ...eventOf(1, 1, 1, 1_000), type: 'SUCCEEDED' as const }]
  const { state, events } = restoredJob({ ...job, runs: [], snapshots: new Map(), events: reports } as BackedUpJob, newOffset)
  const copy = { id: 'job', state, definition: { ...(job.definition as KnownDefinition), offset: newOffset } }
  const followUps = ({ out }: Decision): unknown[] => out.filter(({ kind }) => kind === 'trigger')
  const there = followUps(step(job, { kind: 'event', event: reports[0] as ExecutionEvent }, 2_000))
  const here = followUps(step(copy, { kind: 'event', event: events[0] as ExecutionEvent }, 2_000))
  expect(there).toMatchObject([{ jobId: 'next', commandId: 'after:job/1@1-0' }])
  expect(here).toEqual(there)
})

it('conditions and tombstones of owners name the new offsets', () => {
  const known = new Map([
    [40, 2],
    [55, 9],
  ])
  const of = (name: string, text: string): string | undefined =>
    restoredHeaders({ [name]: Buffer.from(text) }, known)[name]?.toString()
  expect(['40', '55', '41', '*'].map((text) => of('only-over', text))).toEqual(['2', '9', '0', '*'])
  // It may have observed a later definition that was dropped.
  expect(['39', '40', '54', '60'].map((text) => of('observed-offset', text))).toEqual(['0', '2', '2', '9'])
  expect(restoredHeaders({ 'observed-offset': Buffer.from('7') })['observed-offset']).toBe('0')
})
