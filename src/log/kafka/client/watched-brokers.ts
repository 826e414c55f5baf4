/**
 * All brokers to which this process has connections. All clients of a broker share one probe (watched-broker.ts). Listeners learn
 * which brokers are silent.
 */
import type { ISocketFactory } from 'kafkajs'
import { openSocket, WatchedBroker, type WatchedBrokerOptions } from './watched-broker.ts'

/** `open`: default plain TCP, or TLS. */
export type WatchedBrokersOptions = Pick<WatchedBrokerOptions, 'timeouts' | 'logger'> & { open?: ISocketFactory | undefined }

export class WatchedBrokers {
  readonly #options: Pick<WatchedBrokerOptions, 'timeouts' | 'logger' | 'open'>
  /** By address, while there are connections or doubts, or while the broker is slow. */
  readonly #brokers = new Map<string, WatchedBroker>()
  readonly #silent = new Map<string, number>()
  readonly #listeners = new Set<() => void>()
  readonly #awayListeners = new Set<(isAway: boolean) => void>()
  #isAway = false
  #heardAtMs = 0

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
        onSilenceChange: (isSilent) => this.#silenceChanged(address, isSilent),
        onResponse: (isAnswer) => this.#responded(!isAnswer),
      })
      this.#brokers.set(address, broker)
    }
    return broker.connect(to)
  }

  /** Addresses of silent brokers, and since when, by `performance.now()`. */
  get silent(): ReadonlyMap<string, number> {
    return this.#silent
  }

  /**
   * Addresses at which a new client may begin: the configured ones, then all brokers to which this process has connections.
   * Silent ones come last. If all configured ones are silent, a new client still finds the others.
   */
  seeds(given: readonly string[]): string[] {
    const all = [...new Set([...given, ...this.#brokers.keys()])]
    return [...all.filter((address) => !this.#silent.has(address)), ...all.filter((address) => this.#silent.has(address))]
  }

  /** Calls the listener when a broker becomes silent, and when it answers again. Returns its unsubscribe function. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /**
   * Reports whether brokers are unreachable: a connect failed or a quick answer is overdue, and no broker has answered anything
   * since. Called at once if they are. Returns its unsubscribe function.
   */
  onAway(listener: (isAway: boolean) => void): () => void {
    this.#awayListeners.add(listener)
    if (this.#isAway) listener(true)
    return () => this.#awayListeners.delete(listener)
  }

  /** When a broker last sent anything to this process, by `performance.now()`; 0: none ever did. */
  get heardAtMs(): number {
    return this.#heardAtMs
  }

  /** Keeps probing a silent broker for another minute, even if nothing connects to it. */
  want(address: string): void {
    this.#brokers.get(address)?.want()
  }

  #responded(isAway: boolean): void {
    if (!isAway) this.#heardAtMs = performance.now()
    if (isAway === this.#isAway) return
    this.#isAway = isAway
    for (const listener of this.#awayListeners) listener(isAway)
  }

  #silenceChanged(address: string, isSilent: boolean): void {
    if (isSilent) this.#silent.set(address, performance.now())
    else this.#silent.delete(address)
    for (const listener of this.#listeners) listener()
  }
}
