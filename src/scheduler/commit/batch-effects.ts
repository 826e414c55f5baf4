/**
 * Collects the effects of a batch of decisions: records for the log and operations for the store. State is logged once for each
 * touched job, as it is at the end of the batch. Its timers are the difference between before and after.
 */
import type { StateEntryInput } from '../../../schemas/index.ts'
import {
  type Decision,
  definitionKey,
  definitionValue,
  emptyValue,
  followUpsKey,
  indexKeysOf,
  type Job,
  mayChangeIndex,
  mustBeLogged,
  observedDeleteAtHeader,
  observedOffsetHeader,
  retainedDefinitionKey,
  runHistorySize,
  runKey,
  snapshotKey,
  stateKey,
  type Timer,
  type TopicRecord,
  timerKey,
  timerKind,
  timersOf,
  type Waiter,
  waiterKey,
} from '../../../streams/state/index.ts'
import type { TopicNames } from '../../../streams/topics/index.ts'
import type { RecordOut, StoreOp } from '../../ground/ports/index.ts'
import type { CycleSpans } from '../../ground/tracing/index.ts'
import type { SchedulerCodecs } from '../options/index.ts'
import { type ActiveJobs, queueEntryOps } from '../state/index.ts'
import { DispatchTraces, outputRecord } from './output-records.ts'

/** The run that a report was about, and the trace in which its worker ran it. */
export interface ReportedTrace {
  runNo: number
  traceparent: string
}

export class Effects {
  readonly #partition: number
  readonly #partitions: number
  readonly #names: TopicNames
  readonly #codecs: SchedulerCodecs
  /** Executions, retries, dead letters and ended runs. */
  readonly out: RecordOut[] = []
  /** Changelog entries that are not the state itself. */
  readonly #entries: RecordOut[] = []
  /** Pages of follow-ups that wait, as they are at the end: each that joins writes the last page again. */
  readonly #pages = new Map<string, RecordOut>()
  /** Records that are written before the transaction and outside of it. */
  readonly nonTransactionalRecords: RecordOut[] = []
  readonly #ops: StoreOp[] = []
  /** Each touched job as it was loaded, with its timers then. `restored`: the store's timers of it are not known. */
  readonly #loaded = new Map<string, { job: Job; timers: Timer[]; restored: boolean }>()
  readonly #changed = new Map<string, { job: Job; logged: boolean; bytes: number }>()
  /** Jobs whose definition is stored or deleted. */
  readonly #redefined = new Set<string>()
  readonly #extraTimers: Timer[] = []
  readonly #takenTimers = new Map<string, Timer[]>()
  /** Topics of users that receive records. */
  readonly targets = new Set<string>()
  readonly #recordsRuns: boolean
  readonly #traces: DispatchTraces
  /** Spans of the dispatches, until the cycle ends. */
  readonly spans: CycleSpans
  #logged = false

  constructor(
    partition: number,
    partitions: number,
    names: TopicNames,
    codecs: SchedulerCodecs,
    spans: CycleSpans,
    recordsRuns = true,
  ) {
    this.#partition = partition
    this.#partitions = partitions
    this.#names = names
    this.#codecs = codecs
    this.#recordsRuns = recordsRuns
    this.spans = spans
    this.#traces = new DispatchTraces(spans)
  }

  /** Whether anything must be committed. */
  get logged(): boolean {
    return this.#logged
  }

  /** Ids of the jobs that decisions were made about. */
  get changedIds(): Iterable<string> {
    return this.#changed.keys()
  }

  get recordCount(): number {
    return this.out.length + this.#entries.length + this.#pages.size + this.#changed.size
  }

