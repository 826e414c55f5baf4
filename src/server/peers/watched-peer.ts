/**
 * Another process as its watcher hears it. One call `alive` is open all the time.
 *
 *   unknown ──alive──► heard ──says so──► leaving
 *                      ├──nothing listens there, or its front says that it is gone──► refused
 *                      ├──says for a second that no broker answers it──► deaf
 *                      └──no answer for 2 s──► silent
 *
 * An answer leads back to heard from everywhere. About one that was never heard nothing can be said. A front may end alone, so behind one refusals count after a second.
 */
import { type Clock, waitFor } from '../../ground/clock/index.ts'
import { isRefused } from '../../ground/network/index.ts'

/** `gone`: the front of this process answers, and its engine is dead. `deaf`: no broker answers it. */
export type PeerState = 'alive' | 'leaving' | 'gone' | 'deaf'

/** Another process, as its watcher calls it. */
export interface Peer {
  /** The answer comes after `aliveHoldMs`, so that a connection is open all the time. */
  alive(): Promise<PeerState>
  /** Milliseconds since the callee has heard an instance; null if it does not watch it, or never heard it. */
  hears(instance: string): Promise<number | null>
}

export interface SeenPeer {
  instance: string
  url: string
  /** Those in the groups. A member that has joined again has another one. */
  memberIds: string
  hasFront: boolean
}

/** Silence after which the other watcher is asked. */
export const silentMsMax = 2_000
/** How long it is deaf, while its watcher hears brokers, before it is removed. */
export const deafMsMax = 1_000
/** How long the front of a process may refuse connections. */
export const frontRefusedMsMax = 1_000
/** Between two calls, so that one that answers or fails at once is not called in a loop. */
const againMs = 100

export class WatchedPeer {
  readonly seen: SeenPeer
  /** The other members that watch it. */
  others: readonly Peer[] = []
  /** Whether its group has no third member. Then a broker is the witness. */
  isAlone = false
  /** Steady time before which it is not judged again. */
  judgedAgainAtMs = 0
  /** Undefined: it was never heard. */
  #silentMs: number | undefined
  /** Undefined: a broker answers it. */
  #deafMs: number | undefined
  #refusedSinceMs: number | undefined
  #isRefused = false
  #isLeaving = false
  readonly #clock: Clock
  readonly #ending = new AbortController()

  constructor(seen: SeenPeer, peer: Peer, clock: Clock) {
    this.seen = seen
    this.#clock = clock
    void this.#listen(peer)
  }

  /** It is watched no longer. */
  end(): void {
    this.#ending.abort()
  }

  get condition(): 'unknown' | 'heard' | 'leaving' | 'refused' | 'deaf' | 'silent' {
    if (this.#silentMs === undefined) return 'unknown'
    if (this.#isLeaving) return 'leaving'
    if (this.#isRefused) return 'refused'
    if (this.#deafMs !== undefined && this.#deafMs >= deafMsMax) return 'deaf'
    return this.#silentMs >= silentMsMax ? 'silent' : 'heard'
  }

  /** Undefined: it was never heard. */
  get silentMs(): number | undefined {
    return this.#silentMs
  }

  /** Time has passed in which this process could hear. Where no broker answers this one either, it is the brokers that are away. */
  passed(ms: number, { hearsBrokers }: { hearsBrokers: boolean }): void {
    if (this.#silentMs !== undefined) this.#silentMs += ms
    if (this.#deafMs !== undefined) this.#deafMs = hearsBrokers ? this.#deafMs + ms : 0
  }

  async #listen(peer: Peer): Promise<void> {
    const { signal } = this.#ending
    while (!signal.aborted) {
      const calledAtMs = this.#clock.steadyMs()
      try {
        this.#answered(await peer.alive())
      } catch (error) {
        if (isRefused(error)) this.#refused(this.seen.hasFront ? frontRefusedMsMax : 0)
      }
      const leftMs = againMs - (this.#clock.steadyMs() - calledAtMs)
      if (leftMs > 0) await waitFor(leftMs, this.#clock, signal).catch(() => undefined)
    }
  }

  /** An answer that is none of the four counts as silence. */
  #answered(state: PeerState): void {
    if (state === 'gone') this.#refused(0)
    if (state !== 'alive' && state !== 'leaving' && state !== 'deaf') return
    this.#silentMs = 0
    this.#deafMs = state === 'deaf' ? (this.#deafMs ?? 0) : undefined
    this.#isLeaving = state === 'leaving'
    this.#refusedSinceMs = undefined
    this.#isRefused = false
  }

  #refused(msMin: number): void {
    const nowMs = this.#clock.steadyMs()
    this.#refusedSinceMs ??= nowMs
    this.#isRefused = nowMs - this.#refusedSinceMs >= msMin
  }
}
