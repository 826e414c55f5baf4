/**
 * All brokers that this process has connections to. Each is watched by one look for all of its clients (watched-broker.ts); from here it can
 * be heard which are silent.
 */
import type { ISocketFactory } from 'kafkajs'
import { openSocket, WatchedBroker, type WatchedBrokerOptions } from './watched-broker.ts'

/** `open`: default plain TCP, or TLS. */
export type WatchedBrokersOptions = Pick<WatchedBrokerOptions, 'patience' | 'logger'> & { open?: ISocketFactory | undefined }

export class WatchedBrokers {
  readonly #options: Pick<WatchedBrokerOptions, 'patience' | 'logger' | 'open'>
  /** By address, while there are connections or doubts, or while it is slow. */
  readonly #brokers = new Map<string, WatchedBroker>()
  readonly #silent = new Map<string, number>()
  readonly #listeners = new Set<() => void>()
  readonly #awayListeners = new Set<(isAway: boolean) => void>()
  #isAway = false

  constructor(options: WatchedBrokersOptions) {
    this.#options = { ...options, open: options.open ?? openSocket }
  }

  readonly open: ISocketFactory = (to) => {
    const address = `${to.host}:${to.port}`
    let broker = this.#brokers.get(address)
    if (broker === undefined) {
      broker = new WatchedBroker(address, {
        ...this.#options,
        onIdle: () => this.#brokers.delete(address),
        onStanding: (isSilent) => this.#told(address, isSilent),
        onHeard: (isAnswer) => this.#heard(!isAnswer),
      })
      this.#brokers.set(address, broker)
    }
    return broker.connect(to)
  }

  /** Addresses that have not answered, and since when, by `performance.now()`. */
  get silent(): ReadonlyMap<string, number> {
    return this.#silent
  }

  /**
   * Where a new client may begin: at the addresses that it was given, then at any broker that this process has connections to. Those that are
   * silent come last: where they alone were given, nobody new would find the others.
   */
  seeds(given: readonly string[]): string[] {
    const all = [...new Set([...given, ...this.#brokers.keys()])]
    return [...all.filter((address) => !this.#silent.has(address)), ...all.filter((address) => this.#silent.has(address))]
  }

  /** Hears when a broker falls silent, and when one is silent no more. Returns how to hear no more. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /**
   * Hears whether brokers are away: one could not be reached, or owes what it answers at once, and none has answered anything since. At once
   * where they are. Returns how to hear no more.
   */
  onAway(listener: (isAway: boolean) => void): () => void {
    this.#awayListeners.add(listener)
    if (this.#isAway) listener(true)
    return () => this.#awayListeners.delete(listener)
  }

  /** A silent broker is asked for another minute whether it is there, also while nobody connects to it. */
  want(address: string): void {
    this.#brokers.get(address)?.want()
  }

  #heard(isAway: boolean): void {
    if (isAway === this.#isAway) return
    this.#isAway = isAway
    for (const listener of this.#awayListeners) listener(isAway)
  }

  #told(address: string, isSilent: boolean): void {
    if (isSilent) this.#silent.set(address, performance.now())
    else this.#silent.delete(address)
    for (const listener of this.#listeners) listener()
  }
}
