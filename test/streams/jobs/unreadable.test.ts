/**
 * A job whose state cannot be read: no decision is made about it and nothing of it is lost, until it is defined again or deleted.
 */
import { describe, expect, it } from 'vitest'
import type { JobDefinitionInput } from '../../../schemas/generated.ts'
import { unreadableState } from '../../../streams/jobs/unreadable.ts'
import { mustBeLogged } from '../../../streams/state/job.ts'
import { timersOf } from '../../../streams/state/timers.ts'
import { JobHistory } from '../runs/history.ts'

const everySecond = { schedule: { everyMs: 1_000 } }

/** The job ran twice. Then its state became unreadable. */
function unreadable(problem = 'No such schema.', input: Partial<JobDefinitionInput> = everySecond): JobHistory {
  const job = new JobHistory({ worker: { type: 'SUCCEEDED' } }).define(input).until(2_500)
  const { definition } = job.job
  job.job = { id: 'job', definition, unreadable: problem, state: unreadableState({ id: 'job', definition }, problem) }
  return job
}

describe('a job whose state cannot be read', () => {
  it('is INVALID, names the reason and the remedy, and has no timer', () => {
    const { job, state } = unreadable()
    expect(state).toMatchObject({ status: 'INVALID', nextFireAt: null, nextDueAt: null, runNo: 0 })
    expect(state.reason).toBe('What was decided about the job cannot be read (No such schema.); define it again, or delete it.')
    expect(timersOf(job)).toEqual([])
    const lengthOf = (problem: string): number => unreadable(problem).state.reason?.length ?? 0
    expect(lengthOf('x'.repeat(500)) - lengthOf('')).toBe(200)
    expect(unreadable(`x${'😀'.repeat(500)}`).state.reason?.isWellFormed()).toBe(true)
  })
  it('gives its runs a life of their own, though their numbers begin again', () => {
    const { state } = unreadable()
    expect(state.life).not.toBe(new JobHistory().define(everySecond).until(1_000).state.life)
  })
  it.each<[string, (job: JobHistory) => JobHistory, object]>([
    [
      'keeps its timers where they are',
      (job) => job.step({ kind: 'timer', timer: { dueAt: 3_000, kind: 1, jobId: 'job', runNo: 0 } }),
      { failed: true, notes: [] },
    ],
    [
      'drops reports, and counts them',
      (job) => job.report('SUCCEEDED'),
      { failed: false, notes: [{ kind: 'stale', what: 'SUCCEEDED' }] },
    ],
    [
      'lets nobody of it wait for a slot',
      (job) => job.step({ kind: 'admit', waiter: { key: 'k', rank: 1, dueAt: 0, jobId: 'job', runNo: 1 } }),
      { admission: 'gone', notes: [] },
    ],
    [
      'carries out no command, and says so',
      (job) => job.command('TRIGGER'),
      { refusal: 'unreadable-state', notes: [{ kind: 'refused', what: 'TRIGGER', reason: 'unreadable-state', count: 1 }] },
    ],
    [
      'takes no definition that came before its own',
      (job) => job.definition({ offset: 0, spec: job.job.definition?.spec ?? expect.fail() }),
      { notes: [] },
    ],
  ])('%s: nothing of it changes', (_, act, seen) => {
    const job = unreadable()
    const { state, definition, unreadable: problem } = job.job
    act(job)
    expect(job.last).toMatchObject({ out: [], historyPuts: [], deletesHistory: false, ...seen })
    expect([job.job.state, job.job.definition, job.job.unreadable]).toEqual([state, definition, problem])
    expect(job.job.state).toBe(state)
  })
  it('takes none whose condition does not hold, and retains its own: compaction will keep only the refused one', () => {
    const job = unreadable()
    const { definition } = job.job
    job.define({ schedule: { everyMs: 7_000 } }, false, 'none')
    expect(job.last).toMatchObject({ out: [], deletesHistory: false, keptDefinition: definition })
    expect(mustBeLogged(job.job, job.last)).toBe(true)
    // The next owner knows that from the changelog, and reads the refused one as decided.
    const next = unreadable()
    next.job.state = { ...next.state, definitionKept: true }
    next.define({ schedule: { everyMs: 7_000 } }, true, 'none')
    expect(next.job.definition?.spec?.schedule.everyMs).toBe(1_000)
  })
  it('has the latest definition, and stays unreadable', () => {
    const job = unreadable().define({ schedule: { everyMs: 7_000 } }, true)
    expect(job.job.definition?.spec?.schedule.everyMs).toBe(7_000)
    expect(job.job.unreadable).toBe('No such schema.')
    expect(job.last.deletesHistory).toBe(false)
  })
  it.each([undefined, 'any' as const, 0])('begins again with a new definition, over %s', (onlyOver) => {
    const job = unreadable().define(everySecond, false, onlyOver)
    expect(job.job.unreadable).toBeUndefined()
    expect(job.last).toMatchObject({ deletesHistory: true, keptDefinition: null })
    expect(job.state).toMatchObject({ status: 'ACTIVE', reason: null, runNo: 0, life: '1-1xg' })
    expect(job.until(3_500).fired.at(-1)).toBe(3_000)
  })
  it('begins again with the same definition too, and with an earlier version of it', () => {
    const keyed = { ...everySecond, version: 2, dedupKey: 'k', dedupWindowMs: 60_000 }
    for (const again of [keyed, { ...keyed, version: 1, dedupKey: null }]) {
      const job = unreadable('No such schema.', keyed).define(again)
      expect([job.job.unreadable, job.state.status]).toEqual([undefined, 'ACTIVE'])
    }
  })
  it('is gone after its deletion, with all its data', () => {
    const job = unreadable().remove()
    expect(job.job).toEqual({ id: 'job' })
    expect(job.last.deletesHistory).toBe(true)
  })
})
