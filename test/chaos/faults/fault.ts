/** One fault: its name, what it does, and the goal it is measured against. */
import type { Place } from '../places.ts'
import type { Stage } from '../stage.ts'

export interface Fault {
  name: string
  /** One sentence. */
  what: string
  /** The goal in words, and the longest lateness in ms that it allows. Undefined: there is no goal. */
  goal?: { words: string; longestMs?: number; afterMs?: number }
  /** Why this machine cannot cause the fault; undefined: it can. */
  missing?(stage: Stage): Promise<string | undefined> | string | undefined
  /** Places whose program may end during the fault. An end anywhere else is a finding. */
  mayEnd?: readonly Place[]
  /**
   * Runs the fault, and resolves when its cause is over. It has restarted by then what it ended. Rejects if the cause did not
   * take effect, because a fault that did not happen proves nothing.
   */
  run(stage: Stage): Promise<void>
}
