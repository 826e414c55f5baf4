/** A bearer token that is held, renewed before it ends, and asked for once however many connections need it. */

export interface IssuedToken {
  value: string
  /** Time until it ends. */
  livesMs: number
}

export interface BearerTokensOptions {
  ask: () => Promise<IssuedToken>
  /** Called when a token could not be renewed and the one at hand is used on. */
  onLate: (error: unknown) => void
  /** Steady time in ms. Default: that of this process. */
  nowMs?: () => number
}

/**
 * kafkajs signs in again 10 s before a session ends, and brokers refuse more than one sign-in a second. So a token that a connection gets
 * must live longer than that.
 */
export const tokenMsMin = 15_000
/** A token is renewed when it has lived for this part of its life. */
const renewedAfter = 0.8
/** A failed request is not repeated within this time, so that many connections do not flood the provider. */
const failedForMs = 1_000

export class BearerTokens {
  readonly #options: BearerTokensOptions
  #held: { value: string; renewAtMs: number; usableUntilMs: number } | undefined
  #asking: Promise<string> | undefined
  #failure: { error: unknown; untilMs: number } | undefined

  constructor(options: BearerTokensOptions) {
    this.#options = options
  }

  /** Rejects with the error of `ask`. */
  async token(): Promise<string> {
    const held = this.#held
    if (held !== undefined && this.#now() < held.renewAtMs) return held.value
    try {
      if (this.#failure !== undefined && this.#now() < this.#failure.untilMs) throw this.#failure.error
      this.#asking ??= this.#renewed().finally(() => {
        this.#asking = undefined
      })
      return await this.#asking
    } catch (error) {
      if (held === undefined || held !== this.#held || this.#now() >= held.usableUntilMs) throw error
      return held.value
    }
  }

  /** A broker refused this token: the next sign-in gets another one. */
  refused(value: string): void {
    if (this.#held?.value === value) this.#held = undefined
  }

  async #renewed(): Promise<string> {
    const askedAtMs = this.#now()
    try {
      const { value, livesMs } = await this.#options.ask()
      const usableMs = livesMs - tokenMsMin
      // A token that lives too short for a second sign-in is asked for each time.
      this.#held = {
        value,
        renewAtMs: askedAtMs + Math.min(renewedAfter * livesMs, Math.max(0, usableMs)),
        usableUntilMs: askedAtMs + usableMs,
      }
      this.#failure = undefined
      return value
    } catch (error) {
      this.#failure = { error, untilMs: this.#now() + failedForMs }
      if (this.#held !== undefined && this.#now() < this.#held.usableUntilMs) this.#options.onLate(error)
      throw error
    }
  }

  #now(): number {
    return this.#options.nowMs?.() ?? performance.now()
  }
}
