/** What happens to a run whose attempts fail, are released, or are reported late. */
import { describe, expect, it } from 'vitest'
import type { ExecutionEvent, JobDefinitionInput } from '../../../schemas/generated.ts'
import type { Output } from '../../../streams/state/job.ts'
import { timerKind } from '../../../streams/state/keys.ts'
import { retryGuardMs, timersOf } from '../../../streams/state/timers.ts'
import { JobHistory } from './history.ts'

const day = 86_400_000

/** A job that was dispatched at 1000, its last occurrence. */
const dispatched = (more: Partial<JobDefinitionInput> = {}, leadMs = 0): JobHistory =>
  new JobHistory({ leadMs }).define(more).until(1_000)

/** The last output: its kind, with the tier of a retry. */
const lastOut = ({ last }: JobHistory): string[] =>
  last.out.map((output: Output) => (output.kind === 'retry' ? `retry.${output.tier.name}` : output.kind))

describe('a failed attempt', () => {
  it('is retried after its backoff, in the same run with the next number', () => {
    const job = dispatched().report('STARTED').fail()
    expect(job.last.out).toMatchObject([
      { kind: 'retry', execution: { runNo: 1, attempt: 2, scheduledFor: 1_000, dueAt: 2_000, payload: null } },
    ])
    expect(job.state.active).toMatchObject([{ status: 'RETRY_WAIT', attempt: 2, dueAt: 2_000, worker: null }])
    job.until(2_000).report('RETRY_DUE')
    expect(job.dispatched).toMatchObject([{ attempt: 1 }, { runNo: 1, attempt: 2, dueAt: 2_000, dispatchedAt: 2_000 }])
  })
  it('is kept with its times, and only the last one with its stack', () => {
    const stackOf = (letter: string, chars = 10): string => letter.repeat(chars)
    const job = dispatched()
      .until(1_100)
      .report('STARTED')
      .until(1_300)
      .fail('Error', { stack: stackOf('a') })
    job
      .until(2_300)
      .report('RETRY_DUE')
      .until(2_400)
      .fail('Error', { stack: stackOf('b', 2_001) })
    expect(job.state.active[0]?.errors).toMatchObject([
      { attempt: 1, dueAt: 1_000, dispatchedAt: 1_000, startedAt: 1_100, at: 1_300, stack: null },
      { attempt: 2, dueAt: 2_300, dispatchedAt: 2_300, startedAt: null, at: 2_400, stack: stackOf('b', 2_000) },
    ])
  })
  it('is made maxAttempts times, each after the next delay of the backoff', () => {
    const job = dispatched()
    const waits: string[] = []
    for (let attempt = 1; attempt < 5; attempt++) {
      job.fail()
      waits.push(...lastOut(job))
      job.until(job.state.active[0]?.dueAt ?? 0).report('RETRY_DUE')
    }
    expect(waits).toEqual(['retry.1s', 'retry.5s', 'retry.30s', 'retry.2m'])
    expect(lastOut(job.fail())).toEqual(['dead-letter'])
    expect(job.last.out).toMatchObject([{ letter: { attempts: 5 }, execution: { attempt: 5 } }])
    expect(job.state).toMatchObject({ failed: 1, active: [], lastRun: { status: 'DEAD', attempts: 5 } })
  })
  it('of a run that was dispatched ahead is not retried before its time', () => {
    const job = new JobHistory()
      .define({ schedule: { at: 60_000 } })
      .fireAhead()
      .fail()
    job.until(1_000).report('RETRY_DUE')
    expect(job.sent.every(({ dueAt, scheduledFor }) => dueAt >= scheduledFor)).toBe(true)
  })
  it('may be followed by success; its run remembers the failures', () => {
    const job = dispatched()
      .fail('Timeout')
      .until(2_000)
      .report('RETRY_DUE')
      .report('SUCCEEDED', { result: Buffer.from('7') })
    expect(job.state.lastRun).toMatchObject({
      status: 'SUCCEEDED',
      attempts: 2,
      result: Buffer.from('7'),
      errors: [{ attempt: 1, at: 1_000, worker: 'w', type: 'Timeout', message: 'It failed at 1000.' }],
    })
  })
  it.each<[string, (job: JobHistory) => unknown]>([
    ['succeeded', (job) => job.report('SUCCEEDED', { startedAt: 1_100 })],
    ['failed', (job) => job.fail('Error', { retryable: false }, { startedAt: 1_100 })],
  ])('without a reported start counts as started once it has %s', (_, end) => {
    const job = dispatched().until(1_500)
    end(job)
    expect(job.state.lastRun).toMatchObject({ startedAt: 1_100, worker: 'w' })
  })
  it('that has started keeps its start when the report of its end has none', () => {
    const job = dispatched().until(1_200).report('STARTED').until(1_500).report('SUCCEEDED')
    expect(job.state.lastRun).toMatchObject({ startedAt: 1_200, finishedAt: 1_500 })
    const failed = dispatched().until(1_200).report('STARTED').until(1_500).fail('Error', { retryable: false })
    expect(failed.state.lastRun).toMatchObject({ status: 'DEAD', startedAt: 1_200, finishedAt: 1_500 })
  })
  it('keeps its last five errors, each cut to a thousand characters', () => {
    const job = dispatched({ retry: { maxAttempts: 9, backoff: { list: [0] } } })
    for (let attempt = 1; attempt <= 9; attempt++) job.fail('Error', { message: 'x'.repeat(1_001) })
    expect(job.state.lastRun?.errors.map(({ attempt }) => attempt)).toEqual([5, 6, 7, 8, 9])
    expect(job.state.lastRun?.errors.map(({ message }) => message.length)).toEqual([1_000, 1_000, 1_000, 1_000, 1_000])
  })
  it('has an error also if the worker gave none', () => {
    const job = dispatched().report('FAILED')
    expect(job.state.active[0]?.errors).toMatchObject([{ type: 'Error', message: 'The worker gave no reason.' }])
  })
  it('has in each attempt as long to start as in the first', () => {
    const job = dispatched({ startDeadlineMs: 3_000 }).until(1_500).fail()
    expect(job.sent.at(-1)).toMatchObject({ dueAt: 2_500, startDeadlineAt: 5_500 })
    job.until(2_600).report('RETRY_DUE')
    expect(job.sent.at(-1)).toMatchObject({ dueAt: 2_500, dispatchedAt: 2_600, startDeadlineAt: 5_600 })
  })
  it('is retried as the definition in force says, not the one it was made from', () => {
    const job = dispatched().define({ schedule: { at: 9_000 }, retry: { maxAttempts: 1 } })
    expect(lastOut(job.fail())).toEqual(['dead-letter'])
  })
  it('is retried by the defaults while the definition in force is invalid', () => {
    expect(
      lastOut(
        dispatched({ retry: { maxAttempts: 1 } })
          .garble()
          .fail(),
      ),
    ).toEqual(['retry.1s'])
    const again = dispatched({ retry: { maxAttempts: 1 }, expireAt: 90_000 })
      .garble()
      .fail('Error', { retryAfterMs: 0 })
    expect(again.dispatched.at(-1)).toMatchObject({ attempt: 2, handler: 'noop' })
  })
})

