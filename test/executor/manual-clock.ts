/** A clock that moves when the test says so. */
import type { Clock } from '../../src/clock.ts'

export class ManualClock implements Clock {
  #nowMs: number
  #tasks: { atMs: number; task: () => void }[] = []

  constructor(nowMs = 1_000_000) {
    this.#nowMs = nowMs
  }

  nowMs(): number {
    return this.#nowMs
  }

  at(atMs: number, task: () => void): () => void {
    const entry = { atMs, task }
    this.#tasks.push(entry)
    return () => {
      this.#tasks = this.#tasks.filter((other) => other !== entry)
    }
  }

  /** Timers that are armed. */
  get armed(): number {
    return this.#tasks.length
  }

  /** Runs what falls due on the way, in order of time; between two instants, what they started comes to rest. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#nowMs + ms
    for (;;) {
      const next = this.#tasks.filter(({ atMs }) => atMs <= untilMs).sort((a, b) => a.atMs - b.atMs)[0]
      if (next === undefined) break
      this.#tasks = this.#tasks.filter((other) => other !== next)
      this.#nowMs = Math.max(this.#nowMs, next.atMs)
      next.task()
      await rest()
    }
    this.#nowMs = untilMs
    await rest()
  }
}

/** Lets everything that needs no clock come to rest: promises and immediates, some turns deep. */
export async function rest(): Promise<void> {
  for (let turn = 0; turn < 12; turn++) await new Promise((resolve) => setImmediate(resolve))
}
