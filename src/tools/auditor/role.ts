/**
 * The role auditor: reads the log of the running cluster as it grows, and judges it. Auditors share the partitions in a group of
 * their own. Each keeps its accounts in its own folder and continues from there. It writes nothing to the log, and asks no owner.
 *
 * joining ──► partitions assigned (paused) ──stores open──► reading ──each round──► ends queried, judged, saved
 */
import { trustedMs } from '../../ground/clock/index.ts'
import { whenRead } from '../../ground/metrics/index.ts'
import type {
  Acknowledgement,
  Batch,
  FaultChoice,
  GroupReader,
  LogAdmin,
  PartitionProof,
  Position,
  ProofQueries,
  TopicPartition,
} from '../../ground/ports/index.ts'
import { AuditedPartition, type AuditorRoleOptions, type PartitionListeners } from './audited-partition.ts'
import { findingKinds, unjudgedReasons } from './findings/index.ts'
import { poolOf } from './reading/index.ts'

/** Interval of rounds. Each round queries the ends of all topics, judges and saves. A shorter grace shortens the interval to the grace. */
const roundMs = 5_000
const rejoinMs = 5_000

export type { AuditorRoleOptions } from './audited-partition.ts'

export class Auditor implements ProofQueries {
  readonly #options: AuditorRoleOptions
  readonly #partitions = new Map<number, AuditedPartition>()
  /** Partitions whose stores are being opened or closed, one after another. */
  readonly #moving = new Map<number, Promise<void>>()
  #assigned = new Set<number>()
  #topics: string[] = []
  #reader: GroupReader | undefined
  #admin: LogAdmin | undefined
  #roundTimer = (): void => {}
  #round: Promise<void> = Promise.resolve()
  #joining: Promise<void> = Promise.resolve()
  #stopped = false
  #stopping: Promise<void> | undefined

  constructor(options: AuditorRoleOptions) {
    this.#options = options
    this.#show()
  }

  /** Joins the group. Rejects with DuelogError `broker-unavailable` or `unsafe-topic`. */
  async start(): Promise<void> {
    await this.#join()
    this.#plan()
  }

  /** Joins the group when `when` has resolved. Failures after that are logged, and the join is retried every 5 s. */
  startAfter(when: Promise<void>): void {
    void when.then(() => {
      if (!this.#stopped) this.#joining = this.start().catch((error: unknown) => this.#crashed(error))
    })
  }

  /** Saves, and leaves the group. Safe to call twice. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop()
    return this.#stopping
  }

  async #stop(): Promise<void> {
    this.#stopped = true
    this.#roundTimer()
    await this.#round
    await this.#reader?.stop()
    await this.#joining
    this.#assigned.clear()
    await Promise.all([...this.#partitions.keys()].map((partition) => this.#move(partition)))
    await Promise.all(this.#moving.values())
    await this.#admin?.close()
  }

  proof(): PartitionProof[] {
    return [...this.#partitions.values()].map((each) => each.proof()).sort((a, b) => a.partition - b.partition)
  }

  async acknowledge(choice: FaultChoice, acknowledgement: Acknowledgement): Promise<number> {
    const counts = [...this.#partitions.values()].map((each) => each.acknowledge(choice, acknowledgement))
    return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0)
  }

  async #join(): Promise<void> {
    const { log, names, instance, userData } = this.#options
    this.#admin ??= await log.admin()
    this.#topics = await this.#topicsNow()
    if (this.#stopped) return
    this.#reader = log.reader({
      groupId: names.group('auditor'),
      topics: this.#topics,
      instance,
      userData,
      assignment: 'co-partitioned',
      onAssigned: (assigned) => this.#onAssigned(assigned),
      onBatch: (batch) => this.#onBatch(batch),
      onPassed: ({ topic, partition, offset }) => this.#partitions.get(partition)?.lanes.passed(topic, offset),
      onCrash: (error) => this.#crashed(error),
    })
    await this.#reader.start()
  }

  /** Executions topics of every pool: the pools of other processes are judged as well. */
  async #topicsNow(): Promise<string[]> {
    const { log, names } = this.#options
    const executions = (await log.topics()).filter((topic) => poolOf(names, topic) !== undefined)
    return [names.jobs, names.state, names.deadLetters, names.control, names.events, ...executions.sort()]
  }