it.each<[string, { note?: string; message?: string; result?: Buffer }, string | null]>([
  ['by its owner', { note: 'The result was left out.' }, 'The result was left out.'],
  ['by its worker', { message: 'The result was left out.' }, 'The result was left out.'],
  ['but not what its worker says beside a result', { message: 'All done.', result: Buffer.from('1') }, null],
])('a run says what is missing from the report of its end: %s', (_, { note, ...told }, noted) => {
  const job = dispatched().report('STARTED')
  const { runNo, attempt, specOffset } = job.dispatched[0] ?? expect.fail()
  const event = { type: 'SUCCEEDED', jobId: 'job', runNo, attempt, specOffset, at: 1_000, worker: 'w', startedAt: null } as const
  const rest = { result: null, error: null, progress: null, message: null, ...told }
  job.step({ kind: 'event', event: { ...event, ...rest }, ...(note !== undefined && { note }) })
  expect(job.state.lastRun).toMatchObject({ status: 'SUCCEEDED', note: noted })
})

describe('a report of a run whose definition is gone', () => {
  it.each(['FAILED', 'RELEASED', 'SUCCEEDED'] as const)('counts: the run has %s', (type) => {
    const job = dispatched()
    const { definition: _, ...left } = job.job
    job.job = left
    job.report(type)
    expect(job.notes).not.toContain('stale')
    expect(job.state.succeeded + (job.state.active[0]?.attempt ?? 0)).toBe(type === 'SUCCEEDED' ? 1 : 2)
  })
})