  /**
   * `restored`: only a definition was restored, beside a state that the changelog had. The store's timers are not known then,
   * so all timers that the job needs are written. `reported`: the run that a report was about, with the trace in which it ran.
   */
  add(before: Job, decision: Decision, restored = false, reported?: ReportedTrace): void {
    const { job } = decision
    const id = job.id
    if (!this.#loaded.has(id)) this.#loaded.set(id, { job: before, timers: restored ? [] : timersOf(before), restored })
    const logged = mustBeLogged(before, decision)
    this.#logged ||= logged
    this.#changed.set(id, { job, logged: logged || (this.#changed.get(id)?.logged ?? false), bytes: 0 })
    for (const output of decision.out) this.#output(job, output)
    for (const run of this.#recordsRuns ? decision.endedRuns : []) {
      const value = this.#codecs.endedRun.encode(this.#traces.endedRun(run, reported))
      this.out.push({ topic: this.#names.runs, partition: this.#partition, key: id, value })
    }
    for (const run of decision.historyPuts) this.#entry(runKey(id, run.runNo), this.#codecs.state.encode({ run }))
    if (decision.deletesHistory) {
      for (let slot = 0; slot < runHistorySize; slot++) this.#entry(runKey(id, slot), null)
    }
    for (const execution of decision.snapshotPuts) {
      const snapshot = this.#codecs.execution.encode(execution)
      const run = decision.deadEnds.find(({ runNo }) => runNo === execution.runNo) ?? null
      this.#entry(snapshotKey(id, execution.runNo), this.#codecs.state.encode({ snapshot, run }))
    }
    for (const runNo of decision.snapshotDeletes) this.#entry(snapshotKey(id, runNo), null)
    for (const [page, items] of decision.followUpPages) {
      const key = followUpsKey(id, page)
      const value = items === null ? null : this.#codecs.state.encode({ followUps: { items: [...items] } })
      this.#pages.set(key.toString('latin1'), this.#record(key, value))
    }
    const { keptDefinition: kept } = decision
    if (kept !== undefined) {
      const value = kept === null ? null : this.#codecs.state.encode({ snapshot: definitionValue(kept) })
      this.#entry(retainedDefinitionKey(id), value)
    }
    this.#extraTimers.push(...decision.extraTimers)
  }

  /** A definition that is now in force, or null for one that was deleted. */
  definition(id: string, value: Buffer | null): void {
    this.#redefined.add(id)
    this.#ops.push({ key: definitionKey(id), value })
  }

  /** The used part of a limit, or null if the entry is no longer needed. */
  limit(key: Buffer, entry: StateEntryInput | null): void {
    this.#entry(key, entry === null ? null : this.#codecs.state.encode(entry))
    this.#logged = true
  }

  /** A queue entry without a run. */
  unqueued(waiter: Waiter): void {
    this.#ops.push({ key: waiterKey(waiter), value: null })
  }

  /**
   * A record that moves to another partition. It is part of the transaction: otherwise a delay could start there twice, and a
   * command take effect twice.
   */
  moved(records: RecordOut[]): void {
    this.out.push(...records)
    this.#logged = true
  }

  /**
   * A decision used a fact that is in no record, such as whether a topic exists. The position is logged, so that no later owner
   * decides again.
   */
  judged(): void {
    this.#logged = true
  }

  /** A record for a topic of a user. */
  topicRecord({ topic, partition, key, value, headers }: TopicRecord): void {
    this.out.push({ topic, key, value, headers, ...(partition === null ? {} : { partition }) })
    this.targets.add(topic)
    this.#logged = true
  }

  /** A timer that was taken. It is removed whatever was decided. */
  timerTaken(timer: Timer): void {
    this.#ops.push({ key: timerKey(timer), value: null })
    const timers = this.#takenTimers.get(timer.jobId)
    if (timers === undefined) this.#takenTimers.set(timer.jobId, [timer])
    else timers.push(timer)
  }

  /**
   * Ends the collection. `onTimerScheduled` is called for each timer that is added, `onQueued` for each run that joins a queue.
   */
  finish(
    onTimerScheduled: (timer: Timer) => void,
    onQueued: (waiter: Waiter) => void,
  ): { changelog: RecordOut[]; ops: StoreOp[] } {
    const changelog = [...this.#entries, ...this.#pages.values()]
    const ops = [...this.#ops]
    for (const changed of this.#changed.values()) {
      const { job, logged } = changed
      if (logged) {
        const value = job.state === undefined ? null : this.#codecs.state.encode({ state: job.state })
        changed.bytes = value?.length ?? 0
        changelog.push(this.#record(stateKey(job.id), value))
      }
      this.#timerOps(job, ops, onTimerScheduled)
      ops.push(...queueEntryOps(job.id, this.#loaded.get(job.id)?.job.state, job.state, onQueued))
      this.#indexOps(job, ops)
    }
    for (const { key, value } of changelog) ops.push({ key: key as Buffer, value })
    for (const timer of this.#extraTimers) {
      onTimerScheduled(timer)
      ops.push({ key: timerKey(timer), value: emptyValue })
    }
    return { changelog, ops }
  }

  /** The operations of `finish` are in the store. A job whose state is not logged may differ from the stored one by what hooks foresee. */
  stored(activeJobs: ActiveJobs, nowMs: number): void {
    for (const { job, logged, bytes } of this.#changed.values()) {
      const isNew = this.#redefined.has(job.id)
      if (logged) activeJobs.stored(job, { nowMs, stateBytes: bytes, isNew })
      else if (isNew) activeJobs.forget(job.id)
    }
  }

  #timerOps(job: Job, ops: StoreOp[], onTimerScheduled: (timer: Timer) => void): void {
    const loaded = this.#loaded.get(job.id)
    const before = loaded?.timers ?? noTimers
    const after = timersOf(job)
    const taken = this.#takenTimers.get(job.id) ?? noTimers
    for (const timer of before) {
      if (!has(after, timer) && !has(taken, timer)) ops.push({ key: timerKey(timer), value: null })
    }
    for (const timer of after) {
      const known = has(before, timer)
      // A timer that was taken in this batch is deleted by it. A changed job may need it again, also one without a state before
      // and after, because it was deleted and defined again in between. An unchanged job has decided to wait for something
      // else, such as a renewed lease.
      const stored = timer.kind !== timerKind.delete && !has(taken, timer)
      const isUnchanged = job.state === loaded?.job.state && job.definition === loaded?.job.definition
      if (known && (isUnchanged || stored)) continue
      onTimerScheduled(timer)
      ops.push({ key: timerKey(timer), value: emptyValue })
    }
  }

  #indexOps(job: Job, ops: StoreOp[]): void {
    const loaded = this.#loaded.get(job.id)
    if (loaded === undefined || (!loaded.restored && !mayChangeIndex(loaded.job, job))) return
    const before = loaded.restored ? [] : indexKeysOf(loaded.job)
    const after = indexKeysOf(job)
    for (const key of before) if (!after.some((other) => key.equals(other))) ops.push({ key, value: null })
    for (const key of after) if (!before.some((other) => key.equals(other))) ops.push({ key, value: emptyValue })
  }

  #entry(key: Buffer, value: Buffer | null): void {
    this.#entries.push(this.#record(key, value))
  }

  #record(key: Buffer, value: Buffer | null): RecordOut {
    return { topic: this.#names.state, partition: this.#partition, key, value }
  }

  #output(job: Job, output: Decision['out'][number]): void {
    const partition = this.#partition
    const key = job.id
    if (output.kind === 'record') return this.topicRecord(this.#traces.topicRecord(job, output.record, output.scheduledFor))
    if (output.kind !== 'tombstone') {
      const place = { partition, partitions: this.#partitions, names: this.#names, codecs: this.#codecs }
      const record = outputRecord(place, key, output)
      this.out.push(output.kind === 'dispatch' ? this.#traces.execution(job, output.execution, record) : record)
      return
    }
    const headers: Record<string, string> = { [observedOffsetHeader]: String(output.observedOffset) }
    if (output.observedDeleteAt !== undefined) headers[observedDeleteAtHeader] = String(output.observedDeleteAt)
    this.nonTransactionalRecords.push({ topic: this.#names.jobs, partition, key, value: null, headers })
  }
}

const noTimers: readonly Timer[] = []

/** All are of one job. */
function has(timers: readonly Timer[], { dueAt, kind, runNo }: Timer): boolean {
  for (const other of timers) if (other.dueAt === dueAt && other.kind === kind && other.runNo === runNo) return true
  return false
}
