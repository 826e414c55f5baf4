/**
 * Detects a broker that only this process cannot reach; the process is isolated then. Kafka replaces a broker that is lost to everyone within 9 to 14 s, and
 * others take over its partitions. A broker that is silent for us for longer, while other brokers count it as alive, remains the
 * leader. Everything that this process has to write to it or read from it then waits until the link is repaired, while other
 * processes could do the work (ADR 0067).
 *
 *   reaches all ──a broker is silent for 10 s, and others count it──► isolated ──it answers, or is counted no more──► reaches all
 *
 * Each change costs two rebalances and as many takeovers. So after a link that fails again soon, the process waits until the link
 * stays up, longer each time.
 */
import type { Logger } from '../../../ground/logging/index.ts'

/**
 * Together with the 3 to 6 s until a broker counts as silent, this is at least as long as Kafka needs to replace a lost broker.
 */
const silentMs = 10_000
const lookMs = 3_000
/** Interval while all silent brokers are lost to everyone else too. */
const lostLookMs = 30_000
/** After this time without isolation, the next one counts as the first again. */
const forgottenMs = 600_000
/**
 * How long all brokers must be reachable before the second isolation ends. The time doubles with each further one, up to the
 * maximum.
 */
const steadyMsMin = 60_000
const steadyMsMax = 600_000

export interface BrokerIsolationOptions {
  /** Addresses of silent brokers, and since when, by the steady clock. */
  silent(): ReadonlyMap<string, number>
  /** Keeps probing a silent broker that no client may want any more. */
  want(address: string): void
  /** Addresses of the brokers that Kafka counts as alive, according to another broker. */
  living(): Promise<string[]>
  logger: Pick<Logger, 'info' | 'warn' | 'debug'>
  /** Steady clock, in ms. */
  nowMs?(): number
}

export class BrokerIsolation {
  readonly #options: BrokerIsolationOptions
  readonly #listeners = new Set<() => void>()
  #timer: NodeJS.Timeout | undefined
  #broker: string | undefined
  #isChecking = false
  /**
   * How long all brokers must be reachable until the isolation ends, and since when they are. By the steady clock, like all times
   * here.
   */
  #steadyMs = 0
  #reachSinceMs: number | undefined
  #endedAtMs = Number.NEGATIVE_INFINITY

  constructor(options: BrokerIsolationOptions) {
    this.#options = options
  }

  get isIsolated(): boolean {
    return this.#broker !== undefined
  }

  /** Calls the listener at each change. Returns its unsubscribe function. Brokers are examined only while there is a listener. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    this.changed()
    return () => this.#listeners.delete(listener)
  }

  /** A broker has become silent, or answers again. */
  changed(): void {
    if (this.#listeners.size === 0 || this.#isChecking) return
    clearTimeout(this.#timer)
    void this.#check()
  }

  async #check(): Promise<void> {
    const { silent, want } = this.#options
    this.#isChecking = true
    const now = this.#nowMs
    const long = [...silent()].filter(([, since]) => now - since >= silentMs).map(([address]) => address)
    const living = long.length === 0 ? [] : await this.#living()
    this.#isChecking = false
    const found = living === undefined ? this.#broker : long.find((address) => living.includes(address))
    // It may have answered during the request.
    this.#found(found !== undefined && silent().has(found) ? found : undefined)
    // A broker that was removed from the cluster is not probed forever: nothing wants it.
    const wanted = [...silent().keys()].filter(
      (address) => living === undefined || !long.includes(address) || living.includes(address),
    )
    for (const address of wanted) want(address)
    const nowThen = this.#nowMs
    const times = [...silent().values()].map((since) => since + silentMs)
    if (silent().size > 0) times.push(nowThen + (wanted.length > 0 ? lookMs : lostLookMs))
    if (this.#reachSinceMs !== undefined) times.push(this.#reachSinceMs + this.#steadyMs)
    const untilMs = Math.min(...times.filter((atMs) => atMs > nowThen))
    if (untilMs < Number.POSITIVE_INFINITY) this.#timer = setTimeout(() => this.changed(), untilMs - nowThen).unref()
  }

  get #nowMs(): number {
    return this.#options.nowMs?.() ?? performance.now()
  }

  /** Undefined if no broker answers: then the state stays as it is. */
  async #living(): Promise<string[] | undefined> {
    try {
      return await this.#options.living()
    } catch (error) {
      this.#options.logger.debug({ event: 'living-brokers-unknown', err: error }, 'No broker said which brokers live.')
      return undefined
    }
  }

  /** `broker`: the one that only this process cannot reach. */
  #found(broker: string | undefined): void {
    const nowMs = this.#nowMs
    if (broker !== undefined) {
      if (this.#broker === undefined) {
        const isFirst = nowMs - this.#endedAtMs >= forgottenMs
        this.#steadyMs = isFirst ? 0 : Math.min(Math.max(steadyMsMin, 2 * this.#steadyMs), steadyMsMax)
      }
      this.#reachSinceMs = undefined
      return this.#tell(broker)
    }
    if (this.#broker === undefined) return
    this.#reachSinceMs ??= nowMs
    if (nowMs - this.#reachSinceMs < this.#steadyMs) return
    this.#reachSinceMs = undefined
    this.#endedAtMs = nowMs
    this.#tell(undefined)
  }

  #tell(broker: string | undefined): void {
    const before = this.#broker
    this.#broker = broker
    if ((before === undefined) === (broker === undefined)) return
    const { logger } = this.#options
    if (broker === undefined)
      logger.info(
        { event: 'broker-isolation-ended', broker: before },
        'No broker that others reach is out of reach of this process any more.',
      )
    else
      logger.warn(
        { event: 'broker-out-of-reach', broker },
        `Broker ${broker} is out of reach of this process, and others reach it. Look at the network between them.`,
      )
    for (const listener of this.#listeners) listener()
  }
}