describe('a backoff', () => {
  it.each([
    [0, ['dispatch'], 1_000, false],
    [1, [], 1_001, true],
    [999, [], 1_999, true],
    [1_000, ['retry.1s'], 2_000, false],
    [4_999, ['retry.1s'], 5_999, true],
    [5_000, ['retry.5s'], 6_000, false],
    [120_000, ['retry.2m'], 121_000, false],
    [3_600_000, ['retry.1h'], 3_601_000, false],
    [day, ['retry.1h'], day + 1_000, true],
  ])('of %i ms waits in the largest tier that is not longer', (delayMs, out, dueAt, parked) => {
    const job = dispatched({ retry: { backoff: { fixed: { delayMs } } } }).fail()
    expect(lastOut(job)).toEqual(out)
    expect(job.sent.at(-1)?.dueAt ?? dueAt).toBe(out.length === 0 ? 1_000 : dueAt)
    expect(job.state.active[0]).toMatchObject({ dueAt, parked })
    // The time index ends what no tier ends, and guards what one does.
    const kind = delayMs === 0 ? timerKind.startDeadline : timerKind.retry
    const later = !parked && delayMs > 0 ? retryGuardMs : 0
    expect(timersOf(job.job)).toMatchObject([{ kind, ...(delayMs > 0 && { dueAt: dueAt + later }) }])
  })
  it('shorter than every tier is parked and ends by itself', () => {
    const job = dispatched({ retry: { backoff: { fixed: { delayMs: 700 } } } }).fail()
    expect(job.until(1_699).dispatched).toHaveLength(1)
    expect(job.until(1_700).dispatched.at(-1)).toMatchObject({ attempt: 2, dispatchedAt: 1_700 })
  })
  it('longer than its tier ends by itself, and the end of the tier changes nothing', () => {
    const job = dispatched({ retry: { backoff: { fixed: { delayMs: 3_000 } } } })
      .fail()
      .until(2_000)
    const { state } = job
    job.report('RETRY_DUE')
    expect(job.last.out).toEqual([])
    expect(job.state).toBe(state)
    expect(job.until(4_000).dispatched.at(-1)).toMatchObject({ attempt: 2, dispatchedAt: 4_000, dueAt: 4_000 })
    expect(job.state.active[0]).toMatchObject({ status: 'DISPATCHED', parked: false })
  })
  it('that ends within the lead is dispatched ahead of its end', () => {
    const job = dispatched({ retry: { backoff: { fixed: { delayMs: 1_050 } } } }, 100)
      .fail()
      .until(1_950)
      .report('RETRY_DUE')
    expect(job.dispatched.at(-1)).toMatchObject({ attempt: 2, dispatchedAt: 1_950 })
  })
})

describe("a worker's own delay", () => {
  it.each([
    [0, 1_000],
    [-5, 1_000],
    [40_000, 41_000],
    [day + 1, day + 1_000],
  ])('of %i ms replaces the backoff, up to a day', (retryAfterMs, dueAt) => {
    expect(dispatched().fail('Error', { retryAfterMs }).state.active[0]).toMatchObject({ attempt: 2, dueAt })
  })
  it('does not help a run that has used all its attempts', () => {
    expect(lastOut(dispatched({ retry: { maxAttempts: 1 } }).fail('Error', { retryAfterMs: 10 }))).toEqual(['dead-letter'])
  })
})

describe('a run is given up at once', () => {
  it.each<[string, JobDefinitionInput['retry'], string, boolean, string]>([
    ['when the worker says that it is not retryable', {}, 'Error', false, 'not-retryable'],
    ['for an error that the definition calls not retryable', { nonRetryable: ['BadInput'] }, 'BadInput', true, 'not-retryable'],
    ['with a single attempt', { maxAttempts: 1 }, 'Error', true, 'attempts'],
  ])('%s', (_, retry, type, retryable, reason) => {
    const job = dispatched({ retry, payload: Buffer.from('p') })
      .until(1_200)
      .fail(type, { retryable })
    const times = { dueAt: 1_000, dispatchedAt: 1_000, startedAt: null }
    const errors = [{ attempt: 1, at: 1_200, worker: 'w', type, message: 'It failed at 1200.', ...times, stack: null }]
    expect(job.last.out).toEqual([
      {
        kind: 'dead-letter',
        letter: { jobId: 'job', runNo: 1, attempts: 1, deadAt: 1_200, errors },
        execution: job.dispatched[0],
      },
    ])
    expect(job.state).toMatchObject({ failed: 1, succeeded: 0, lastRun: { runNo: 1, status: 'DEAD', finishedAt: 1_200, errors } })
    expect(job.state.decisions).toMatchObject([{ what: 'DEAD', reason, runNo: 1, at: 1_200 }])
    expect(job.notes).toEqual(['ended'])
  })
  it('and its snapshot is kept for a redrive, under its own number', () => {
    const job = dispatched({ retry: { maxAttempts: 1 } })
    const replaced = dispatched().define({ schedule: { at: 9_000 }, retry: { maxAttempts: 1 } })
    expect(replaced.snapshots.size).toBe(1)
    expect(job.fail().last.snapshotPuts).toMatchObject([{ runNo: 1 }])
    expect(replaced.fail().last.snapshotPuts).toMatchObject([{ runNo: 1 }])
    expect(replaced.snapshots.size).toBe(1)
    expect([...replaced.snapshots.keys()]).toEqual([1])
  })
  it('but not for any other error', () => {
    expect(lastOut(dispatched({ retry: { nonRetryable: ['BadInput'] } }).fail('Other'))).toEqual(['retry.1s'])
  })
})

