/** The timers that follow from the state of a job. A restore builds the time index from them alone. */
import { describe, expect, it } from 'vitest'
import type { ActiveRun, JobState } from '../../../schemas/generated.ts'
import type { Job } from '../../../streams/state/job.ts'
import { timerKind } from '../../../streams/state/keys.ts'
import { timersOf } from '../../../streams/state/timers.ts'
import { JobHistory } from '../runs/history.ts'

const nameOf = (kind: number): string => Object.entries(timerKind).find(([, number]) => number === kind)?.[0] ?? '?'
const timers = (job: Job): string[] => timersOf(job).map(({ kind, dueAt, runNo }) => `${nameOf(kind)} of ${runNo} at ${dueAt}`)
const limits = { leaseMs: 2_000, attemptTimeoutMs: 30_000, startDeadlineMs: 5_000 }
const dispatched = (): JobHistory => new JobHistory().define({ schedule: { everyMs: 10_000 }, ...limits }).until(10_000)
/** The job with another run instead of its own. */
const withRun = ({ job, state }: JobHistory, more: Partial<ActiveRun>, moreState: Partial<JobState> = {}): Job => {
  const [run] = state.active
  return { ...job, state: { ...state, active: [{ ...(run ?? expect.fail()), ...more }], ...moreState } }
}

describe('the timers of a job without decisions', () => {
  it('are that of its first occurrence', () => {
    expect(timers(new JobHistory().define({ schedule: { everyMs: 10_000 } }).job)).toEqual(['fire of 0 at 10000'])
  })
  it('are none if it is paused, invalid, or has no future occurrence', () => {
    const definition = new JobHistory().define({ paused: true }).job.definition ?? expect.fail()
    const spec = definition.spec ?? expect.fail()
    expect(timers({ id: 'job', definition })).toEqual([])
    expect(timers({ id: 'job', definition: { offset: 0, appendedAt: 0, bytes: Buffer.alloc(0), problem: 'No.' } })).toEqual([])
    const over = {
      ...definition,
      spec: { ...spec, paused: false, schedule: { ...spec.schedule, at: null, delayMs: 9 }, endAt: 5 },
    }
    expect(timers({ id: 'job', definition: over })).toEqual([])
    expect(timers({ id: 'job' })).toEqual([])
  })
  it('are the same as with a decision, also with jitter', () => {
    for (let appendedAt = 12_345; appendedAt < 20_000; appendedAt += 777) {
      const job = new JobHistory().until(appendedAt).define({ schedule: { everyMs: 60_000 }, jitterMs: 30_000 })
      const before = timers(job.job)
      expect(job.job.state).toBeUndefined()
      job.command('TRIGGER').report('SUCCEEDED')
      expect(timers(job.job)).toEqual(before)
      expect(before).toEqual([`fire of 0 at ${job.state.nextDueAt}`])
    }
  })
})

describe('the timers of a run', () => {
  it('that waits for a worker are its start deadline, with the grace of a report', () => {
    expect(timers(dispatched().job)).toEqual(['fire of 0 at 20000', 'startDeadline of 1 at 20000'])
  })
  it('that is running are its lease and its time limit, from its start', () => {
    expect(timers(dispatched().until(11_000).report('STARTED').job)).toEqual([
      'fire of 0 at 20000',
      'lease of 1 at 13000',
      'attemptTimeout of 1 at 46000',
    ])
  })
  it('that waits for a start are that start and its deadline; without a usable start only the deadline', () => {
    const waiting = { status: 'WAITING', waitsFor: 'RATE', startDeadlineAt: 15_000 } as const
    const [deadline, next] = ['startDeadline of 1 at 15000', 'fire of 0 at 20000']
    expect(timers(withRun(dispatched(), { ...waiting, dueAt: 14_999 }))).toEqual([next, deadline, 'start of 1 at 14999'])
    expect(timers(withRun(dispatched(), { ...waiting, dueAt: 15_000 }))).toEqual([next, deadline])
    expect(timers(withRun(dispatched(), { ...waiting, waitsFor: 'SLOT', dueAt: 10_000 }))).toEqual([next, deadline])
  })
  it('prevent the deletion of its job', () => {
    const deleted = { status: 'COMPLETED', nextFireAt: null, nextDueAt: null, deleteAt: 99_000 } as const
    expect(timers(withRun(dispatched(), {}, deleted))).toEqual(['startDeadline of 1 at 20000'])
    const { job, state } = dispatched()
    expect(timers({ ...job, state: { ...state, active: [], ...deleted } })).toEqual(['delete of 0 at 99000'])
    const busy = dispatched()
    busy.job = withRun(busy, {}, deleted)
    busy.step({ kind: 'timer', timer: { dueAt: 99_000, kind: timerKind.delete, jobId: 'job', runNo: 0 } })
    expect(busy.last.out).toEqual([])
  })
})
