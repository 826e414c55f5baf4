/**
 * Whether this process should go on. A process that is waiting for its broker lives: a new one would wait as well. One of which a part
 * has ended for good, or hangs, is told to the platform by /livez, so that another takes its place; one whose event loop hangs answers no
 * probe at all.
 */
import { counted } from '../../streams/text/index.ts'
import type { Health } from '../api/index.ts'
import type { Scheduler } from '../scheduler/index.ts'

export class ProcessHealth {
  #death: string | undefined
  readonly #problems: (() => string | undefined)[] = []
  readonly #tell: (error: Error) => void

  /** `tell` hears of each death; it should end the process. */
  constructor(tell: (error: Error) => void) {
    this.#tell = tell
  }

  /** A part has ended in a way that trying again does not mend. */
  readonly died = (error: Error): void => {
    this.#death ??= `A part of this process has ended for good: ${error.message}`
    this.#tell(error)
  }

  /** A part says why it cannot do its work, as long as that is so. It lives: what is missing may be granted. */
  watch(problem: () => string | undefined): void {
    this.#problems.push(problem)
  }

  /** `clockProblem`: why nothing is decided by the wall clock for now. A new process would have the same clock, so this one lives. */
  health(scheduler: Scheduler | undefined, clockProblem?: string): Health {
    const hanging = (scheduler?.hanging ?? []).map(
      (partition) => `Partition ${partition} has hung in one turn for longer than any broker takes to answer.`,
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