describe('an attempt that is given back', () => {
  it('is dispatched again at once with the next number', () => {
    const job = dispatched().report('STARTED').until(1_300).report('RELEASED')
    expect(job.dispatched.at(-1)).toMatchObject({ runNo: 1, attempt: 2, dueAt: 1_300, dispatchedAt: 1_300 })
    expect(job.state.active[0]).toMatchObject({ status: 'DISPATCHED', releasedAttempts: 1, startedAt: null, worker: null })
  })
  it('before it was due is still not due before its time', () => {
    const job = new JobHistory({ leadMs: 100 }).define().until(900).report('RELEASED')
    expect(job.dispatched.at(-1)).toMatchObject({ attempt: 2, dueAt: 1_000, dispatchedAt: 900 })
  })
  it('does not count against maxAttempts, nor lengthen the backoff', () => {
    const job = dispatched({ retry: { maxAttempts: 2, backoff: { linear: { stepMs: 1_000 } } } })
    for (let time = 0; time < 5; time++) job.report('RELEASED')
    expect(lastOut(job.fail())).toEqual(['retry.1s'])
    expect(job.state.active[0]).toMatchObject({ attempt: 7, dueAt: 2_000 })
    job.until(2_000).report('RETRY_DUE').report('RELEASED')
    expect(lastOut(job.fail())).toEqual(['dead-letter'])
  })
})

describe('a report that does not fit', () => {
  const waiting = (): JobHistory => dispatched().fail()
  const ended = (): JobHistory => dispatched({ schedule: { everyMs: 1_000 } }).report('SUCCEEDED')
  it.each<[string, () => JobHistory, ExecutionEvent['type'], Partial<ExecutionEvent>]>([
    ['of an earlier attempt', () => dispatched().report('RELEASED'), 'SUCCEEDED', { attempt: 1 }],
    ['of a later attempt', dispatched, 'STARTED', { attempt: 2 }],
    ['of a run that never was', dispatched, 'FAILED', { runNo: 2, attempt: 1 }],
    ['of a run that has ended', ended, 'SUCCEEDED', {}],
    ['of a run of an earlier life', dispatched, 'SUCCEEDED', { specOffset: 7 }],
    ['of a start that was known', () => dispatched().report('STARTED'), 'STARTED', {}],
    ['of a start during the backoff', waiting, 'STARTED', {}],
    ['of an end during the backoff', waiting, 'SUCCEEDED', {}],
    ['of a failure during the backoff', waiting, 'FAILED', { attempt: 1 }],
    ['of a return during the backoff', waiting, 'RELEASED', {}],
    ['of the end of a backoff that nobody waits for', dispatched, 'RETRY_DUE', {}],
  ])('%s is counted and dropped', (_, before, type, more) => {
    const job = before()
    const { state } = job
    const event = { runNo: 1, ...more }
    if (event.runNo === 2) job.sent.push({ ...(job.sent[0] ?? expect.fail()), runNo: 2 })
    job.report(type, event)
    expect(job.last).toMatchObject({ out: [], notes: [{ kind: 'stale', what: type }] })
    expect(job.state).toBe(state)
  })
  it('of an unknown job is counted and dropped', () => {
    const job = dispatched().remove().report('SUCCEEDED')
    expect(job.notes).toEqual(['stale'])
    expect(job.job).toEqual({ id: 'job' })
  })
})
