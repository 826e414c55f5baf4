/**
 * Checks what programs pass to the calls of a client. Without a compiler a mistyped option would be ignored silently, and a wrong value would
 * fail far away from its cause.
 */
import { validateJobId } from '../../../streams/definitions/index.ts'
import { quoted } from '../../../streams/text/index.ts'
import type { Instant } from '../../ground/answers/index.ts'
import { callOptions, DuelogError } from '../../ground/errors/index.ts'
import type {
  AwaitedRunOf,
  CallOptions,
  CommandOptions,
  JobFilter,
  Rejection,
  ScheduleOptions,
  WaitOptions,
  WriteCondition,
} from './options.ts'

export const waitMsDefault = 60_000
/** The longest wait of a timer of Node. */
const waitMsMax = 2_147_483_647

/** Throws `bad-job-id`. */
export function checkedId(id: unknown): string {
  if (typeof id !== 'string') throw new DuelogError('bad-job-id', `The id of a job is ${quoted(id)}; it must be text.`)
  const problem = validateJobId(id)
  if (problem !== undefined) throw new DuelogError('bad-job-id', problem.message)
  return id
}

/** Throws `bad-request`. */
export function checkedSchedule(options: ScheduleOptions | undefined): ScheduleOptions {
  const known = { wait: true, ifMatch: true, ifAbsent: true } as const
  const given = callOptions<ScheduleOptions>('schedule', options, known)
  if (given.wait !== undefined && given.wait !== 'applied')
    throw refused(`wait of schedule is ${quoted(given.wait)}; allowed: applied`)
  if (given.ifAbsent !== undefined && typeof given.ifAbsent !== 'boolean')
    throw refused(`ifAbsent of schedule is ${quoted(given.ifAbsent)}; allowed: true or false`)
  if (given.ifMatch !== undefined && given.ifAbsent === true)
    throw refused('ifMatch and ifAbsent exclude each other. Use one of them.')
  checkVersion(given.ifMatch)
  return given
}

/** The job of a call, without an id, and the key of the command. Throws `bad-request`. Unknown fields are refused with the job. */
export function checkedCall(
  handler: unknown,
  payload: unknown,
  options: CallOptions | undefined,
): { job: object; command: CommandOptions } {
  if (typeof handler !== 'string') throw refused(`handler of call is ${quoted(handler)}; give the name of a handler`)
  if (options !== undefined && (typeof options !== 'object' || options === null))
    throw refused(`The options of call are ${quoted(options)}; give an object`)
  const { pool, idempotencyKey, ...fields } = options ?? {}
  const command = { idempotencyKey }
  checkKey('call', command)
  for (const name of ['id', 'schedule', 'target', 'payload'])
    if (name in fields) throw refused(`call has no option ${quoted(name)}; use schedule for a job with its own ${name}`)
  const target = { handler, ...(pool !== undefined && { pool }) }
  return { job: { schedule: { delayMs: 0 }, target, ...(payload !== undefined && { payload }), ...fields }, command }
}

/** Throws `bad-request`. */
export function checkedOnRejected(
  options: { onRejected?: (rejection: Rejection) => void } | undefined,
): ((rejection: Rejection) => void) | undefined {
  const { onRejected } = callOptions<{ onRejected?: (rejection: Rejection) => void }>('scheduleMany', options, {
    onRejected: true,
  })
  if (onRejected === undefined || typeof onRejected === 'function') return onRejected
  throw refused(`onRejected of scheduleMany is ${quoted(onRejected)}; give a function`)
}

/** Throws `bad-request`. */
export function checkedDelete(options: Pick<WriteCondition, 'ifMatch'> | undefined): Pick<WriteCondition, 'ifMatch'> {
  const given = callOptions<Pick<WriteCondition, 'ifMatch'>>('delete', options, { ifMatch: true })
  checkVersion(given.ifMatch)
  return given
}

/** Throws `bad-request`. */
export function checkedCommand(call: string, options: CommandOptions | undefined): CommandOptions {
  const given = callOptions<CommandOptions>(call, options, { idempotencyKey: true })
  checkKey(call, given)
  return given
}

/** Throws `bad-request`. */
export function checkedSkip(options: (CommandOptions & { at?: Instant | undefined }) | undefined): NonNullable<typeof options> {
  const given = callOptions<NonNullable<typeof options>>('skipNext', options, { idempotencyKey: true, at: true })
  checkKey('skipNext', given)
  return given
}

/** Throws `bad-request`. */
export function checkedTrigger(options: (CommandOptions & { payload?: unknown }) | undefined): NonNullable<typeof options> {
  const given = callOptions<NonNullable<typeof options>>('trigger', options, { idempotencyKey: true, payload: true })
  checkKey('trigger', given)
  return given
}

