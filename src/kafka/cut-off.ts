/**
 * Whether this process alone cannot reach a broker. One that is lost to all is left out by Kafka within 9 to 14 s, and others lead what it
 * led. One that is silent for us for longer, and that other brokers count among the living, goes on leading: whatever of it this process
 * has to write or read waits for as long as the cut lasts, while other processes could do it (ADR 0067).
 *
 *   reaches all ──a broker is silent for 10 s, and others count it──► cut off ──it answers, or is counted no more──► reaches all
 */
import { messageOf } from '../errors.ts'

/** With the 3 to 6 s until a broker is found silent as long as Kafka needs to leave out one that is lost, or longer. */
const silentMs = 10_000
const lookMs = 3_000

export interface CutOffOptions {
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

export class CutOff {
  readonly #options: CutOffOptions
  readonly #listeners = new Set<() => void>()
  #timer: NodeJS.Timeout | undefined
  #broker: string | undefined
  #looking = false

  constructor(options: CutOffOptions) {
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
    const { silent, want, nowMs = () => performance.now() } = this.#options
    this.#looking = true
    const now = nowMs()
    const long = [...silent()].filter(([, since]) => now - since >= silentMs).map(([address]) => address)
    const found = long.length === 0 ? undefined : await this.#counted(long)
    this.#looking = false
    // It may have answered while that was asked.
    this.#tell(found !== undefined && silent().has(found) ? found : undefined)
    for (const address of silent().keys()) want(address)
    if (silent().size === 0) return
    const untilMs = [...silent().values()].map((since) => since + silentMs - nowMs()).filter((ms) => ms > 0)
    this.#timer = setTimeout(() => this.changed(), Math.min(lookMs, ...untilMs)).unref()
  }

  /** The first of these brokers that is counted among the living. Where nobody can say, all stays as it is. */
  async #counted(addresses: readonly string[]): Promise<string | undefined> {
    try {
      const living = await this.#options.living()
      return addresses.find((address) => living.includes(address))
    } catch (error) {
      this.#options.logger.debug({ error: messageOf(error) }, 'nobody could say which brokers live')
      return this.#broker
    }
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
