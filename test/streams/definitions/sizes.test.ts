/** Every size at its maximum at the same time: the records that result fit the log. */
import { describe, expect, it } from 'vitest'
import type { ActiveRun, ExecutionEvent, JobDefinition, JobDefinitionInput, JobState } from '../../../schemas/generated.ts'
import { outputRecord } from '../../../src/scheduler/commit/output-records.ts'
import { completeCommand, completeDefinition } from '../../../streams/definitions/defaults.ts'
import { validateCommand, validateDefinition } from '../../../streams/definitions/validate.ts'
import { fittedReport } from '../../../streams/runs/report.ts'
import { pristineState } from '../../../streams/state/draft.ts'
import type { Decision, Input, Job, Output } from '../../../streams/state/job.ts'
import { definitionValue, timerKind } from '../../../streams/state/keys.ts'
import { fittedState, stateBytes, stateBytesMax } from '../../../streams/state/state-size.ts'
import { recordBytes } from '../../../streams/topics/log-records.ts'
import { codecs, names } from '../../model/world.ts'
import { attemptError } from '../../tools/attempt-error.ts'
import { mulberry32 } from '../../tools/mulberry32.ts'
import { step } from '../runs/chain-steps.ts'

/** The limit of the owner for a transaction, and the default limit of brokers for a batch of a topic. */
const recordBytesMax = 1_000_000
/** Three bytes in UTF-8, one UTF-16 unit. */
const wide = '数'

/** The maximum of the codec. */
const longMax = Number.MAX_SAFE_INTEGER - 1

const jobId = wide.repeat(85)
const far = 8_640_000_000_000_000

/** Every field at its maximum size. */
function largest(target: JobDefinitionInput['target'], more: Partial<JobDefinition> = {}): JobDefinition {
  const definition = completeDefinition({
    schedule: {
      rrule: `FREQ=YEARLY;BYMONTHDAY=${Array.from({ length: 300 }, () => 31).join()}`,
      timezone: 'America/Argentina/ComodRivadavia',
      dtstart: 1_800_000_000_000,
      exdates: Array.from({ length: 1_000 }, (_, index) => 32_503_679_999_000 - index * 1_000),
    },
    target,
    payload: Buffer.alloc(524_288, 'x'),
    contentType: wide.repeat(128),
    headers: Object.fromEntries(
      Array.from({ length: 32 }, (_, index) => [`${String(index).padStart(2, '0')}${'h'.repeat(126)}`, Buffer.alloc(384, 'v')]),
    ),
    retry: {
      maxAttempts: 1_000,
      backoff: { list: Array.from({ length: 64 }, () => 60_000) },
      nonRetryable: Array.from({ length: 32 }, () => wide.repeat(128)),
    },
    maxConcurrentRuns: 100,
    dedupKey: wide.repeat(255),
    onSuccess: Array.from({ length: 16 }, (_, index) => `${index}`.padEnd(255, 'y')),
    onFailure: Array.from({ length: 16 }, (_, index) => `${index}`.padEnd(255, 'n')),
    tags: Array.from({ length: 16 }, () => wide.repeat(64)),
    ...more,
  })
  expect(validateDefinition(definition)).toEqual([])
  return definition
}

const toHandler = (): JobDefinition =>
  largest(
    { handler: 'h'.repeat(128), pool: 'p'.repeat(64) },
    {
      pinTo: null,
      concurrencyKey: wide.repeat(85),
      concurrencyLimit: 10_000,
    },
  )
const toHttp = (): JobDefinition =>
  largest({
    pool: 'p'.repeat(64),
    http: {
      url: `https://example.com/${'u'.repeat(2_028)}`,
      method: 'POST',
      headers: Object.fromEntries(
        Array.from({ length: 32 }, (_, index) => [`x${String(index).padStart(2, '0')}${'n'.repeat(125)}`, 'ÿ'.repeat(4_096)]),
      ),
    },
  })
const toPinned = (): JobDefinition => ({ ...toHttp(), pinTo: 'w'.repeat(255) })

const bytesOf = (output: Output): number => {
  if (output.kind === 'record') return recordBytes(output.record)
  if (output.kind === 'tombstone') return 0
  return recordBytes(outputRecord({ partition: 0, partitions: 1, names, codecs }, jobId, output))
}
const stateRecordBytes = (state: JobState): number => recordBytes({ key: `S${jobId}`, value: codecs.state.encode({ state }) })

/** A job with this definition, and the sizes of all records that it makes. */
class Measured {
  job: Job
  now = 1_800_000_000_000
  largestBytes = 0
  /** Encoding the records of a thousand steps takes long. So only one in this many steps is measured. */
  every = 1
  #steps = 0

  constructor(spec: JobDefinition) {
    this.job = { id: jobId, definition: { offset: 3, appendedAt: this.now, bytes: codecs.definition.encode(spec), spec } }
  }

