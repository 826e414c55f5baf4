/** The virtual time of src/testing, for tests of other rooms, which move it themselves. */
import { ManualClock as SimulatedClock, VirtualTime as SimulatedTime } from '../../src/testing/simulation/manual-clock.ts'

export class VirtualTime extends SimulatedTime {
  /** Lets time pass. Due tasks run in their order, and after each of them everything that it started settles. */
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
}

export class ManualClock extends SimulatedClock {
  readonly #own: VirtualTime

  /** Without a given time it makes its own, which begins at `time`. */
  constructor(time: VirtualTime | number = new VirtualTime()) {
    const own = typeof time === 'number' ? new VirtualTime(time) : time
    super(own)
    this.#own = own
  }

  /** The number of tasks that wait on its time. */
  get armed(): number {
    return this.#own.armed
  }

  /** Moves its time. */
  advance(ms: number): Promise<void> {
    return this.#own.advance(ms)
  }
}

/** Waits until everything that needs no clock has settled: promises and immediates, several rounds of the event loop. */
export async function rest(): Promise<void> {
  for (let runCommitCycle = 0; runCommitCycle < 12; runCommitCycle++) await new Promise((resolve) => setImmediate(resolve))
}
