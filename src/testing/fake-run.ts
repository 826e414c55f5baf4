/** A run for unit tests of a handler, without a system around it. */
import { pino } from 'pino'
import { jsonOfValue } from '../../streams/definitions/index.ts'
import { DuelogError } from '../errors/index.ts'
import type { Progress, Run, RunLogFields, RunLogLevel } from '../executor/index.ts'

/** A line of the log of a run. */
export interface FakeLine {
  level: RunLogLevel
  text: string
  fields?: RunLogFields
}

/** The run, and what a test wants to know of it and do to it. */
export interface FakeRun<Payload = unknown> extends Run<Payload> {
  /** What the handler gave to `heartbeat`, in order. */
  readonly heartbeats: readonly Progress[]
  /** What the handler gave to `log`, in order. */
  readonly lines: readonly FakeLine[]
  /** Aborts `signal`, as the end of the attempt's time does. */
  abort(reason?: Error): void
}

/** When fake runs are due, unless the test says another time: 2027-01-01T00:00:00Z. */
export const timeMsDefault = 1_798_761_600_000

/**
 * A first attempt with this payload. The payload goes through JSON, as on the way through Kafka: a Date becomes text there as well.
 * `overrides` replaces any member. Throws `bad-request` for a payload that JSON cannot hold, and for an override that no run has.
 */
export function fakeRun<Payload = unknown>(payload?: Payload, overrides: Partial<Run<Payload>> = {}): FakeRun<Payload> {
  const text = payload === undefined || payload === null ? null : jsonOfValue(payload)
  if (text !== null && typeof text !== 'string')
    throw new DuelogError(
      'bad-request',
      `the payload of fakeRun must be ${text.limit}; other bytes go as overrides payload and payloadBytes`,
    )
  const { jobId = 'job', runNo = 1, scheduledFor = timeMsDefault } = overrides
  const controller = new AbortController()
  const heartbeats: Progress[] = []
  const lines: FakeLine[] = []
  const run: FakeRun<Payload> = {
    executionId: `${jobId}/${runNo}@test`,
    jobId,
    runNo,
    attempt: 1,
    scheduledFor,
    dueAt: scheduledFor,
    payload: (text === null ? null : JSON.parse(text)) as Payload,
    payloadBytes: text === null ? null : Buffer.from(text),
    contentType: text === null ? null : 'application/json',
    headers: {},
    http: null,
    signal: controller.signal,
    heartbeat: (progress = {}) => void heartbeats.push(progress),
    log: (level, text, fields) => void lines.push({ level, text, ...(fields !== undefined && { fields }) }),
    logger: pino({ level: 'silent' }),
    heartbeats,
    lines,
    abort: (reason) => controller.abort(reason),
  }
  for (const name of Object.keys(overrides))
    if (!Object.hasOwn(run, name))
      throw new DuelogError('bad-request', `a run has no ${JSON.stringify(name)}, so fakeRun cannot override it`)
  return { ...run, ...overrides }
}