  #onAssigned(assigned: TopicPartition[]): { positions: Position[]; paused: TopicPartition[] } {
    this.#assigned = new Set(assigned.map(({ partition }) => partition))
    for (const partition of new Set([...this.#assigned, ...this.#partitions.keys()])) void this.#move(partition)
    const open = assigned.filter(({ partition }) => this.#partitions.has(partition) && !this.#moving.has(partition))
    const isOpen = new Set(open.map(({ partition }) => partition))
    return {
      positions: open.flatMap((place) => this.#positionOf(place)),
      paused: [
        ...assigned.filter(({ partition }) => !isOpen.has(partition)),
        ...[...isOpen].flatMap((partition) => this.#partitions.get(partition)?.lanes.paused ?? []),
      ],
    }
  }

  #positionOf({ topic, partition }: TopicPartition): Position[] {
    const offset = this.#partitions.get(partition)?.lanes.positions().get(topic)
    return offset === undefined ? [] : [{ topic, partition, offset }]
  }

  /** Opens or closes the store of a partition as it was assigned last. */
  #move(partition: number): Promise<void> {
    if (this.#assigned.has(partition) === this.#partitions.has(partition) && !this.#moving.has(partition))
      return Promise.resolve()
    const moving = (this.#moving.get(partition) ?? Promise.resolve())
      .then(() => (this.#assigned.has(partition) ? this.#open(partition) : this.#close(partition)))
      .catch((error: unknown) => {
        const { logger } = this.#options
        logger.error(
          { event: 'auditor-partition-failed', err: error, partition },
          'The auditor could not open or close a partition.',
        )
      })
      .finally(() => {
        if (this.#moving.get(partition) === moving) this.#moving.delete(partition)
      })
    this.#moving.set(partition, moving)
    return moving
  }

  async #open(partition: number): Promise<void> {
    if (!this.#partitions.has(partition)) {
      const [options, all] = [this.#options, this.#partitions]
      all.set(partition, await AuditedPartition.open(partition, this.#topics, options, findingListenersOf(options), all))
    }
    const audited = this.#partitions.get(partition)
    const places = audited?.lanes.places ?? []
    for (const place of places) for (const position of this.#positionOf(place)) this.#reader?.seek(position)
    this.#reader?.resume(places)
    this.#reader?.pause(audited?.lanes.paused ?? [])
  }

  async #close(partition: number): Promise<void> {
    const closed = this.#partitions.get(partition)
    this.#partitions.delete(partition)
    await closed?.close()
  }

  async #onBatch({ topic, partition, records }: Batch): Promise<void> {
    const audited = this.#partitions.get(partition)
    if (audited === undefined) return
    try {
      await audited.take(topic, records)
    } catch (error) {
      if (this.#stopped) return
      // The records are read again from the saved position. The registry or the disk may work again by then.
      const { logger } = this.#options
      logger.warn(
        { event: 'auditor-records-not-entered', err: error, topic, partition },
        'The auditor could not enter records. It reads them again.',
      )
      return this.#rejoin()
    }
    const { pause, resume } = audited.lanes.pace()
    this.#reader?.pause(pause)
    this.#reader?.resume(resume)
  }

  #crashed(error: unknown): void {
    if (this.#stopped) return
    this.#options.logger.error(
      { event: 'auditor-session-lost', err: error },
      'The auditor lost its group session. It joins again.',
    )
    this.#rejoin()
  }

  /** Leaves the group, and joins again with the saved accounts. */
  #rejoin(): void {
    const reader = this.#reader
    this.#reader = undefined
    this.#assigned.clear()
    const closing = [...this.#partitions.keys()].map((partition) => this.#move(partition))
    const { clock } = this.#options
    void reader?.stop()
    const again = (): void => {
      if (this.#stopped) return
      this.#roundTimer()
      Promise.all(closing)
        .then(() => this.#join())
        .then(() => this.#plan())
        .catch((error: unknown) => this.#crashed(error))
    }
    this.#roundTimer()
    this.#roundTimer = clock.at(clock.nowMs() + rejoinMs, again)
  }

  #plan(): void {
    if (this.#stopped) return
    const { clock, logger, graceMs } = this.#options
    this.#roundTimer()
    this.#roundTimer = clock.at(clock.nowMs() + Math.min(roundMs, graceMs), () => {
      this.#round = this.#look()
        .catch((error: unknown) =>
          logger.warn({ event: 'auditor-query-failed', err: error }, 'The auditor could not query the log. It tries again.'),
        )
        .then(() => {
          if (this.#reader !== undefined) this.#plan()
        })
    })
  }

  async #look(): Promise<void> {
    const { clock, names } = this.#options
    const audited = [...this.#partitions.values()]
    // The records before the last end query may have been read by now.
    for (const each of audited) await each.settle()
    const topics = await this.#topicsNow()
    if (topics.some((topic) => !this.#topics.includes(topic))) return this.#rejoin()
    const trusted = trustedMs(clock)
    for (const topic of topics) {
      for (const { partition, ...end } of (await this.#admin?.offsets(topic)) ?? []) {
        const each = this.#partitions.get(partition)
        each?.begins(topic, end.earliest)
        each?.lanes.ended(topic, end, topic === names.jobs || topic === names.state)
      }
    }
    for (const each of audited) each.looked(trusted)
  }

  /** They are right between two rounds too, and while the brokers do not answer. */
  #show(): void {
    const { clock, metrics } = this.#options
    const lag = (): number => this.proof().reduce((sum, { behindRecords }) => sum + behindRecords, 0)
    const ageMs = (): number => {
      const nowMs = clock.nowMs()
      return nowMs - Math.min(...this.proof().map(({ judgedUntil, since }) => judgedUntil ?? since), nowMs)
    }
    const unacknowledged = (kind: string): number =>
      this.proof().reduce((sum, { findings, acknowledged }) => sum + (findings[kind] ?? 0) - (acknowledged[kind] ?? 0), 0)
    whenRead(metrics.auditUnacknowledged, () => findingKinds.map((kind) => ({ labels: { kind }, value: unacknowledged(kind) })))
    whenRead(metrics.auditLag, () => [{ labels: {}, value: lag() }])
    whenRead(metrics.auditAge, () => [{ labels: {}, value: ageMs() / 1_000 }])
  }
}

/** Turns findings and counts into metrics and log lines of the process. */
export function findingListenersOf({ metrics, logger }: Pick<AuditorRoleOptions, 'metrics' | 'logger'>): PartitionListeners {
  // Prometheus sees no increase in a series that begins with the first fault, so each series begins with 0.
  for (const kind of findingKinds) metrics.auditFindings.inc({ kind }, 0)
  for (const reason of unjudgedReasons) metrics.auditUnjudged.inc({ reason }, 0)
  return {
    onFinding: (finding) => {
      metrics.auditFindings.inc({ kind: finding.kind })
      logger.error({ event: 'audit-fault-found', ...finding }, 'The audit found a fault.')
    },
    onJudged: ({ runs, occurrences, records, unreadable }) => {
      metrics.auditRuns.inc(runs)
      metrics.auditOccurrences.inc(occurrences)
      metrics.auditRecords.inc(records)
      metrics.auditUnreadable.inc(unreadable)
    },
    onUnjudged: (counts) => {
      for (const [reason, count] of Object.entries(counts)) {
        metrics.auditUnjudged.inc({ reason }, count)
        logger.warn({ event: 'audit-not-judged', reason, count }, 'The audit cannot judge something.')
      }
    },
  }
}
