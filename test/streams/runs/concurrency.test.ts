/** A run whose key has no free slot waits, and is dispatched when it is admitted. */
import { describe, expect, it } from 'vitest'
import type { JobDefinitionInput } from '../../../schemas/generated.ts'
import { whyOf } from '../../../streams/jobs/reasons.ts'
import { timerKind } from '../../../streams/state/keys.ts'
import { holdsSlot, slotUse, waitersOf } from '../../../streams/state/slots.ts'
import { JobHistory } from './history.ts'

const keyed = (more: Partial<JobDefinitionInput> = {}, options = {}): JobHistory =>
  new JobHistory(options).define({ concurrencyKey: 'k', concurrencyLimit: 2, ...more })

const use = (job: JobHistory) => slotUse(job.job.state, 'k')

describe('a run with a concurrencyKey', () => {
  it('starts at once while slots are free, and holds one until it ends', () => {
    const job = keyed().until(1_000)
    expect(job.dispatched).toHaveLength(1)
    expect(use(job)).toEqual({ held: 1, waiting: 0 })
    job.report('STARTED')
    expect(use(job)).toEqual({ held: 1, waiting: 0 })
    job.report('SUCCEEDED')
    expect(use(job)).toEqual({ held: 0, waiting: 0 })
  })
  it('waits if others hold all of them: it exists, and is not dispatched', () => {
    const job = keyed()
    job.others.held = 2
    job.until(1_000)
    expect(job.dispatched).toEqual([])
    expect(job.state.active).toMatchObject([{ runNo: 1, status: 'WAITING', waitsFor: 'SLOT', attempt: 1, dueAt: 1_000 }])
    expect(waitersOf('job', job.state)).toEqual([{ key: 'k', rank: 80, dueAt: 1_000, jobId: 'job', runNo: 1 }])
    expect(job.notes).toContain('waiting')
  })
  it('waits after those that wait already, though a slot is free', () => {
    const job = keyed()
    job.others.waiting = 1
    expect(job.until(1_000).dispatched).toEqual([])
  })
  it('starts when it is admitted and a slot is free, due at that moment', () => {
    const job = keyed()
    job.others.held = 2
    job.until(5_000).admit()
    expect(job.last.admission).toBe('refused')
    expect(job.last.job.state).toBe(job.last.before)
    job.others.held = 1
    job.admit()
    expect(job.last.admission).toBe('admitted')
    expect(job.dispatched).toMatchObject([{ runNo: 1, attempt: 1, dueAt: 5_000, scheduledFor: 1_000 }])
    expect(job.state.active).toMatchObject([{ status: 'DISPATCHED', waitsFor: null }])
  })
  it('is limited by the definition in force', () => {
    const job = keyed({ schedule: { everyMs: 1_000 } })
    job.others.held = 2
    job.until(1_000).define({ schedule: { everyMs: 1_000 }, concurrencyKey: 'k', concurrencyLimit: 3 })
    expect(job.admit().last.admission).toBe('admitted')
  })
  it('keeps the key and limit it was made with when the definition has another key', () => {
    const job = keyed({ schedule: { everyMs: 1_000 } })
    job.others.held = 2
    job.until(1_000).define({ schedule: { everyMs: 1_000 }, concurrencyKey: 'other', concurrencyLimit: 9 })
    expect(job.admit().last.admission).toBe('refused')
    expect(use(job)).toEqual({ held: 0, waiting: 1 })
  })
  it('is limited by its own definition if the one in force is lost', () => {
    const job = keyed({ schedule: { everyMs: 1_000 } })
    job.others.held = 2
    job.until(1_000)
    const { definition: _, ...left } = job.job
    job.job = left
    expect(job.admit().last.admission).toBe('refused')
    job.others.held = 1
    expect(job.admit().last.admission).toBe('admitted')
  })
  it('reports the number of slots with each request, so no useless request follows', () => {
    const job = keyed()
    job.others.held = 2
    expect(job.until(1_000).last.slotLimits.get('k')).toBe(2)
    expect(job.admit().last.slotLimits.get('k')).toBe(2)
  })
  it('is the admitted run, though an earlier one of its job is active', () => {
    const job = keyed({ schedule: { everyMs: 1_000 } })
    job.others.held = 1
    job.until(2_000).others.held = 0
    expect(job.admit().last.admission).toBe('admitted')
    expect(job.dispatched.map(({ runNo }) => runNo)).toEqual([1, 2])
  })
  it('keeps its place in the queue by its priority', () => {
    const job = keyed({ priority: 'HIGH' })
    job.others.held = 2
    expect(waitersOf('job', job.until(1_000).state)).toMatchObject([{ rank: 16 }])
    const number = keyed({ priorityLevel: 9 })
    number.others.held = 2
    expect(waitersOf('job', number.until(1_000).state)).toMatchObject([{ rank: 0 }])
  })
  it('stands behind runs of its priority with fewer attempts, and no further back for attempts that were given back', () => {
    const rankOfRetry = (end: (job: JobHistory) => unknown): number | undefined => {
      const job = keyed({ retry: { maxAttempts: 3, backoff: { list: [1_000] }, jitter: 0 } }).until(1_000)
      end(job)
      job.report('STARTED').others.held = 2
      job.fail().until(10_000).report('RETRY_DUE')
      return waitersOf('job', job.state)[0]?.rank
    }
    expect(rankOfRetry(() => {})).toBe(81)
    expect(rankOfRetry((job) => job.report('RELEASED').until(2_000))).toBe(81)
  })
  it('ignores an admission that is not its own any more', () => {
    const job = keyed()
    job.others.held = 2
    const [waiter] = waitersOf('job', job.until(1_000).state)
    if (waiter === undefined) throw new Error('Nobody waits.')
    job.step({ kind: 'admit', waiter: { ...waiter, dueAt: 999 } })
    expect(job.last.admission).toBe('gone')
    job.command('CANCEL_RUN', { runNo: 1 }).step({ kind: 'admit', waiter })
    expect(job.last.admission).toBe('gone')
    const admitted = keyed()
    admitted.others.held = 2
    admitted.until(1_000).others.held = 0
    admitted.admit().step({ kind: 'admit', waiter })
    expect([admitted.last.admission, admitted.dispatched.length]).toEqual(['gone', 1])
    expect(new JobHistory().step({ kind: 'admit', waiter }).last.admission).toBe('gone')
  })
  it('counts runs that the same step has started', () => {
    const job = keyed({ schedule: { everyMs: 1_000, anchor: 0 }, maxConcurrentRuns: 5, catchUp: 'SKIP' })
    job.now = 10_500
    job.command('BACKFILL', { from: 0, to: 9_000 })
    expect(job.dispatched).toHaveLength(2)
    // One of five places is reserved for the occurrence that is due.
    expect(use(job)).toEqual({ held: 2, waiting: 2 })
    const behind = keyed({ schedule: { everyMs: 1_000, anchor: 0 }, maxConcurrentRuns: 5, catchUp: 'SKIP' })
    behind.now = 10_500
    behind.others.waiting = 1
    behind.command('BACKFILL', { from: 0, to: 9_000 })
    expect(use(behind)).toEqual({ held: 0, waiting: 4 })
  })
  it('counts the run that the same step has admitted', () => {
    const job = keyed({ schedule: { everyMs: 1_000 }, overlap: 'QUEUE_ONE', concurrencyLimit: 1 })
    job.others.held = 1
    job.until(2_000).others.held = 0
    expect(job.state).toMatchObject({ queuedFor: 2_000, active: [{ waitsFor: 'SLOT' }] })
    expect(job.command('CANCEL_RUN', { runNo: 1 }).dispatched).toMatchObject([{ runNo: 2, scheduledFor: 2_000 }])
  })
})

