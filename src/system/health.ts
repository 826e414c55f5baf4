/**
 * Liveness and readiness of this process. A process that waits for its broker is live, because a new one would wait as well. If a part has
 * ended for good or hangs, /livez reports it, so that the platform replaces the process. A process whose event loop hangs answers no probe.
 */
import { counted } from '../../streams/text/index.ts'
import type { Health } from '../ports/index.ts'
import type { Scheduler } from '../scheduler/index.ts'

export class ProcessHealth {
  #death: string | undefined
  readonly #problems: (() => string | undefined)[] = []
  readonly #tell: (error: Error) => void

  /** `tell` is called for each part that has ended for good; it should end the process. */
  constructor(tell: (error: Error) => void) {
    this.#tell = tell
  }

  /** A part has ended, and a retry does not help. */
  readonly died = (error: Error): void => {
    this.#death ??= `A part of this process has ended and will not start again: ${error.message}`
    this.#tell(error)
  }

  /** Adds a check of a part: it returns why the part cannot work, or undefined. The process stays live, because the cause, such as a missing right, may be fixed. */
  watch(problem: () => string | undefined): void {
    this.#problems.push(problem)
  }

  /** `clockProblem`: why the wall clock is not trusted now. The process stays live, because a new one would have the same clock. */
  health(scheduler: Scheduler | undefined, clockProblem?: string): Health {
    const hanging = (scheduler?.hanging ?? []).map(
      (partition) => `Partition ${partition} has been in one commit cycle for longer than any broker takes to answer.`,
    )
    const dead = [...(this.#death === undefined ? [] : [this.#death]), ...hanging]
    const waiting = [
      ...(clockProblem === undefined ? [] : [clockProblem]),
      ...(scheduler?.problem === undefined ? [] : [scheduler.problem]),
      ...this.#problems.flatMap((problem) => problem() ?? []),
      ...(scheduler === undefined ? [] : notReady(scheduler)),
    ]
    return { live: dead.length === 0, ready: dead.length + waiting.length === 0, reasons: [...dead, ...waiting] }
  }
}

function notReady(scheduler: Scheduler): string[] {
  if (scheduler.active) return []
  const waiting = scheduler.queries.partitions().filter(({ phase, role }) => phase !== 'active' && role !== 'standby')
  const reasons = waiting.map(
    ({ partition, phase, restoreRemaining, problem }) =>
      `Partition ${partition} is ${phase}, ${counted(restoreRemaining, 'record')} to read.${problem == null ? '' : ` ${problem}`}`,
  )
  return reasons.length > 0 ? reasons : ['The scheduler has not joined its group yet.']
}
