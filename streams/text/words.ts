/** Operations, states and reasons in words. The command line and the dashboard say the same. */

export interface ChangeWords {
  /** Past participle of the change. */
  done: string
  /** The noun: job, run, pool … */
  thing: string
  /** Infinitive, if things that match and are already so are not counted. */
  unless?: string
}

const words: Record<string, ChangeWords> = {
  PAUSE: { done: 'paused', thing: 'job', unless: 'pause' },
  RESUME: { done: 'resumed', thing: 'job', unless: 'resume' },
  CANCEL: { done: 'cancelled', thing: 'job', unless: 'cancel' },
  TRIGGER: { done: 'triggered', thing: 'job' },
  DELETE: { done: 'deleted', thing: 'job' },
  REDRIVE: { done: 'redriven', thing: 'dead run' },
  DISCARD: { done: 'discarded', thing: 'dead run' },
  CANCEL_RUN: { done: 'cancelled', thing: 'active run' },
}

/** Later versions of the server may have other actions. */
export const changeWords = (action: string): ChangeWords =>
  Object.hasOwn(words, action) ? (words[action] as ChangeWords) : { done: 'changed', thing: 'thing' }

/** An operation that found nothing. `filter`: as in its request; null or undefined: it had a list. */
export function nothingFound(action: string, filter: object | null | undefined): string {
  const { thing, unless } = changeWords(action)
  const what = unless === undefined ? thing : `${thing} to ${unless}`
  if (filter == null) return `No ${what} of the list was found; nothing was changed.`
  if (Object.keys(filter).length === 0) return `There is no ${what}; nothing was changed.`
  return `No ${what} matches the filter; nothing was changed.`
}

const predicates: Record<string, string> = {
  // Of jobs, pools and workers.
  ...{ ACTIVE: 'is active', PAUSED: 'is paused', COMPLETED: 'is completed', INVALID: 'is invalid' },
  ...{ DRAINING: 'is draining', DRAINED: 'is drained' },
  // Of runs. CANCELLED, WAITING and RUNNING also of operations.
  ...{ DISPATCHED: 'is dispatched to the workers', RUNNING: 'is running', RETRY_WAIT: 'waits for its retry', WAITING: 'waits' },
  ...{ SUCCEEDED: 'has succeeded', DEAD: 'is dead', EXPIRED: 'has expired', CANCELLED: 'is cancelled', SKIPPED: 'was skipped' },
  ...{ CANCELLING: 'is being cancelled', DONE: 'is done', FAILED: 'has failed' },
}

const commands: Record<string, string> = {
  ...{ TRIGGER: 'trigger', PAUSE: 'pause', RESUME: 'resumption', CANCEL: 'cancellation', BACKFILL: 'backfill' },
  ...{ CANCEL_RUN: 'cancellation of a run', REDRIVE: 'redrive' },
}

/** What follows the subject, such as `waits for its retry`; in fields and tables a state stands as it is. Later versions of the server may have other states. */
export const stateWords = (state: string): string => (Object.hasOwn(predicates, state) ? `${predicates[state]}` : `is ${state}`)

/** A command as a noun. A CANCEL_RUN without a run skips an occurrence. */
export const commandNoun = ({ type, runNo = 0 }: { type: string; runNo?: number | null | undefined }): string =>
  type === 'CANCEL_RUN' && runNo === null ? 'skip' : Object.hasOwn(commands, type) ? `${commands[type]}` : type

/** A reason as the API answers it. */
interface Reason {
  code: string
  text: string
  at: string | null
}

export interface NamedReason extends Reason {
  /** Run that the sentence names. */
  runNo: number | undefined
  /** Whether it tells the end of that run by an error. */
  isEnd: boolean
}

export interface ReasonGroup {
  code: string
  /** Sentence and time of the first, which is the newest. */
  text: string
  at: string | null
  reasons: NamedReason[]
}

const numbers = /\d+/g

/** Reasons that say the same, merged however their run numbers and times differ, in the order of the first of each group. Reasons of the present are never merged with decisions of the past. */
export function reasonGroups(why: readonly Reason[]): ReasonGroup[] {
  const groups = new Map<string, ReasonGroup>()
  for (const reason of why) {
    const { code, text, at } = reason
    const named = /\bRun (\d+)\b/.exec(text)?.[1]
    const isEnd = / became a dead letter/.test(text)
    const entry: NamedReason = { ...reason, runNo: named === undefined ? undefined : Number(named), isEnd }
    const key = `${code} ${text.replace(numbers, '#')}`
    const group = groups.get(key)
    if (group === undefined) groups.set(key, { code, text, at, reasons: [entry] })
    else group.reasons.push(entry)
  }
  return [...groups.values()]
}
