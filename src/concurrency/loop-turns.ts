/** Turns of the event loop: long work gives all other work its turn after each few milliseconds. */

/** Length of a turn, except for its last piece. */
const turnMs = 3

export class LoopTurns {
  #sinceMs = performance.now()

  /** To be awaited between two pieces of work. Undefined: the turn is not over yet. */
  next(): Promise<void> | undefined {
    if (performance.now() - this.#sinceMs < turnMs) return undefined
    return new Promise((resolve) =>
      setImmediate(() => {
        this.#sinceMs = performance.now()
        resolve()
      }),
    )
  }
}