  step(input: Input): Decision {
    const decision = step(this.job, input, this.now)
    if (this.#steps++ % this.every === 0) this.#measure(decision)
    const { job, snapshotPuts } = decision
    const snapshots = new Map(job.snapshots)
    for (const execution of snapshotPuts) snapshots.set(execution.runNo, execution)
    this.job = { ...job, snapshots }
    return decision
  }

  #measure({ job, out, snapshotPuts, historyPuts }: Decision): void {
    for (const output of out) this.#see(bytesOf(output))
    for (const execution of snapshotPuts) {
      const value = codecs.state.encode({ snapshot: codecs.execution.encode(execution) })
      this.#see(recordBytes({ key: `P${jobId}0123456789`, value }))
    }
    for (const run of historyPuts) this.#see(recordBytes({ key: `R${jobId}0123`, value: codecs.state.encode({ run }) }))
    if (job.state !== undefined) {
      const bytes = stateRecordBytes(job.state)
      expect(bytes).toBeLessThanOrEqual(stateBytesMax + 2_000)
      this.#see(bytes)
    }
  }

  trigger(index: number, payload: Buffer | null): Decision {
    const commandId = `${index}`.padEnd(512, wide)
    const command = completeCommand({ type: 'TRIGGER', commandId, at: this.now, payload, actor: wide.repeat(1_024) })
    expect(validateCommand(command)).toEqual([])
    return this.step({ kind: 'command', command })
  }

  report(run: ActiveRun, type: ExecutionEvent['type'], more: Partial<ExecutionEvent> = {}): Decision {
    const { runNo, attempt, specOffset } = run
    const { event } = fittedReport({
      ...{ type, jobId, runNo, attempt, specOffset, at: far, startedAt: far, worker: wide.repeat(2_000) },
      ...{ result: null, error: null, progress: 1, message: null },
      ...more,
    })
    if (event === undefined) throw new Error('The report names no attempt.')
    return this.step({ kind: 'event', event })
  }

  fail(run: ActiveRun, retryable = true): Decision {
    const error = {
      type: wide.repeat(900),
      message: wide.repeat(9_000),
      stack: wide.repeat(5_000),
      retryable,
      retryAfterMs: 60_000,
    }
    return this.report(run, 'FAILED', { error })
  }

  #see(bytes: number): void {
    this.largestBytes = Math.max(this.largestBytes, bytes)
  }
}

describe('the largest legal job', () => {
  it.each([
    ['with a handler', toHandler],
    ['with an HTTP target', toHttp],
    ['of a pinned worker', toPinned],
  ])('%s fits the log in every record that follows from it', (_, definition) => {
    const spec = definition()
    const value = codecs.definition.encode(spec)
    expect(recordBytes({ key: jobId, value })).toBeLessThanOrEqual(recordBytesMax)
    const kept = definitionValue({ offset: far, appendedAt: far, bytes: value })
    expect(recordBytes({ key: jobId, value: codecs.state.encode({ snapshot: kept }) })).toBeLessThan(recordBytesMax)
    const measured = new Measured(spec)
    for (let index = 0; index < 100; index++) measured.trigger(index, index === 0 ? Buffer.alloc(524_288, 'y') : null)
    expect(measured.job.state?.active).toHaveLength(100)
    expect(measured.trigger(100, null).refusal).toBe('max-concurrent-runs')
    measured.every = 37
    for (let round = 0; round < 5; round++) {
      for (const run of measured.job.state?.active ?? []) measured.fail(run)
      measured.now += 100_000
      for (const run of measured.job.state?.active ?? []) measured.report(run, 'RETRY_DUE')
    }
    measured.every = 1
    const [first, second, third] = measured.job.state?.active ?? []
    if (first === undefined || second === undefined || third === undefined) throw new Error('No runs are left.')
    measured.fail(first, false)
    measured.report(second, 'SUCCEEDED', { result: Buffer.alloc(65_536, 'r') })
    measured.report(third, 'SUCCEEDED', { result: Buffer.alloc(9_000_000, 'r') })
    expect(measured.largestBytes).toBeGreaterThan(stateBytesMax)
    expect(measured.largestBytes).toBeLessThanOrEqual(recordBytesMax)
  })
})

