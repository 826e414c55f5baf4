/**
 * Whether this process alone cannot reach a broker. One that is lost to all is left out by Kafka within 9 to 14 s, and others lead what it
 * led. One that is silent for us for longer, and that other brokers count among the living, goes on leading: whatever of it this process
 * has to write or read waits for as long as the cut lasts, while other processes could do it (ADR 0067).
 *
 *   reaches all ──a broker is silent for 10 s, and others count it──► cut off ──it answers, or is counted no more──► reaches all
 *
 * Each of these is two rebalances, and as many takeovers. So of a link that fails again soon after it came back it is waited for that it
 * stays, longer each time.
 */
import { messageOf } from '../../errors/index.ts'

/** With the 3 to 6 s until a broker is found silent as long as Kafka needs to leave out one that is lost, or longer. */
const silentMs = 10_000
const lookMs = 3_000
/** And while all that are silent are lost to everybody else too. */
const lostLookMs = 30_000
/** So long after a cut the next one is the first one again. */
const forgottenMs = 600_000
/** How long all must be in reach after the second cut, until it is over; after each further one twice as long, up to a maximum. */
const steadyMsMin = 60_000
const steadyMsMax = 600_000

export interface BrokerIsolationOptions {
  /** Addresses that have not answered, and since when by the steady clock. */
  silent(): ReadonlyMap<string, number>
  /** Keeps asking a silent broker, which nobody else may want any more. */
  want(address: string): void
  /** Addresses of the brokers that Kafka counts among the living, as another broker says. */
  living(): Promise<string[]>
  logger: {
    info(facts: object, message: string): void
    warn(facts: object, message: string): void
    debug(facts: object, message: string): void
  }
  /** Steady, in ms. */
  nowMs?(): number
}

export class BrokerIsolation {
  readonly #options: BrokerIsolationOptions
  readonly #listeners = new Set<() => void>()
  #timer: NodeJS.Timeout | undefined
  #broker: string | undefined
  #looking = false
  /** How long all must be in reach until the cut is over, and since when they are; by the steady clock, as all of these. */
  #steadyMs = 0
  #reachSinceMs: number | undefined
  #endedAtMs = Number.NEGATIVE_INFINITY

  constructor(options: BrokerIsolationOptions) {
    this.#options = options
  }

  get isCutOff(): boolean {
    return this.#broker !== undefined
  }

  /** Hears whenever that changes. Returns how to hear no more. Nobody is asked while nobody wants to hear. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    this.changed()
    return () => this.#listeners.delete(listener)
  }

  /** A broker has fallen silent, or answers again. */
  changed(): void {
    if (this.#listeners.size === 0 || this.#looking) return
    clearTimeout(this.#timer)
    void this.#look()
  }

  async #look(): Promise<void> {
    const { silent, want } = this.#options
    this.#looking = true
    const now = this.#nowMs
    const long = [...silent()].filter(([, since]) => now - since >= silentMs).map(([address]) => address)
    const living = long.length === 0 ? [] : await this.#living()
    this.#looking = false
    const found = living === undefined ? this.#broker : long.find((address) => living.includes(address))
    // It may have answered while that was asked.
    this.#found(found !== undefined && silent().has(found) ? found : undefined)
    // A broker that was taken out of the cluster is not asked for ever: nobody wants it.
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

  /** Undefined where nobody can say: then all stays as it is. */
  async #living(): Promise<string[] | undefined> {
    try {
      return await this.#options.living()
    } catch (error) {
      this.#options.logger.debug({ error: messageOf(error) }, 'nobody could say which brokers live')
      return undefined
    }
  }

  /** `broker`: one that is out of our reach alone. */
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
      logger.info({ broker: before }, 'No broker that others reach is out of reach of this process any more.')
    else
      logger.warn(
        { broker },
        `Broker ${broker} is out of reach of this process, and others reach it. Look at the network between them.`,
      )
    for (const listener of this.#listeners) listener()
  }
}
