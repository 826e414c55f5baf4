/**
 * The topics that may be written to inside a partition's transaction: user topics of the allow-list that exist, and our own
 * topics of pools that a worker has started.
 *
 * If one topic is missing or refuses a record, the transaction fails for every job in it. So topics are judged before the write,
 * by the last check. After a failed transaction its topics are checked at once, and the faulty ones are avoided for a while.
 */
import { counted } from '../../../../streams/text/index.ts'
import { executionsRetentionMs, topicAllowance, topicNames, topicsOfPool } from '../../../../streams/topics/index.ts'
import { DuelogError, messageOf } from '../../../ground/errors/index.ts'
import type { TargetTopics } from '../../../ground/ports/index.ts'
import { type BrokerAdmin, batchBytesMax, type KafkaClient, type Logger, type PartitionInfo } from '../client/index.ts'

export const checkIntervalMs = 30_000
/** As long as jobs wait for a topic or a pool that is missing, the names of all topics are read this often, once for all jobs. */
export const missingIntervalMs = 5_000
/** Missing topics and pools that are looked for. Jobs that name further ones wait for their own checks. */
const missingMax = 1_000
/** A use triggers a new check when the last one is older than this. */
const staleMs = 5_000
/** Minimum time between two checks for missing topics, however many jobs name one. */
const seekGapMs = 1_000
/** How long a missing topic or pool is looked for after a job has asked for it: longer than jobs wait between two checks (10 min). */
const missedMs = 900_000
/** How long a topic that refused a record is avoided. */
const refusedMs = 60_000
/** Overhead of a batch besides its records. */
const batchOverheadBytes = 64

export interface TargetTopicsOptions {
  /** The allow-list; `*` matches any characters. */
  patterns: readonly string[]
  /** Prefix of our own topics, which are never allowed. */
  prefix: string
  /** Pools whose topics this process has created. */
  pools: readonly string[]
}

interface Seen {
  partitions: readonly PartitionInfo[]
  /** Unknown if the principal may not describe the topic's settings. */
  maxMessageBytes: number | undefined
}

export class CheckedTopics implements TargetTopics {
  readonly #client: KafkaClient
  readonly #logger: Logger
  readonly #patterns: readonly string[]
  readonly #allowed: (topic: string) => boolean
  readonly #poolTopics: (pool: string) => string[]
  readonly #isPoolTopic: (topic: string) => boolean
  readonly #pools: ReadonlySet<string>
  #seen: ReadonlyMap<string, Seen> = new Map()
  /** All topics that the last check found. */
  #names: ReadonlySet<string> = new Set()
  readonly #refused = new Map<string, { untilMs: number; reason: string }>()
  /** Retention of each topic of a pool, ms. */
  #kept: ReadonlyMap<string, number> = new Map()
  #checkedAtMs = Number.NEGATIVE_INFINITY
  #timer: NodeJS.Timeout | undefined
  #stopped = false
  /** Topics and pools that were missing for a job, when one last asked for them, and whether they exist now. */
  readonly #missing = new Map<string, { askedAtMs: number; isThere: (names: ReadonlySet<string>) => boolean }>()
  readonly #listeners = new Set<() => void>()
  #appeared = 0
  #checking: Promise<void> | undefined

  constructor(client: KafkaClient, logger: Logger, { patterns, prefix, pools }: TargetTopicsOptions) {
    this.#client = client
    this.#logger = logger
    this.#patterns = patterns
    this.#allowed = topicAllowance(patterns, prefix)
    this.#pools = new Set(pools)
    const names = topicNames(prefix)
    this.#isPoolTopic = (topic) => topic.startsWith(`${prefix}executions.`) && topic !== names.deadLetters
    this.#poolTopics = (pool) => topicsOfPool(names, pool)
  }

  /** Rejects when the brokers do not answer. Without an allow-list, topics are checked only while jobs wait for one that is missing. */
  async start(): Promise<void> {
    await this.#fetch()
    if (this.#patterns.length > 0) this.#checkRegularly()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    await this.#checking
  }

  #checkRegularly(): void {
    if (this.#stopped || (this.#patterns.length === 0 && this.#missing.size === 0)) return
    this.#timer ??= setTimeout(
      () => {
        this.#timer = undefined
        void this.#checkAgain().then(() => this.#checkRegularly())
      },
      this.#missing.size > 0 ? missingIntervalMs : checkIntervalMs,
    ).unref()
  }