describe('a backoff', () => {
  it('frees the slot, and the next attempt needs one again', () => {
    const job = keyed().until(1_000).fail('Error', { retryAfterMs: 400 })
    expect(use(job)).toEqual({ held: 0, waiting: 0 })
    job.others.held = 2
    job.until(2_000)
    expect(job.state.active).toMatchObject([{ status: 'WAITING', waitsFor: 'SLOT', attempt: 2 }])
    job.others.held = 0
    expect(job.admit().dispatched.at(-1)).toMatchObject({ attempt: 2 })
  })
  it('of zero also waits behind the others', () => {
    const job = keyed()
    job.until(1_000)
    job.others.waiting = 4
    job.fail('Error', { retryAfterMs: 0 })
    expect(job.state.active).toMatchObject([{ status: 'WAITING', waitsFor: 'SLOT', attempt: 2 }])
  })
  it('is not used if a worker gives the run back: it keeps its slot', () => {
    const job = keyed().until(1_000)
    job.others = { held: 1, waiting: 7 }
    job.report('RELEASED')
    expect(job.dispatched).toMatchObject([{ attempt: 1 }, { attempt: 2 }])
  })
  it('leaves the next attempt the full time to start', () => {
    const job = keyed({ startDeadlineMs: 10_000 })
    job.others.held = 2
    job.until(6_000)
    job.others.held = 0
    job.admit().fail('Error', { retryAfterMs: 500 }).until(7_000)
    expect(job.dispatched).toMatchObject([{ startDeadlineAt: 11_000 }, { dueAt: 6_500, startDeadlineAt: 16_500 }])
    job.fail('Error', { retryAfterMs: 500 }).downUntil(30_000)
    expect(job.dispatched.at(-1)).toMatchObject({ attempt: 3, dueAt: 7_500, startDeadlineAt: 40_000 })
  })
  it('limits the next attempt by the validity of the job', () => {
    const job = keyed({ startDeadlineMs: 10_000, expireAt: 8_000 }).until(1_000)
    expect(job.fail('Error', { retryAfterMs: 500 }).until(2_000).dispatched).toMatchObject([
      { startDeadlineAt: 8_000 },
      { attempt: 2, startDeadlineAt: 8_000 },
    ])
  })
  it.each<[string, (job: JobHistory) => unknown]>([
    ['cannot be used', (job) => job.garble()],
    [
      'is gone',
      (job) => {
        const { definition: _, ...left } = job.job
        job.job = left
      },
    ],
  ])('keeps the slot and the time of the next attempt also if the definition %s', (_, lose) => {
    const job = keyed({ startDeadlineMs: 10_000 }).until(1_000)
    lose(job)
    job.fail('Error', { retryAfterMs: 0 })
    expect(job.dispatched.at(-1)).toMatchObject({ attempt: 2, dueAt: 1_000, startDeadlineAt: 11_000 })
  })
})

