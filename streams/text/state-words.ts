/** Statuses, states and commands as words of a sentence. In fields and tables they stand as they are. */

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

/** What follows the subject, such as `waits for its retry`. Later versions of the server may have other states. */
export const stateWords = (state: string): string => (Object.hasOwn(predicates, state) ? `${predicates[state]}` : `is ${state}`)

/** A command as a noun. A CANCEL_RUN without a run skips an occurrence. */
export const commandNoun = ({ type, runNo = 0 }: { type: string; runNo?: number | null | undefined }): string =>
  type === 'CANCEL_RUN' && runNo === null ? 'skip' : Object.hasOwn(commands, type) ? `${commands[type]}` : type