  async #checkAgain(): Promise<void> {
    const nowMs = performance.now()
    for (const [key, { askedAtMs }] of this.#missing) if (nowMs - askedAtMs >= missedMs) this.#missing.delete(key)
    const isMissing = this.#missing.size > 0
    if (this.#patterns.length > 0 && (!isMissing || nowMs - this.#checkedAtMs >= checkIntervalMs)) return this.check()
    if (isMissing && (await this.#hasAppeared())) return this.check()
  }

  /** Reads only the names of topics. */
  async #hasAppeared(): Promise<boolean> {
    // The next full check says what failed.
    const all = await this.#client.withAdmin('Looking for topics', (admin) => admin.topics()).catch(() => [])
    const names = new Set(all)
    return [...this.#missing.values()].some(({ isThere }) => isThere(names))
  }

  #lookFor(key: string, isThere: (names: ReadonlySet<string>) => boolean): void {
    if (this.#missing.size >= missingMax && !this.#missing.has(key)) return
    const isFirst = this.#missing.size === 0
    this.#missing.set(key, { askedAtMs: performance.now(), isThere })
    if (isFirst) {
      clearTimeout(this.#timer)
      this.#timer = undefined
    }
    this.#checkRegularly()
  }

  get appeared(): number {
    return this.#appeared
  }

  onAppeared(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  #tellAppeared(): void {
    const found = [...this.#missing].filter(([, { isThere }]) => isThere(this.#names)).map(([key]) => key)
    for (const key of found) this.#missing.delete(key)
    if (found.length === 0) return
    this.#appeared++
    this.#logger.info({ event: 'topics-appeared', found }, 'Topics that jobs wait for exist now; these jobs are checked at once.')
    for (const listener of this.#listeners) listener()
  }

  problem({ name, partition }: { name: string; partition: number | null }, bytes: number): string | undefined {
    if (this.#patterns.length > 0 && performance.now() - this.#checkedAtMs > staleMs) void this.check()
    if (!this.#allowed(name)) return `Topic ${name} is not allowed; DUELOG_TARGET_TOPICS lists the allowed topics.`
    const seen = this.#seen.get(name)
    if (seen === undefined) {
      this.#lookFor(`topic ${name}`, (names) => names.has(name))
      return `Topic ${name} does not exist.`
    }
    if (partition !== null && partition >= seen.partitions.length)
      return `Topic ${name} has ${counted(seen.partitions.length, 'partition')} and no partition ${partition}.`
    const bytesMax = Math.min(seen.maxMessageBytes ?? batchBytesMax, batchBytesMax)
    if (bytes + batchOverheadBytes > bytesMax)
      return `A record of ${bytes} bytes is too large for topic ${name}, which takes batches of ${bytesMax} (max.message.bytes).`
    const refused = this.#refused.get(name)
    return refused !== undefined && performance.now() < refused.untilMs ? refused.reason : undefined
  }

  seek(topic: string): Promise<void> | undefined {
    if (!this.#allowed(topic) || this.#seen.has(topic)) return undefined
    return this.#checking === undefined && performance.now() - this.#checkedAtMs < seekGapMs ? undefined : this.check()
  }

  poolProblem(pool: string): string | undefined {
    const missing = this.#missingTopic(pool)
    if (missing === undefined) return undefined
    const topics = this.#poolTopics(pool)
    this.#lookFor(`pool ${pool}`, (names) => topics.every((topic) => names.has(topic)))
    if (performance.now() - this.#checkedAtMs > staleMs) void this.check()
    return `Pool ${pool} has no topics (${missing} does not exist): create them with \`duelog topics apply --pools ${pool}\`, or start workers with the pool in DUELOG_POOLS; or name another pool.`
  }

  seekPool(pool: string): Promise<void> | undefined {
    if (this.#missingTopic(pool) === undefined) return undefined
    return this.#checking === undefined && performance.now() - this.#checkedAtMs < seekGapMs ? undefined : this.check()
  }

  keptMs(pool: string): number {
    return this.#poolTopics(pool).reduce(
      (least, topic) => Math.min(least, this.#kept.get(topic) ?? least),
      Number.POSITIVE_INFINITY,
    )
  }

  #missingTopic(pool: string): string | undefined {
    return this.#pools.has(pool) ? undefined : this.#poolTopics(pool).find((topic) => !this.#names.has(topic))
  }

  async failed(topics: Iterable<string>, error: unknown): Promise<void> {
    const code = error instanceof DuelogError ? error.code : 'internal'
    if (code === 'fenced') return
    await this.check()
    // Errors of an unreachable broker say nothing about the topic.
    if (code === 'broker-unavailable') return
    const involved = [...topics]
    // A vanished topic was the reason, and the next try leaves it out.
    if (involved.some((topic) => !this.#seen.has(topic))) return
    for (const topic of involved) {
      const reason = `Topic ${topic} may have refused a record and gets no records for ${refusedMs / 1_000} s: ${messageOf(error)}`
      this.#refused.set(topic, { untilMs: performance.now() + refusedMs, reason })
    }
  }

  /** Checks the topics again. The last result stays valid if the brokers do not answer. */
  check(): Promise<void> {
    this.#checking ??= this.#fetch()
      .catch((error) => this.#logger.warn({ event: 'topics-not-checked', err: error }, 'The target topics could not be checked.'))
      .finally(() => {
        this.#checking = undefined
      })
    return this.#checking
  }

  async #fetch(): Promise<void> {
    this.#checkedAtMs = performance.now()
    await this.#client.withAdmin('Checking the target topics', async (admin) => {
      const all = await admin.topics()
      const names = all.filter((topic) => this.#allowed(topic))
      const limits = await maxMessageBytes(admin, names)
      const found = await admin.partitionsOf(names)
      this.#take(new Map([...found].map(([name, partitions]) => [name, { partitions, maxMessageBytes: limits.get(name) }])))
      this.#names = new Set(all)
      this.#keep(await retentionsOf(admin, all.filter(this.#isPoolTopic)))
      this.#tellAppeared()
    })
  }

  /** Logs once for each topic whose retention is shorter than planned. */
  #keep(kept: ReadonlyMap<string, number>): void {
    for (const [topic, ms] of kept) {
      if (ms >= executionsRetentionMs || this.#kept.get(topic) === ms) continue
      const text = `Topic ${topic} keeps its records for ${ms} ms (retention.ms). A run that no worker has started by then expires, whatever its startDeadlineMs.`
      this.#logger.warn({ event: 'topic-retention-short', topic, retentionMs: ms }, text)
    }
    if (kept.size > 0) this.#kept = kept
  }

  #take(seen: ReadonlyMap<string, Seen>): void {
    for (const topic of this.#seen.keys()) {
      if (seen.has(topic)) continue
      this.#client.counts.forget(topic)
      this.#logger.warn({ event: 'topic-deleted', topic }, `Topic ${topic} was deleted; runs that write to it wait.`)
    }
    for (const [topic, { partitions }] of seen) this.#client.counts.learn(topic, partitions)
    this.#seen = seen
  }
}

async function maxMessageBytes(admin: BrokerAdmin, names: string[]): Promise<Map<string, number>> {
  const limits = new Map<string, number>()
  for (const [topic, settings] of await visibleSettings(admin, names, ['max.message.bytes'])) {
    const value = Number(settings.get('max.message.bytes')?.value)
    if (value > 0) limits.set(topic, value)
  }
  return limits
}

/** Retention by topic, in ms; Infinity for unlimited. Leaves out a topic whose settings the principal has no right to see. */
export async function retentionsOf(
  admin: Pick<BrokerAdmin, 'settingsOf'>,
  topics: readonly string[],
): Promise<Map<string, number>> {
  const kept = new Map<string, number>()
  for (const [topic, settings] of await visibleSettings(admin, topics, ['retention.ms', 'cleanup.policy'])) {
    const retentionMs = Number(settings.get('retention.ms')?.value)
    if (Number.isNaN(retentionMs)) continue
    const deletes = settings.get('cleanup.policy')?.value.includes('delete') ?? true
    kept.set(topic, deletes && retentionMs >= 0 ? retentionMs : Number.POSITIVE_INFINITY)
  }
  return kept
}

const visibleSettings = (admin: Pick<BrokerAdmin, 'settingsOf'>, topics: readonly string[], names: string[]) =>
  admin.settingsOf(topics, names).catch((): Awaited<ReturnType<BrokerAdmin['settingsOf']>> => new Map())