describe('a state that would be too large', () => {
  const errorsOf = (count: number, message: string) =>
    Array.from({ length: count }, (_, index) => attemptError({ attempt: index, at: far, worker: 'w', type: 'E', message }))
  const stateWith = (runs: number, errors: ActiveRun['errors'], more: Partial<JobState> = {}): JobState => {
    const job = new Measured(toHandler())
    job.trigger(0, null)
    const run = job.job.state?.active[0] as ActiveRun
    const active = Array.from({ length: runs }, (_, index) => ({ ...run, runNo: index + 1, errors }))
    return { ...pristineState(job.job), ...more, active }
  }

  it('loses the messages of older errors first, then these errors, and then the end of the last message', () => {
    const long = 'x'.repeat(1_000)
    const some = fittedState(stateWith(100, errorsOf(4, long)))
    expect(some.active.every(({ errors }) => errors.length === 4 && errors.at(-1)?.message === long)).toBe(true)
    expect(some.active[0]?.errors[0]?.message).toBe(`${'x'.repeat(100)}…`)
    const many = fittedState(stateWith(100, errorsOf(5, wide.repeat(1_000))))
    expect(many.active.every(({ errors }) => errors.length === 1)).toBe(true)
    expect(many.active[0]?.errors[0]).toMatchObject({ attempt: 4, message: `${wide.repeat(100)}…` })
  })

  it('is unchanged while it fits', () => {
    const state = stateWith(10, errorsOf(5, 'x'.repeat(1_000)))
    expect(fittedState(state)).toBe(state)
  })

  it('keeps every run, also of a version without a limit', () => {
    const state = stateWith(900, errorsOf(5, wide.repeat(1_000)))
    const fitted = fittedState(state)
    expect(fitted.active.map(({ runNo, status, attempt }) => [runNo, status, attempt])).toEqual(
      state.active.map(({ runNo, status, attempt }) => [runNo, status, attempt]),
    )
    expect(stateRecordBytes(fitted)).toBeLessThanOrEqual(recordBytesMax)
  })

  it('is never counted smaller than its record', () => {
    const random = mulberry32(20_260)
    const text = (max: number): string => (random() < 0.5 ? wide : 'x').repeat(Math.floor(random() * max))
    for (let round = 0; round < 60; round++) {
      const errors = Array.from({ length: Math.floor(random() * 6) }, () => ({
        ...{ attempt: 2 ** 31 - 1, at: far, worker: random() < 0.5 ? null : text(512), type: text(200), message: text(1_000) },
        ...{ dueAt: far, dispatchedAt: far, startedAt: far, stack: random() < 0.5 ? null : text(2_000) },
      }))
      const decisions = Array.from({ length: Math.floor(random() * 13) }, () => ({
        ...{ at: far, what: 'DROPPED' as const, reason: text(40), scheduledFor: far, runNo: longMax },
        ...{ count: longMax, commandId: text(512) },
      }))
      const state = stateWith(1 + Math.floor(random() * 5), errors, {
        decisions,
        reason: text(500),
        deadRuns: Array.from({ length: 10 }, () => longMax),
        recentCommands: Array.from({ length: 32 }, () => 2 ** 52 - 1),
      })
      expect(codecs.state.encode({ state }).length).toBeLessThanOrEqual(stateBytes(state))
    }
  })
})

describe('a report over a limit', () => {
  const fire = (): { job: Measured; run: ActiveRun } => {
    const job = new Measured(completeDefinition({ schedule: { at: 1_800_000_000_000 }, target: { handler: 'x' } }))
    job.step({ kind: 'timer', timer: { dueAt: 1_800_000_000_000, kind: timerKind.fire, jobId, runNo: 0 } })
    return { job, run: job.job.state?.active[0] as ActiveRun }
  }
  const reportOf = ({ runNo, attempt, specOffset }: ActiveRun, more: Partial<ExecutionEvent>): ExecutionEvent => ({
    ...{ type: 'SUCCEEDED', jobId, runNo, attempt, specOffset, at: 1, startedAt: 1, worker: 'w' },
    ...{ result: null, error: null, progress: null, message: null },
    ...more,
  })

  it('ends the run anyway, and the run names what is missing', () => {
    const { job, run } = fire()
    const { event, note, problems } = fittedReport(reportOf(run, { result: Buffer.alloc(1_000_200) }))
    expect(problems.map(({ field }) => field)).toEqual(['result'])
    job.step({ kind: 'event', event: event as ExecutionEvent, ...(note !== undefined && { note }) })
    expect(job.job.state).toMatchObject({ succeeded: 1, lastRun: { status: 'SUCCEEDED', result: null } })
    expect(job.job.state?.lastRun?.note).toContain('result has 1000200 bytes; allowed: at most 65536 bytes')
  })

  it('is within all limits afterwards, whatever it contained', () => {
    const { run } = fire()
    const hostile = reportOf(run, {
      type: 'FAILED',
      at: -5,
      startedAt: longMax,
      worker: wide.repeat(100_000),
      error: {
        type: wide.repeat(999),
        message: `${'x'.repeat(999)}😀`,
        stack: 's'.repeat(99_999),
        retryable: true,
        retryAfterMs: -1,
      },
      progress: Number.NaN,
      message: wide.repeat(99_999),
    })
    const { event, problems } = fittedReport(hostile)
    expect(problems.length).toBeGreaterThanOrEqual(8)
    expect(event).toBeDefined()
    expect(fittedReport(event as ExecutionEvent).problems).toEqual([])
    expect(codecs.event.encode(event as ExecutionEvent).length).toBeLessThan(30_000)
  })

  it('with an impossible attempt number is refused', () => {
    const { run } = fire()
    for (const more of [{ runNo: 0 }, { attempt: -1 }, { specOffset: -2 }]) {
      expect(fittedReport(reportOf(run, more)).event).toBeUndefined()
    }
  })

  it('within the limits is unchanged', () => {
    const { run } = fire()
    const report = reportOf(run, { result: Buffer.alloc(65_536) })
    expect(fittedReport(report)).toEqual({ event: report, problems: [], note: undefined })
    expect(fittedReport(report).event).toBe(report)
  })
})
