/**
 * Turns and idle time of the event loop. Long work gives all other work its turn. Idle time is for what an owner searches and can wait: forecasts from its store, and definitions as it reads them.
 * Runs fire to the millisecond in the same thread. So each piece of a search is followed by a rest. The busier the loop is, the
 * longer the rest, because the work after a search, such as applying and storing a definition, costs more than the search.
 *
 * No result depends on it. It only decides when work continues. Work always continues, but with a busy loop rarely.
 */
import { performance } from 'node:perf_hooks'
import { setImmediate, setTimeout } from 'node:timers/promises'

/** A loop that is busier than this share is soon late, because each new task waits for several others. */
export const busyMax = 0.8
/** Milliseconds of rest after one millisecond of search: the minimum, for an idle loop, and the maximum. */
export const restsMin = 1
export const restsMax = 64
/** How long the loop is measured before the rests change. */
export const lookMs = 50
/** A measurement that is older than this is dropped. */
const staleMs = 1_000
/** The rests are multiplied by the first factor if the loop is too busy, else by the second. */
const [longer, shorter] = [2, 0.9]
/** Longest rest. A piece that took long may have waited for the processor, so not all of it was work. */
export const restMsMax = 200
/** A shorter piece is not a search. Reading some ordinary definitions takes as long. */
const leastMs = 0.1

export interface LoopMeter {
  /** Time by a steady clock. */
  nowMs(): number
  /** Total time that the loop was busy. */
  busyMs(): number
}

const loopOfThread: LoopMeter = {
  nowMs: () => performance.now(),
  busyMs: () => performance.eventLoopUtilization().active,
}

export class IdleTime {
  readonly #meter: LoopMeter
  readonly #restFor: (ms: number) => Promise<unknown>
  #rests = restsMin
  #measuredMs: number
  #busyMs: number
  /** End of the last rest. Rests follow one another; many concurrent searches that rest at the same time would leave the others no time. */
  #untilMs = Number.NEGATIVE_INFINITY

  /** `restFor`: resolves after this time, and after other tasks have run. */
  constructor(meter: LoopMeter = loopOfThread, restFor: (ms: number) => Promise<unknown> = restForMs) {
    this.#meter = meter
    this.#restFor = restFor
    this.#measuredMs = meter.nowMs()
    this.#busyMs = meter.busyMs()
  }

  /** Must be awaited after a piece of search that took `usedMs`, so that other searches and the rest of the process can run. */
  async rest(usedMs: number): Promise<void> {
    const nowMs = this.#meter.nowMs()
    this.#measure(nowMs)
    // A very short piece, such as a definition without a rule, does not wait for the rests of searches.
    if (usedMs < leastMs) return void (await this.#restFor(0))
    const restMs = Math.min(usedMs * this.#rests, restMsMax)
    this.#untilMs = Math.max(this.#untilMs, nowMs) + restMs
    await this.#restFor(this.#untilMs - nowMs)
  }

  #measure(nowMs: number): void {
    const tookMs = nowMs - this.#measuredMs
    if (tookMs < lookMs) return
    const busyMs = this.#meter.busyMs()
    const isBusy = (busyMs - this.#busyMs) / tookMs > busyMax
    if (tookMs > staleMs) this.#rests = restsMin
    else this.#rests = isBusy ? Math.min(restsMax, this.#rests * longer) : Math.max(restsMin, this.#rests * shorter)
    this.#measuredMs = nowMs
    this.#busyMs = busyMs
  }
}

/** The idle time of this thread: it has one loop for all its work. */
export const idleTime = new IdleTime()

function restForMs(ms: number): Promise<unknown> {
  return ms < 1 ? setImmediate() : setTimeout(ms)
}

/** Length of a turn, except for its last piece. */
const turnMs = 3

/** Turns of the event loop: long work gives all other work its turn after each few milliseconds. */
export class LoopTurns {
  #sinceMs = performance.now()

  /** To be awaited between two pieces of work. Undefined: the turn is not over yet. */
  next(): Promise<void> | undefined {
    if (performance.now() - this.#sinceMs < turnMs) return undefined
    return setImmediate().then(() => {
      this.#sinceMs = performance.now()
    })
  }
}