function checkKey(call: string, { idempotencyKey: key }: CommandOptions): void {
  if (key === undefined || (typeof key === 'string' && /^[\x21-\x7e]{1,255}$/.test(key))) return
  throw refused(`idempotencyKey of ${call} is ${quoted(key)}; allowed: 1 to 255 visible ASCII characters`)
}

/** Throws `bad-request`. */
export function checkedWait(options: WaitOptions | undefined): { timeoutMs: number; signal: AbortSignal | undefined } {
  const { timeoutMs = waitMsDefault, signal } = callOptions<WaitOptions>('a wait', options, { timeoutMs: true, signal: true })
  if (!Number.isFinite(timeoutMs) || timeoutMs < 1 || timeoutMs > waitMsMax)
    throw refused(`timeoutMs is ${quoted(timeoutMs)}; allowed: 1 to ${waitMsMax}`)
  checkSignal(signal)
  return { timeoutMs, signal }
}

/** Throws `bad-request`. */
export function checkSignal(signal: unknown): void {
  if (signal === undefined || typeof (signal as { addEventListener?: unknown } | null)?.addEventListener === 'function') return
  throw refused(`signal is ${quoted(signal)}; give the signal of an AbortController`)
}

/** Throws `bad-request` unless exactly one of its fields is given, and is allowed. */
export function checkedRunOf(which: AwaitedRunOf | undefined): AwaitedRunOf {
  const known = { runNo: true, commandId: true, etag: true } as const
  const { runNo, commandId, etag } = callOptions<{ runNo: number; commandId: string; etag: string }>(
    'awaitRun',
    which as { runNo: number; commandId: string; etag: string } | undefined,
    known,
  )
  const given = [runNo, commandId, etag].filter((value) => value !== undefined)
  if (given.length !== 1) throw refused('Give awaitRun exactly one of runNo, commandId and etag, such as { runNo: 1 }.')
  if (runNo !== undefined) checkedRunNo('awaitRun', runNo)
  if (commandId !== undefined && (typeof commandId !== 'string' || commandId === ''))
    throw refused(`commandId of awaitRun is ${quoted(commandId)}; give the one of the answer to the command`)
  if (etag !== undefined && (typeof etag !== 'string' || !/^"?\d{1,16}\.\d{1,16}"?$/.test(etag)))
    throw refused(`etag of awaitRun is ${quoted(etag)}; give the etag of the job, such as "0.12"`)
  return which as AwaitedRunOf
}

/** The name of something that is not a job. Throws `bad-request`: a path with "undefined" would ask for another thing. */
export function checkedName(call: string, name: unknown): string {
  if (typeof name === 'string' && name !== '') return name
  throw refused(`${call} needs a name or an id, and got ${quoted(name)}`)
}

/** Throws `bad-request`. */
export function checkedRunNo(call: string, runNo: unknown): void {
  if (Number.isSafeInteger(runNo) && Number(runNo) >= 1) return
  throw refused(`runNo of ${call} is ${quoted(runNo)}; allowed: a whole number from 1`)
}

/** Throws `bad-request` unless these are jobs that can be read one after the other. */
export function checkedJobs(jobs: unknown): void {
  const areJobs = typeof jobs === 'object' && jobs !== null && (Symbol.iterator in jobs || Symbol.asyncIterator in jobs)
  if (!areJobs) throw refused(`The jobs of scheduleMany are ${quoted(jobs)}; give an array, or another iterable, of jobs`)
}

/** Throws `bad-request`. */
export function checkedFilter(filter: JobFilter | undefined): JobFilter {
  const known = {
    status: true,
    tag: true,
    handler: true,
    idPrefix: true,
    idContains: true,
    dueBefore: true,
    active: true,
  } as const
  const given = callOptions<JobFilter>('list', filter, known)
  for (const name of ['status', 'tag', 'handler', 'idPrefix', 'idContains'] as const)
    if (given[name] !== undefined && typeof given[name] !== 'string')
      throw refused(`${name} of list is ${quoted(given[name])}; it must be text`)
  return given
}

/** The server judges what it says; here it must be something that a header can hold. */
function checkVersion(ifMatch: unknown): void {
  if (ifMatch === undefined || (typeof ifMatch === 'string' && /^[\x20-\x7e]{1,255}$/.test(ifMatch))) return
  throw refused(`ifMatch is ${quoted(ifMatch)}; give the etag of the job, such as "0.12"`)
}

const refused = (message: string): DuelogError => new DuelogError('bad-request', message)