it('a run that is given back while the clock is behind waits until it is due, without a limit as the reason', () => {
  const job = keyed({}, { leadMs: 100 }).until(900)
  job.now = 800
  job.report('RELEASED')
  expect(job.state.active).toMatchObject([{ status: 'WAITING', attempt: 2, dueAt: 1_000 }])
  expect([job.state.decisions, job.notes]).toEqual([[], []])
  job.step({ kind: 'timer', timer: { dueAt: 1_000, kind: timerKind.start, jobId: 'job', runNo: 1 } })
  expect(job.last.deferUntil).toBe(900)
  expect(job.until(900).dispatched.map(({ attempt }) => attempt)).toEqual([1, 2])
})

describe('a run that waits for a slot', () => {
  const waiting = (more: Partial<JobDefinitionInput> = {}): JobHistory => {
    const job = keyed(more)
    job.others.held = 2
    return job.until(1_000)
  }
  it('expires by its start deadline, counted from when it was due', () => {
    const job = waiting({ startDeadlineMs: 5_000 }).until(6_000)
    expect(job.state).toMatchObject({ active: [], lastRun: { status: 'EXPIRED' }, failed: 1 })
    expect(job.state.decisions.at(-1)).toMatchObject({ what: 'EXPIRED', reason: 'concurrency-limit' })
  })
  it('expires when the validity of the job is over', () => {
    const job = waiting({ expireAt: 3_000 }).until(3_000)
    expect(job.state.lastRun).toMatchObject({ status: 'EXPIRED', finishedAt: 3_000 })
  })
  it('can be canceled without a message to workers', () => {
    const job = waiting().command('CANCEL_RUN', { runNo: 1 })
    expect(job.state).toMatchObject({ active: [], cancelled: 1 })
    expect(job.last.out).toEqual([])
  })
  it('counts as active for the overlap', () => {
    const job = waiting({ schedule: { everyMs: 1_000 }, overlap: 'SKIP' }).until(3_000)
    expect(job.skips).toEqual({ overlap: 2 })
  })
  it('ignores reports: it has no attempt', () => {
    const job = waiting()
    const event = { runNo: 1, attempt: 1, specOffset: 0, jobId: 'job', at: 0, worker: 'w', startedAt: null }
    const rest = { result: null, error: null, progress: null, message: null }
    job.step({ kind: 'event', event: { type: 'SUCCEEDED', ...event, ...rest } })
    expect(job.notes).toEqual(['stale'])
  })
  it('keeps its payload when the job is defined again', () => {
    const job = waiting({ schedule: { everyMs: 1_000 }, payload: Buffer.from('first') })
    job.define({ schedule: { everyMs: 1_000 }, concurrencyKey: 'k', concurrencyLimit: 3, payload: Buffer.from('second') }).admit()
    expect(job.dispatched.at(-1)?.payload?.toString()).toBe('first')
  })
  it('is shown by why', () => {
    const job = waiting()
    const texts = whyOf(job.job, 1_000).map(({ code, text }) => `${code}: ${text}`)
    expect(texts).toContain('concurrency-limit: Run 1 waits for a free slot of the concurrency key k.')
    expect(texts).toContain(
      'concurrency-limit: Run 1 waited (due 1970-01-01T00:00:01.000Z): the concurrencyLimit of its concurrencyKey was reached.',
    )
  })
  it('leaves nothing behind when the job is deleted', () => {
    expect(use(waiting().remove())).toEqual({ held: 0, waiting: 0 })
  })
})

describe('a burst', () => {
  it('with a key is not dispatched ahead of the usual lead, because it would hold slots', () => {
    const job = keyed({ schedule: { at: 60_000 } }, { leadMs: 100 })
    job.fireAhead()
    expect(job.last.deferUntil).toBe(59_900)
    job.until(59_900)
    expect(job.dispatched).toMatchObject([{ dueAt: 60_000 }])
    expect(job.state.active.every(holdsSlot)).toBe(true)
  })
})
