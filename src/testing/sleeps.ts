/** Sleeps in virtual time, of handlers and of tests. */
import { checkSignal } from '../clients/client/index.ts'
import { callOptions, DuelogError } from '../ground/errors/index.ts'
import type { HandlerCalls } from './handler-calls.ts'
import type { ManualClock } from './simulation/index.ts'

/** About 1,000 years; Infinity waits for the signal alone. */
const sleepMsMax = 31_622_400_000_000

/** Throws `bad-request`. */
export function checkMs(ms: unknown, what: string): void {
  if (typeof ms === 'number' && ms >= 0 && ms <= sleepMsMax) return
  throw new DuelogError('bad-request', `${what} is ${String(ms)}; allowed: 0 to ${sleepMsMax}`)
}

export class Sleeps {
  readonly #clock: ManualClock
  readonly #calls: HandlerCalls

  constructor(clock: ManualClock, calls: HandlerCalls) {
    this.#clock = clock
    this.#calls = calls
  }

  /** Rejects with `bad-request`, and with the reason of the signal. */
  async sleep(ms: number, options: { signal?: AbortSignal } | undefined): Promise<void> {
    const { signal } = callOptions<{ signal?: AbortSignal }>('sleep', options, { signal: true })
    checkSignal(signal)
    if (ms !== Number.POSITIVE_INFINITY) checkMs(ms, 'ms of sleep')
    signal?.throwIfAborted()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const sleep = this.#calls.sleeping()
    let cancel = (): void => {}
    const onAbort = (): void => {
      cancel()
      if (sleep.wake()) reject(signal?.reason)
    }
    signal?.addEventListener('abort', onAbort, { once: true })
    const wake = (): void => {
      signal?.removeEventListener('abort', onAbort)
      if (sleep.wake()) resolve()
    }
    if (ms !== Number.POSITIVE_INFINITY) cancel = this.#clock.at(this.#clock.nowMs() + Math.ceil(ms), wake)
    await promise
  }
}
