/** What the books of an audit prove, by records as the log would have them. */
import { describe, expect, it } from 'vitest'
import type { Execution, ExecutionEvent, FinishedRun, JobState } from '../../schemas/generated.ts'
import { Books } from '../../src/audit/books.ts'
import type { Scope } from '../../src/audit/finding.ts'
import { judge } from '../../src/audit/verdict.ts'
import { completeDefinition } from '../../streams/jobs/json.ts'

const minute = 60_000
const start = Date.parse('2030-01-01T00:00:00Z')
const at = (minutes: number): number => start + minutes * minute
const now = at(10) + 1

/** A job that fires each minute, defined at minute 0, with its runs of minutes 1 to 9 in the books where they are not left out. */
function books({
  without = [],
  skipped = 0,
  nextFireAt = at(10),
}: {
  without?: number[]
  skipped?: number
  nextFireAt?: number
} = {}) {
  const found = new Books()
  const spec = completeDefinition({ schedule: { everyMs: minute }, target: { handler: 'noop' } })
  found.definition('job', { spec, offset: 7, appendedAt: start })
  const runs = [1, 2, 3, 4, 5, 6, 7, 8, 9].filter((each) => !without.includes(each))
  for (const [index, each] of runs.entries()) {
    found.execution(execution(index + 1, each))
    found.event(event(index + 1, each))
  }
  found.state('job', state({ runNo: runs.length, skipped, nextFireAt }))
  return found
}

const execution = (runNo: number, minutes: number, more: Partial<Execution> = {}): Execution =>
  ({
    jobId: 'job',
    runNo,
    attempt: 1,
    specOffset: 7,
    scheduledFor: at(minutes),
    dueAt: at(minutes),
    ...fixed,
    ...more,
  }) as Execution
const fixed = { dispatchedAt: start, trigger: 'SCHEDULE', startDeadlineAt: start + 86_400_000 }

const event = (runNo: number, minutes: number, more: Partial<ExecutionEvent> = {}): ExecutionEvent =>
  ({
    type: 'SUCCEEDED',
    jobId: 'job',
    runNo,
    attempt: 1,
    specOffset: 7,
    worker: 'w',
    startedAt: at(minutes) + 2,
    ...more,
  }) as ExecutionEvent

const state = (more: Partial<JobState>): JobState =>
  ({
    ...{ status: 'ACTIVE', specOffset: 7, anchorAt: start, nextFireAt: null, nextDueAt: null, runNo: 0, skipped: 0 },
    ...{ active: [], lastRun: null, waiting: false, queuedFor: null, ...more },
  }) as unknown as JobState

const judged = (found: Books, more: Partial<Scope> = {}) =>
  judge(found, { from: 0, to: Number.POSITIVE_INFINITY, now, graceMs: 10_000, ...more })
const findings = (found: Books, more: Partial<Scope> = {}) => judged(found, more).findings

describe('an audit finds', () => {
  it('nothing where each occurrence ran once', () => {
    expect(judged(books())).toMatchObject({
      ...{ runs: 9, succeeded: 9, open: 0, dead: 0, retried: 0, startedAgain: 0, findings: [] },
      lateness: { p50: 2, p99: 2, max: 2 },
    })
  })
  it('an attempt that was dispatched twice', () => {
    const found = books()
    found.execution(execution(4, 4))
    expect(findings(found)).toEqual([{ kind: 'duplicate', what: 'job/4', detail: 'attempt 1 was dispatched 2 times' }])
  })
  it('an occurrence with two runs', () => {
    const found = books()
    found.execution(execution(10, 4, { dispatchedAt: start + 1 }))
    found.event(event(10, 4))
    found.state('job', state({ runNo: 10, nextFireAt: at(10) }))
    expect(findings(found)).toEqual([
      { kind: 'duplicate', what: 'job', detail: `${new Date(at(4)).toISOString()} is run 4 and run 10` },
    ])
  })
  it('an attempt that started before it was due', () => {
    const found = books()
    found.event(event(3, 3, { startedAt: at(3) - 5 }))
    expect(findings(found)).toEqual([{ kind: 'early', what: 'job/3', detail: 'attempt 1 started 5 ms before it was due' }])
  })
  it('occurrences without a run, unless the owner counted them as skipped', () => {
    const first = new Date(at(3)).toISOString()
    const detail = `2 occurrences have no run, the first ${first}`
    expect(findings(books({ without: [3, 5] }))).toEqual([{ kind: 'missed', what: 'job', detail }])
    expect(findings(books({ without: [3, 5], skipped: 1 }))).toMatchObject([{ kind: 'missed' }])
    expect(findings(books({ without: [3, 5], skipped: 2 }))).toEqual([])
  })
  it('a job whose time has passed without a decision', () => {
    expect(findings(books(), { now: at(10) + 10_001 })).toMatchObject([{ kind: 'overdue', what: 'job' }])
    const found = new Books()
    const spec = completeDefinition({ schedule: { at: at(1) }, target: { handler: 'noop' } })
    found.definition('once', { spec, offset: 1, appendedAt: start })
    expect(findings(found)).toMatchObject([{ kind: 'overdue', what: 'once' }])
  })
  it('a run that was dispatched and of which its job knows nothing', () => {
    const found = books()
    found.execution(execution(10, 9.5, { trigger: 'MANUAL' }))
    found.state('job', state({ runNo: 10, nextFireAt: at(10) }))
    expect(findings(found)).toMatchObject([{ kind: 'lost', what: 'job/10' }])
    found.finished('job', { runNo: 10, status: 'EXPIRED' } as FinishedRun)
    expect(findings(found)).toEqual([])
  })
  it('a run that nobody started by its deadline', () => {
    const found = books()
    found.execution(execution(10, 9.5, { trigger: 'MANUAL', startDeadlineAt: at(9.6) }))
    const active = [{ runNo: 10, specOffset: 7 }] as unknown as JobState['active']
    found.state('job', state({ runNo: 10, nextFireAt: at(10), active }))
    expect(judged(found)).toMatchObject({ open: 1, findings: [{ kind: 'lost', what: 'job/10' }] })
  })
})

