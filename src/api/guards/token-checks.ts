/**
 * Concurrent checks of tokens. Each may be of a wrong token, so the number of concurrent checks is limited by the wrong tokens
 * that are still allowed: concurrent guesses get no more tries than sequential ones. Further checks wait until one ends.
 */
import { DuelogError } from '../../errors/index.ts'

export interface TokenChecksOptions {
  /** Wrong tokens that a network may still send, fractions included. */
  left(network: string): number
  leftInAll(): number
}

interface Waiting {
  isOfProvider: boolean
  begin(): void
  refuse(reason: unknown): void
}

/** A token is not checked because too many were wrong. */
export class NoneLeft extends Error {}

export class TokenChecks {
  readonly #options: TokenChecksOptions
  readonly #underWay = new Map<string, number>()
  #underWayInAll = 0
  /** Waiting checks of each network, oldest first. */
  readonly #waiting = new Map<string, Waiting[]>()

  constructor(options: TokenChecksOptions) {
    this.#options = options
  }

  /**
   * Runs `look` in its turn and resolves with its result. Rejects as `look` does, and with NoneLeft. `isOfProvider`: only the
   * identity provider can judge the token.
   */
  async run<Found>(network: string, isOfProvider: boolean, look: () => Promise<Found>): Promise<Found> {
    if (this.#waiting.has(network) || !this.#begins(network)) await this.#waitForSlot(network, isOfProvider)
    try {
      return await look()
    } catch (thrown) {
      if (thrown instanceof DuelogError && thrown.code === 'identity-unavailable') this.#giveUp(thrown)
      throw thrown
    } finally {
      this.#count(network, -1)
      this.#serve(network)
      for (const other of this.#waiting.keys()) if (this.#underWayInAll < this.#options.leftInAll()) this.#serve(other)
    }
  }

  /** False if it must wait. Throws NoneLeft. */
  #begins(network: string): boolean {
    const [left, leftInAll] = [this.#options.left(network), this.#options.leftInAll()]
    if (left < 1 || leftInAll < 1) throw new NoneLeft()
    if ((this.#underWay.get(network) ?? 0) + 1 > left || this.#underWayInAll + 1 > leftInAll) return false
    this.#count(network, 1)
    return true
  }

  #waitForSlot(network: string, isOfProvider: boolean): Promise<void> {
    return new Promise((begin, refuse) => {
      const waiting = { isOfProvider, begin, refuse }
      const queue = this.#waiting.get(network)
      if (queue === undefined) this.#waiting.set(network, [waiting])
      else queue.push(waiting)
    })
  }

  #serve(network: string): void {
    const queue = this.#waiting.get(network) ?? []
    for (let first = queue[0]; first !== undefined; first = queue[0]) {
      try {
        if (!this.#begins(network)) return
        first.begin()
      } catch (thrown) {
        first.refuse(thrown)
      }
      queue.shift()
    }
    this.#waiting.delete(network)
  }

  /** Each of these would wait equally long for the provider, one after another. */
  #giveUp(reason: unknown): void {
    for (const [network, queue] of this.#waiting) {
      for (const waiting of queue) if (waiting.isOfProvider) waiting.refuse(reason)
      const rest = queue.filter(({ isOfProvider }) => !isOfProvider)
      if (rest.length > 0) this.#waiting.set(network, rest)
      else this.#waiting.delete(network)
    }
  }

  #count(network: string, by: 1 | -1): void {
    this.#underWayInAll += by
    const count = (this.#underWay.get(network) ?? 0) + by
    if (count > 0) this.#underWay.set(network, count)
    else this.#underWay.delete(network)
  }
}
