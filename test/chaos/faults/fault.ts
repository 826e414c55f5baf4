/** One fault: what it is called, what it does, and which row of the goals it stands for. */
import type { Place } from '../places.ts'
import type { Stage } from '../stage.ts'

export interface Fault {
  name: string
  /** One sentence. */
  what: string
  /** The goal it is measured against, in words, and the longest lateness in ms that it allows; undefined: none is stated. */
  goal?: { words: string; longestMs?: number; afterMs?: number }
  /** Why it cannot be had here; undefined: it can. */
  missing?(stage: Stage): Promise<string | undefined> | string | undefined
  /** Places whose program may end of it by itself; wherever else one does, that is a finding. */
  mayEnd?: readonly Place[]
  /**
   * Begins, and resolves when its cause is over. What it ended it has started again by then. Rejects where its cause did not take effect:
   * a fault that did not happen proves nothing.
   */
  run(stage: Stage): Promise<void>
}
