/** A run for unit tests of a handler, without a system around it. */
import { pino } from 'pino'
import { jsonOfValue } from '../../streams/definitions/index.ts'
import { quoted } from '../../streams/text/index.ts'
import { callOptions, DuelogError } from '../ground/errors/index.ts'
import type { Progress, Run, RunLogFields, RunLogLevel } from '../worker/executor/index.ts'

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

/** Members of a run that a test chooses. */
export type FakeRunOverrides<Payload = unknown> = { [Name in keyof Run<Payload>]?: Run<Payload>[Name] | undefined }

/** When fake runs are due, unless the test says another time: 2027-01-01T00:00:00Z. */
export const timeMsDefault = 1_798_761_600_000

/** Overrides that are numbers, with the least that a run has. */
const wholeFrom = { runNo: 1, attempt: 1, scheduledFor: 0, dueAt: 0 } as const

/**
 * A first attempt with this payload. The payload goes through JSON, as on the way through Kafka: a Date becomes text there as well.
 * `overrides` replaces any member of the run; undefined replaces none. An own `signal` is aborted by `abort` as well. Throws `bad-request` for a
 * payload that JSON cannot hold, for an override that no run has, and for a number or id that no run has.
 */
export function fakeRun<Payload = unknown>(payload?: Payload, overrides?: FakeRunOverrides<Payload>): FakeRun<Payload> {
  const given = checkedOverrides(overrides)
  const text = payload === undefined || payload === null ? null : jsonOfValue(payload)
  if (text !== null && typeof text !== 'string')
    throw new DuelogError(
      'bad-request',
      `the payload of fakeRun must be ${text.limit}; other bytes go as overrides payload and payloadBytes`,
    )
  const { jobId = 'job', runNo = 1, scheduledFor = timeMsDefault } = given
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
    cause: null,
    http: null,
    signal: given.signal === undefined ? controller.signal : AbortSignal.any([given.signal, controller.signal]),
    heartbeat: (progress = {}) => void heartbeats.push(progress),
    log: (level, text, fields) => void lines.push({ level, text, ...(fields !== undefined && { fields }) }),
    logger: pino({ level: 'silent' }),
    heartbeats,
    lines,
    abort: (reason) => controller.abort(reason),
  }
  const { signal: _, ...others } = given
  return { ...run, ...others }
}

/** Those that are set. Throws `bad-request`. */
function checkedOverrides<Payload>(overrides: FakeRunOverrides<Payload> | undefined): Partial<Run<Payload>> {
  const given = callOptions<FakeRunOverrides<Payload>>('fakeRun', overrides, overridable)
  const set = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Partial<Run<Payload>>
  for (const [name, min] of Object.entries(wholeFrom)) {
    const value = set[name as keyof typeof wholeFrom]
    if (value !== undefined && !(Number.isSafeInteger(value) && value >= min))
      throw refused(`${name} of fakeRun is ${quoted(value)}; allowed: a whole number from ${min}`)
  }
  for (const name of ['jobId', 'executionId'] as const)
    if (set[name] !== undefined && typeof set[name] !== 'string')
      throw refused(`${name} of fakeRun is ${quoted(set[name])}; it must be text`)
  for (const [name, isSo, what] of forms)
    if (set[name] !== undefined && !isSo(set[name])) throw refused(`${name} of fakeRun is ${quoted(set[name])}; ${what}`)
  return set
}

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Overrides whose form is checked: a handler would fail on others far from their cause. */
const forms: readonly [name: keyof Run, isSo: (value: unknown) => boolean, what: string][] = [
  ['signal', (value) => value instanceof AbortSignal, 'give the signal of an AbortController'],
  ['heartbeat', (value) => typeof value === 'function', 'give a function'],
  ['log', (value) => typeof value === 'function', 'give a function'],
  [
    'logger',
    (value) => isObject(value) && typeof (value as { info?: unknown }).info === 'function',
    'give a logger such as one of pino',
  ],
  ['cause', (value) => value === null || isObject(value), 'give the cause of a follow-up, or null'],
  ['headers', isObject, 'give an object of headers by name'],
  ['http', (value) => value === null || isObject(value), 'give an object with method and url, or null'],
  ['payloadBytes', (value) => value === null || value instanceof Uint8Array, 'give a Buffer, or null'],
  ['contentType', (value) => value === null || typeof value === 'string', 'give text, or null'],
]

const overridable = {
  ...{ executionId: true, jobId: true, runNo: true, attempt: true, scheduledFor: true, dueAt: true, payload: true },
  ...{
    payloadBytes: true,
    contentType: true,
    headers: true,
    cause: true,
    http: true,
    signal: true,
    heartbeat: true,
    log: true,
    logger: true,
  },
} as const satisfies Record<keyof Run, true>

const refused = (message: string): DuelogError => new DuelogError('bad-request', message)
