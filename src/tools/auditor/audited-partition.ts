/**
 * One partition under audit: its topics, and its ledger in a store of this process. All operations run one after another,
 * so that the saved accounts always match the saved positions.
 */
import type { TopicNames } from '../../../streams/topics/index.ts'
import { type Clock, trustedMs } from '../../ground/clock/index.ts'
import { LoopTurns } from '../../ground/concurrency/index.ts'
import type { Logger } from '../../ground/logging/index.ts'
import type { Metrics } from '../../ground/metrics/index.ts'
import type { Acknowledgement, FaultChoice, FoundFault, Log, PartitionProof, Pauses, RecordIn } from '../../ground/ports/index.ts'
import { faultIdOf } from '../../ground/records/index.ts'
import { sharedBy } from './accounts/index.ts'
import type { Finding } from './findings/index.ts'
import { type AccountStore, Ledger } from './ledger.ts'
import { CompleteFrom, type CompleteTimes, type Fact, type FactCodecs, factOf, Lanes } from './reading/index.ts'

/** Options of the role auditor. */
export interface AuditorRoleOptions {
  log: Log & { topics(): Promise<string[]> }
  codecs: FactCodecs
  names: TopicNames
  /** Undefined: unknown. Then the accounts of another cluster are not noticed. */
  clusterId: string | undefined
  /** name@host:pid:boot. */
  instance: string
  /** Published to the other processes of the group, as `{ url }`: the address at which they ask for the proof. */
  userData: () => unknown
  stores: {
    open(partition: number): Promise<{ store: AccountStore & { close(): Promise<void> }; wiped: string | undefined }>
  }
  clock: Clock
  metrics: Metrics
  logger: Logger
  pauses: Pick<Pauses, 'ofPool'>
  /** How long after its due time a record may still arrive, in ms. */
  graceMs: number
}

/** Findings that are kept for display. */
const recentMax = 100
/** Of all partitions of this process. */
const turns = new LoopTurns()
/** Records that are entered in one step. */
const stepRecords = 50
/** Time after its start in which the auditor judges no overdue jobs, because the owners may have just started too. */
const quietMs = 60_000

interface Saved {
  /** Of which system the accounts are. Absent: the cluster was unknown. */
  clusterId?: string | undefined
  jobs?: string
  positions: Map<string, number>
  complete: CompleteTimes
  since: number
  recent: FoundFault[]
  /** Faults that are acknowledged, by kind. */
  acknowledged: Record<string, number>
}

export interface PartitionListeners {
  onFinding(finding: Finding): void
  /** Nominal times and runs that were judged since the last time. */
  onJudged(count: { runs: number; occurrences: number; records: number; unreadable: number }): void
  onUnjudged(counts: Record<string, number>): void
}

export class AuditedPartition {
  readonly partition: number
  readonly #options: AuditorRoleOptions
  readonly #listeners: PartitionListeners
  readonly #store: AccountStore & { close(): Promise<void> }
  readonly #ledger: Ledger
  readonly #beganMs: number
  readonly lanes: Lanes
  readonly #complete: CompleteFrom
  readonly #clusterId: string | undefined
  #since: number
  #recent: FoundFault[]
  readonly #acknowledged: Record<string, number>
  #judgedUntil: number | null = null
  #counted = { runs: 0, occurrences: 0, records: 0, unreadable: 0, unjudged: {} as Record<string, number> }
  #queue: Promise<void> = Promise.resolve()
  #broken: unknown

  private constructor(
    partition: number,
    options: AuditorRoleOptions,
    listeners: PartitionListeners,
    store: AccountStore & { close(): Promise<void> },
    parts: { ledger: Ledger; saved: Saved | undefined; topics: readonly string[]; recent: FoundFault[] },
  ) {
    const { ledger, saved, topics, recent } = parts
    this.partition = partition
    this.#options = options
    this.#listeners = listeners
    this.#store = store
    this.#ledger = ledger
    this.#recent = recent
    this.#acknowledged = { ...saved?.acknowledged }
    this.#beganMs = options.clock.nowMs()
    this.#since = saved?.since ?? this.#beganMs
    this.#clusterId = options.clusterId ?? saved?.clusterId
    const places = topics.map((topic) => ({ topic, partition }))
    this.lanes = new Lanes(places, saved?.positions ?? new Map())
    this.#complete = new CompleteFrom(options.names, 0, saved?.complete)
    for (const topic of saved?.positions.keys() ?? []) this.#complete.known({ topic, partition })
    this.#note()
  }

