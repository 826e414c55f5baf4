/**
 * The time of the event loop that may go to searches for times which can wait: of calculations for whoever asks, of forecasts, of definitions
 * as they are read. Beside them runs fire to the millisecond, in the same thread. So each piece of a search is followed by a rest, the longer
 * the busier the loop is with all it does: what a search leads to, such as a definition that is folded and stored, costs more than the search.
 *
 * No verdict depends on it; it only says when work goes on. It goes on in any case, though seldom.
 */
import { performance } from 'node:perf_hooks'
import { setImmediate, setTimeout } from 'node:timers/promises'

/** A loop that is busier than this is late soon: whatever comes waits for several others. */
export const busyMax = 0.8
/** After a ms of search, how many of rest: while the loop is idle otherwise, and at most. */
export const restsMin = 1
export const restsMax = 64
/** How long the loop is looked at before the rests change. */
export const lookMs = 50
/** What was seen so long ago says nothing any more. */
const staleMs = 1_000
/** Rests are twice as long where the loop is too busy, and this much of what they were where it is not. */
const [longer, shorter] = [2, 0.9]
/** A piece that waited for the processor was not all work, so none is followed by a longer rest. */
export const restMsMax = 200
/** Less is no search, but what reading some definitions of the ordinary kind takes. */
const leastMs = 0.1

export interface LoopMeter {
  /** Steady. */
  nowMs(): number
  /** For how long the loop has been busy since it began. */
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
  #lookedMs: number
  #busyMs: number
  /** Until when those who rest do so: one after another, or many at once would leave others as little as one that rests for nothing. */
  #untilMs = Number.NEGATIVE_INFINITY

  /** `restFor`: resolves so long after the call, and when others have run. */
  constructor(meter: LoopMeter = loopOfThread, restFor: (ms: number) => Promise<unknown> = restForMs) {
    this.#meter = meter
    this.#restFor = restFor
    this.#lookedMs = meter.nowMs()
    this.#busyMs = meter.busyMs()
  }

  /** To be awaited after a piece of searching that took so long: others have their turn, and the rest of the process what it needs. */
  async rest(usedMs: number): Promise<void> {
    const nowMs = this.#meter.nowMs()
    this.#look(nowMs)
    // Who has hardly searched waits for nobody who has, as definitions without a rule that are read beside them.
    if (usedMs < leastMs) return void (await this.#restFor(0))
    const restMs = Math.min(usedMs * this.#rests, restMsMax)
    this.#untilMs = Math.max(this.#untilMs, nowMs) + restMs
    await this.#restFor(this.#untilMs - nowMs)
  }

  #look(nowMs: number): void {
    const tookMs = nowMs - this.#lookedMs
    if (tookMs < lookMs) return
    const busyMs = this.#meter.busyMs()
    const isBusy = (busyMs - this.#busyMs) / tookMs > busyMax
    if (tookMs > staleMs) this.#rests = restsMin
    else this.#rests = isBusy ? Math.min(restsMax, this.#rests * longer) : Math.max(restsMin, this.#rests * shorter)
    this.#lookedMs = nowMs
    this.#busyMs = busyMs
  }
}

/** That of this thread, which has one loop for all that it does. */
export const idleTime = new IdleTime()

function restForMs(ms: number): Promise<unknown> {
  return ms < 1 ? setImmediate() : setTimeout(ms)
}
