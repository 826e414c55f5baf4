/** Time that moves when the test says so, and wall clocks upon it that may be wrong, step and stop. */
import type { Clock } from '../../src/clock.ts'

interface Task {
  clock: ManualClock
  atMs: number
  run: () => void
}

/** True time. It never goes back. */
export class VirtualTime {
  nowMs: number
  readonly #tasks = new Set<Task>()

  constructor(nowMs = 1_800_000_000_000) {
    this.nowMs = nowMs
  }

  arm(task: Task): () => void {
    this.#tasks.add(task)
    return () => this.#tasks.delete(task)
  }

  /** True time at which the next task is due; Infinity when none waits. Tasks of stopped clocks do not count. */
  get nextMs(): number {
    const next = this.#next()
    return next === undefined ? Number.POSITIVE_INFINITY : trueMs(next)
  }

  /** Runs the next task when it is due, and says whether one was. */
  runDue(): boolean {
    const next = this.#next()
    if (next === undefined || trueMs(next) > this.nowMs) return false
    this.#tasks.delete(next)
    next.run()
    return true
  }

  #next(): Task | undefined {
    let first: Task | undefined
    for (const task of this.#tasks) {
      if (!task.clock.stopped && (first === undefined || trueMs(task) < trueMs(first))) first = task
    }
    return first
  }
}

const trueMs = (task: Task): number => task.atMs - task.clock.skewMs

/** The wall clock of one machine. */
export class ManualClock implements Clock {
  readonly #time: VirtualTime
  /** Wall clock minus true time. */
  skewMs = 0
  /** Whoever waits for it waits until it goes on. */
  stopped = false

  constructor(time = new VirtualTime()) {
    this.#time = time
  }

  nowMs(): number {
    return this.#time.nowMs + this.skewMs
  }

  at(atMs: number, task: () => void): () => void {
    return this.#time.arm({ clock: this, atMs, run: task })
  }
}
