/** Time that the test moves, and wall clocks on it that may be wrong, step and stop. */
import type { Clock } from '../../ground/clock/index.ts'

interface Task {
  clock: ManualClock
  atMs: number
  /** The true time at which the delay is over, counted from when the task was scheduled. */
  steadyAtMs: number
  /** True time of the next look at the clocks. */
  lookAtMs: number
  run: () => void
}

/** As on a machine: a wall clock that steps ahead ends no wait before the next look at it. */
const lookMsMax = 60_000

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

  /** True time at which the next task is due; Infinity if none waits. Tasks of stopped clocks do not count. */
  get nextMs(): number {
    const next = this.#next()
    return next === undefined ? Number.POSITIVE_INFINITY : trueMs(next)
  }

  /** The number of waiting tasks. */
  get armed(): number {
    return this.#tasks.size
  }

  /** Runs the next task if it is due, and returns whether one ran. */
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
      if (task.lookAtMs <= this.nowMs) task.lookAtMs = nextLookMs(task, this.nowMs)
      if (!task.clock.stopped && (first === undefined || trueMs(task) < trueMs(first))) first = task
    }
    return first
  }
}

const wallMs = ({ atMs, clock }: Pick<Task, 'atMs' | 'clock'>): number => atMs - clock.skewMs

const trueMs = (task: Task): number => (wallMs(task) < task.steadyAtMs ? task.lookAtMs : task.steadyAtMs)

/** Not after `nowMs` if the task is due. */
const nextLookMs = (task: Pick<Task, 'atMs' | 'clock' | 'steadyAtMs'>, nowMs: number): number =>
  Math.min(wallMs(task), task.steadyAtMs, nowMs + lookMsMax)

/** The clocks of one machine. */
export class ManualClock implements Clock {
  readonly #time: VirtualTime
  /** Wall clock minus true time. */
  skewMs = 0
  /** While it is true, tasks of this clock wait. */
  stopped = false
  /** The time that the machine slept. Its steady clock slept too. */
  asleepMs = 0

  constructor(time: VirtualTime) {
    this.#time = time
  }

  nowMs(): number {
    return this.#time.nowMs + this.skewMs
  }

  steadyMs(): number {
    return this.#time.nowMs - this.asleepMs
  }

  at(atMs: number, task: () => void): () => void {
    const wait = { clock: this, atMs, steadyAtMs: this.#time.nowMs + atMs - this.nowMs() }
    return this.#time.arm({ ...wait, lookAtMs: nextLookMs(wait, this.#time.nowMs), run: task })
  }
}