  /** `all`: the partitions that share the memory of this process. */
  static async open(
    partition: number,
    topics: readonly string[],
    options: AuditorRoleOptions,
    listeners: PartitionListeners,
    all: { size: number },
  ): Promise<AuditedPartition> {
    const { store, wiped: unreadable } = await options.stores.open(partition)
    const recent: FoundFault[] = []
    const onFinding = (finding: Finding): void => {
      recent.unshift({ no: totalOf(ledger.tally.findings), at: options.clock.nowMs(), ...finding })
      recent.splice(recentMax)
      listeners.onFinding(finding)
    }
    const scope = { from: 0, to: Number.POSITIVE_INFINITY, graceMs: options.graceMs }
    const ledger = new Ledger({ store, scope, onFinding, cachedMax: sharedBy(all), rest: () => turns.next() })
    const { extra: saved, wiped = unreadable } = await ledger.restore<Saved>((saved) => unusable(saved, options))
    if (wiped !== undefined)
      options.logger.warn(
        { event: 'auditor-store-wiped', partition, wiped },
        'The auditor wiped its store of a partition and reads the log again.',
      )
    recent.push(...(saved?.recent ?? []))
    return new AuditedPartition(partition, options, listeners, store, { ledger, saved, topics, recent })
  }

  /** Enters records of one topic, in the order of their offsets. */
  take(topic: string, records: readonly RecordIn[]): Promise<void> {
    return this.#next(async () => {
      const { clock } = this.#options
      for (let from = 0; from < records.length; from += stepRecords) {
        const step = records.slice(from, from + stepRecords)
        // An untrusted clock does not limit the times of records.
        const nowMs = trustedMs(clock) ?? Number.POSITIVE_INFINITY
        await this.#ledger.take(await this.#factsOf(topic, step), nowMs)
        const last = step.at(-1)
        if (last !== undefined) this.lanes.passed(topic, last.offset + 1, Math.min(last.timestampMs, nowMs))
        await this.#ledger.saveMany(() => this.#save())
        await turns.next()
      }
    })
  }

  async #factsOf(topic: string, records: readonly RecordIn[]): Promise<Fact[]> {
    const { names, codecs } = this.#options
    const next = this.lanes.nextOf(topic)
    const facts: Fact[] = []
    for (const record of records) {
      // The record was already read, before the partition moved away and came back.
      if (record.offset < next) continue
      this.#complete.note(record)
      // Validating a definition may need a search for its times.
      await turns.next()
      const fact = await factOf(names, codecs, record)
      if (fact === 'unreadable') this.#ledger.tally.unreadable++
      else if (fact !== undefined) facts.push(fact)
    }
    return facts
  }

  /** Judges all facts before the watermark, and saves. */
  settle(): Promise<void> {
    return this.#next(async () => {
      const reached = this.lanes.watermark()
      if (reached === undefined || reached.watermark <= 0) return
      const { watermark, isAtEnd } = reached
      const isPresent = isAtEnd && watermark - this.#beganMs >= quietMs
      const isPaused = (pool: string): boolean => this.#options.pauses.ofPool(pool) !== undefined
      await this.#ledger.settle({ watermark, isPresent, completeFrom: this.#complete.times, isPaused }, () => this.#save())
      this.#judgedUntil = Math.max(this.#judgedUntil ?? 0, watermark - this.#options.graceMs)
      await this.#save()
      this.#note()
    })
  }

  /** Retention may have removed all records of a topic. Later records are complete from now on. */
  begins(topic: string, earliest: number): void {
    this.#complete.begins({ topic, partition: this.partition }, earliest, this.#beganMs)
  }

  /**
   * To be called after the ends of the topics were queried. Undefined: the clock is not trusted. It could make every job overdue,
   * so judging waits.
   */
  looked(atMs: number | undefined): void {
    if (atMs !== undefined) this.lanes.looked(atMs)
  }

  async close(): Promise<void> {
    await this.#next(() => this.#save()).catch(() => {})
    await this.#store.close()
  }

  /** Resolves with the number of faults that were not acknowledged before. Faults that are no longer listed are older than all that are. */
  async acknowledge(choice: FaultChoice, acknowledgement: Acknowledgement): Promise<number> {
    const isChosen = (fault: FoundFault): boolean =>
      'upTo' in choice ? fault.at <= choice.upTo : choice.ids.includes(faultIdOf(this.partition, fault.no))
    let count = 0
    await this.#next(async () => {
      const { findings } = this.#ledger.tally
      const before = totalOf(this.#acknowledged)
      for (const fault of this.#recent) {
        if (fault.acknowledged !== undefined || !isChosen(fault)) continue
        fault.acknowledged = acknowledgement
        this.#acknowledged[fault.kind] = (this.#acknowledged[fault.kind] ?? 0) + 1
      }
      const oldest = this.#recent.at(-1)
      if ('upTo' in choice && oldest !== undefined && isChosen(oldest)) {
        for (const [kind, found] of Object.entries(findings))
          this.#acknowledged[kind] =
            found - this.#recent.filter((fault) => fault.kind === kind && fault.acknowledged === undefined).length
      }
      count = totalOf(this.#acknowledged) - before
      if (count > 0) await this.#save()
    })
    return count
  }

  proof(): PartitionProof {
    const { records, unreadable, runs, occurrences, findings, unjudged } = this.#ledger.tally
    return {
      ...{ partition: this.partition, since: this.#since, judgedUntil: this.#judgedUntil },
      ...{ behindRecords: this.lanes.behindRecords, records, unreadable, runs, occurrences },
      ...{ findings: { ...findings }, unjudged: { ...unjudged }, recent: [...this.#recent] },
      acknowledged: { ...this.#acknowledged },
    }
  }

  #save(): Promise<void> {
    const saved: Saved = {
      clusterId: this.#clusterId,
      jobs: this.#options.names.jobs,
      positions: this.lanes.positions(),
      complete: this.#complete.times,
      since: this.#since,
      recent: this.#recent,
      acknowledged: this.#acknowledged,
    }
    return this.#ledger.save(saved)
  }

  /** Reports what was judged since the last call. */
  #note(): void {
    const { runs, occurrences, records, unreadable, unjudged } = this.#ledger.tally
    const before = this.#counted
    this.#counted = { runs, occurrences, records, unreadable, unjudged: { ...unjudged } }
    if (this.#judgedUntil === null) return
    this.#listeners.onJudged({
      runs: runs - before.runs,
      occurrences: occurrences - before.occurrences,
      records: records - before.records,
      unreadable: unreadable - before.unreadable,
    })
    const more = Object.entries(unjudged).map(([reason, count]) => [reason, count - (before.unjudged[reason] ?? 0)] as const)
    this.#listeners.onUnjudged(Object.fromEntries(more.filter(([, count]) => count > 0)))
  }

  #next(work: () => Promise<void>): Promise<void> {
    const done = this.#queue.then(() => {
      if (this.#broken !== undefined) throw this.#broken
      return work()
    })
    this.#queue = done.catch((error: unknown) => {
      // Memory may be ahead of the saved positions. It is not saved; the records are read again.
      this.#broken ??= error
    })
    return done
  }
}

const totalOf = (counts: Readonly<Record<string, number>>): number => Object.values(counts).reduce((sum, count) => sum + count, 0)

/** Why saved accounts cannot be continued, or undefined. Jobs of another system have the same ids, and no record of them would come here. */
function unusable(saved: Saved, { clusterId, names }: Pick<AuditorRoleOptions, 'clusterId' | 'names'>): string | undefined {
  if (saved.clusterId !== undefined && clusterId !== undefined && saved.clusterId !== clusterId)
    return `it belongs to the cluster ${saved.clusterId}, this one is ${clusterId}`
  if (saved.jobs !== undefined && saved.jobs !== names.jobs)
    return `it belongs to the system of the topic ${saved.jobs}, this one has ${names.jobs}`
  return undefined
}