describe('an audit holds nothing against', () => {
  it('a retry, a second start by another worker, and a dead run', () => {
    const found = books()
    found.execution(execution(9, 9, { attempt: 2, dueAt: at(9) + 1_000 }))
    found.event(event(9, 9, { attempt: 2, type: 'FAILED', startedAt: at(9) + 1_001 }))
    found.event(event(2, 2, { worker: 'other' }))
    found.deadLetter({ jobId: 'job', runNo: 9, specOffset: 7 })
    expect(judged(found)).toMatchObject({ retried: 1, startedAgain: 1, dead: 1, succeeded: 8, findings: [] })
  })
  it('a job of the same id that was deleted and defined anew, whose runs begin at 1 again', () => {
    const found = books()
    found.execution(execution(1, 4, { specOffset: 3, dispatchedAt: start - 1 }))
    expect(findings(found)).toEqual([])
  })
  it('runs of a job that is no more', () => {
    const found = books()
    found.definition('job', undefined)
    found.state('job', undefined)
    expect(findings(found)).toEqual([])
  })
  it('what is out of the range asked for', () => {
    expect(judged(books({ without: [3] }), { from: at(4), to: at(6) })).toMatchObject({ runs: 2, findings: [] })
    expect(findings(books({ without: [3] }), { from: at(2), to: at(4) })).toMatchObject([{ kind: 'missed' }])
  })
  it('runs that a limit keeps, or has kept until they ended', () => {
    const found = books({ without: [5, 6, 7] })
    const spec = completeDefinition({ schedule: { everyMs: minute }, target: { handler: 'noop' }, concurrencyKey: 'k' })
    found.definition('job', { spec, offset: 7, appendedAt: start })
    const waiting = (runNo: number, minutes: number) => ({
      ...{ runNo, specOffset: 7, trigger: 'SCHEDULE', status: 'WAITING', scheduledFor: at(minutes), startDeadlineAt: now + 1 },
    })
    const active = [waiting(10, 5), waiting(11, 6)] as unknown as JobState['active']
    found.finished('job', { runNo: 12, status: 'EXPIRED', trigger: 'SCHEDULE', scheduledFor: at(7) } as FinishedRun)
    found.state('job', state({ runNo: 12, nextFireAt: at(10), active, failed: 1 }))
    expect(judged(found)).toMatchObject({ runs: 6, waiting: 2, open: 0, findings: [] })
    // Without the limit nobody could have kept them.
    found.definition('job', { spec: { ...spec, concurrencyKey: null }, offset: 7, appendedAt: start })
    expect(findings(found)).toMatchObject([{ kind: 'missed', what: 'job' }])
  })
  it('a limited job of which compaction has taken runs that ended', () => {
    const found = books({ without: [5] })
    const rateLimit = { key: 'k', limit: 1, perMs: 1_000 }
    const spec = completeDefinition({ schedule: { everyMs: minute }, target: { handler: 'noop' }, rateLimit })
    found.definition('job', { spec, offset: 7, appendedAt: start })
    found.state('job', state({ runNo: 9, nextFireAt: at(10), cancelled: 1 }))
    expect(findings(found)).toEqual([])
    found.state('job', state({ runNo: 9, nextFireAt: at(10) }))
    expect(findings(found)).toMatchObject([{ kind: 'missed' }])
  })
  it('an attempt that was given back before it started and waits for a limit now', () => {
    const found = books()
    found.execution(execution(10, 9.5, { trigger: 'MANUAL', startDeadlineAt: at(9.6) }))
    const active = [{ runNo: 10, specOffset: 7, status: 'WAITING', startDeadlineAt: now }] as unknown as JobState['active']
    found.state('job', state({ runNo: 10, nextFireAt: at(10), active }))
    expect(judged(found)).toMatchObject({ open: 1, waiting: 0, findings: [] })
  })
  it('events whose executions the log no longer has', () => {
    const found = books()
    found.event(event(3, 3, { specOffset: 2 }))
    expect(judged(found)).toMatchObject({ runs: 9, findings: [] })
  })
})
