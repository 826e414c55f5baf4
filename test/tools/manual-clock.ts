/** Time that moves when the test says so, and wall clocks upon it that may be wrong, step and stop. */
import type { Clock } from '../../src/clock/clock.ts'

interface Task {
  clock: ManualClock
  atMs: number
  /** True time by which as much time has passed as it was away when it was armed. */
  steadyAtMs: number
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

  /** Tasks that wait. */
  get armed(): number {
    return this.#tasks.size
  }

  /** Time passes: what falls due on the way is run in its order, and between two instants what it started comes to rest. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.nowMs + ms
    while (this.nextMs <= untilMs) {
      this.nowMs = Math.max(this.nowMs, this.nextMs)
      this.runDue()
      await rest()
    }
    this.nowMs = untilMs
    await rest()
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

const trueMs = (task: Task): number => Math.min(task.atMs - task.clock.skewMs, task.steadyAtMs)

/** The clocks of one machine. */
export class ManualClock implements Clock {
  readonly #time: VirtualTime
  /** Wall clock minus true time. */
  skewMs = 0
  /** Whoever waits for it waits until it goes on. */
  stopped = false
  /** Time in which the machine slept, and its steady clock with it. */
  asleepMs = 0

  /** Alone it has a time of its own, that begins with `time`. */
  constructor(time: VirtualTime | number = new VirtualTime()) {
    this.#time = typeof time === 'number' ? new VirtualTime(time) : time
  }

  /** Tasks that wait upon its time. */
  get armed(): number {
    return this.#time.armed
  }

  /** Moves its time. */
  advance(ms: number): Promise<void> {
    return this.#time.advance(ms)
  }

  nowMs(): number {
    return this.#time.nowMs + this.skewMs
  }

  steadyMs(): number {
    return this.#time.nowMs - this.asleepMs
  }

  at(atMs: number, task: () => void): () => void {
    return this.#time.arm({ clock: this, atMs, steadyAtMs: this.#time.nowMs + atMs - this.nowMs(), run: task })
  }
}

/** Lets everything that needs no clock come to rest: promises and immediates, some turns deep. */
export async function rest(): Promise<void> {
  for (let runCommitCycle = 0; runCommitCycle < 12; runCommitCycle++) await new Promise((resolve) => setImmediate(resolve))
}
