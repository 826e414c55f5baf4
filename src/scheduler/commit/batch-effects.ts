/**
 * Collects what a batch of decisions changes: records for the log, operations for the store.
 * State is logged once for each touched job, as it is at the end of the batch; its timers are the difference between before and after.
 */
import type { StateEntryInput } from '../../../schemas/index.ts'
import {
  type Decision,
  definitionKey,
  definitionValue,
  emptyValue,
  indexKeysOf,
  type Job,
  mayChangeIndex,
  mustBeLogged,
  observedDeleteAtHeader,
  observedOffsetHeader,
  retainedDefinitionKey,
  runKey,
  runRingSize,
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
import type { RecordOut, StoreOp } from '../../ports/index.ts'
import type { SchedulerCodecs } from '../options/index.ts'
import { queueEntryOps } from '../state/index.ts'
import { outputRecord } from './output-records.ts'

export class Effects {
  readonly #partition: number
  readonly #partitions: number
  readonly #names: TopicNames
  readonly #codecs: SchedulerCodecs
  /** Executions, retries and dead letters. */
  readonly out: RecordOut[] = []
  /** Changelog entries that are not the state itself. */
  readonly #entries: RecordOut[] = []
  /** Written before the commit and outside of it. */
  readonly nonTransactionalWriter: RecordOut[] = []
  readonly #ops: StoreOp[] = []
  /** Each touched job as it was loaded, and its timers then. Restored: what the store has for it is not known. */
  readonly #loaded = new Map<string, { job: Job; timers: Timer[]; restored: boolean }>()
  readonly #changed = new Map<string, { job: Job; changelogState: boolean }>()
  readonly #extraTimers: Timer[] = []
  readonly #popped = new Map<string, Timer[]>()
  /** Topics of the user's that something goes to. */
  readonly targets = new Set<string>()
  #changelogState = false

  constructor(partition: number, partitions: number, names: TopicNames, codecs: SchedulerCodecs) {
    this.#partition = partition
    this.#partitions = partitions
    this.#names = names
    this.#codecs = codecs
  }

  /** Whether anything has to be committed. */
  get changelogState(): boolean {
    return this.#changelogState
  }

  get recordCount(): number {
    return this.out.length + this.#entries.length + this.#changed.size
  }

  /**
   * `restored`: only a definition came back, beside a state that was put as the changelog had it. Which timers the store has is not
   * known then, and all that the job needs are written.
   */
  add(before: Job, decision: Decision, restored = false): void {
    const { job } = decision
    const id = job.id
    if (!this.#loaded.has(id)) this.#loaded.set(id, { job: before, timers: restored ? [] : timersOf(before), restored })
    const changelogState = mustBeLogged(before, decision)
    this.#changelogState ||= changelogState
    this.#changed.set(id, { job, changelogState: changelogState || (this.#changed.get(id)?.changelogState ?? false) })
    for (const output of decision.out) this.#output(id, output)
    for (const run of decision.ring) this.#entry(runKey(id, run.runNo), this.#codecs.state.encode({ run }))
    if (decision.dropRing) {
      for (let slot = 0; slot < runRingSize; slot++) this.#entry(runKey(id, slot), null)
    }
    for (const execution of decision.snapshotPuts) {
      const snapshot = this.#codecs.execution.encode(execution)
      this.#entry(snapshotKey(id, execution.runNo), this.#codecs.state.encode({ snapshot }))
    }
    for (const runNo of decision.snapshotDeletes) this.#entry(snapshotKey(id, runNo), null)
    const { keptDefinition: kept } = decision
    if (kept !== undefined) {
      const value = kept === null ? null : this.#codecs.state.encode({ snapshot: definitionValue(kept) })
      this.#entry(retainedDefinitionKey(id), value)
    }
    this.#extraTimers.push(...decision.extraTimers)
  }

  /** A definition that came into force, or null for one that went. */
  definition(id: string, value: Buffer | null): void {
    this.#ops.push({ key: definitionKey(id), value })
  }

  /** What is taken of a limit, or null when there is nothing more to know of it. */
  limit(key: Buffer, entry: StateEntryInput | null): void {
    this.#entry(key, entry === null ? null : this.#codecs.state.encode(entry))
    this.#changelogState = true
  }

  /** A queue entry that no run stands behind. */
  unqueued(waiter: Waiter): void {
    this.#ops.push({ key: waiterKey(waiter), value: null })
  }

  /** A record that goes to another partition: in the transaction, or a delay could begin there a second time, and a command do twice what it asks for. */
  moved(records: RecordOut[]): void {
    this.out.push(...records)
    this.#changelogState = true
  }

  /** Something was judged by what no record says, such as whether a topic is there: the position is logged, so that nobody judges it anew. */
  judged(): void {
    this.#changelogState = true
  }

  /** A record for a topic of the user's. */
  written({ topic, partition, key, value, headers }: TopicRecord): void {
    this.out.push({ topic, key, value, headers, ...(partition === null ? {} : { partition }) })
    this.targets.add(topic)
    this.#changelogState = true
  }

  /** A timer that was handed out: it goes, whatever was decided. */
  popped(timer: Timer): void {
    this.#ops.push({ key: timerKey(timer), value: null })
    const timers = this.#popped.get(timer.jobId)
    if (timers === undefined) this.#popped.set(timer.jobId, [timer])
    else timers.push(timer)
  }

  /** Ends the collection. `written` hears of each timer that is added, `queued` of each run that joins a queue. */
  finish(written: (timer: Timer) => void, queued: (waiter: Waiter) => void): { changelog: RecordOut[]; ops: StoreOp[] } {
    const changelog = [...this.#entries]
    const ops = [...this.#ops]
    for (const { job, changelogState } of this.#changed.values()) {
      if (changelogState) {
        const value = job.state === undefined ? null : this.#codecs.state.encode({ state: job.state })
        changelog.push(this.#record(stateKey(job.id), value))
      }
      this.#timerOps(job, ops, written)
      ops.push(...queueEntryOps(job.id, this.#loaded.get(job.id)?.job.state, job.state, queued))
      this.#indexOps(job, ops)
    }
    for (const { key, value } of changelog) ops.push({ key: key as Buffer, value })
    for (const timer of this.#extraTimers) {
      written(timer)
      ops.push({ key: timerKey(timer), value: emptyValue })
    }
    return { changelog, ops }
  }

  #timerOps(job: Job, ops: StoreOp[], written: (timer: Timer) => void): void {
    const loaded = this.#loaded.get(job.id)
    const before = loaded?.timers ?? []
    const after = timersOf(job)
    const popped = this.#popped.get(job.id) ?? []
    for (const timer of before) {
      if (!after.some((other) => sameTimer(timer, other))) ops.push({ key: timerKey(timer), value: null })
    }
    for (const timer of after) {
      const known = before.some((other) => sameTimer(timer, other))
      // One that was handed out in this batch is deleted by it. A changed job may need it once more, also one that has no state before and
      // after because it was deleted and defined anew meanwhile; an unchanged one has decided to wait for something else, such as a lease
      // that was renewed.
      // A deletion's timer goes with the tombstone it makes, although the state still has it until that tombstone is read.
      const stored = timer.kind !== timerKind.delete && !popped.some((other) => sameTimer(timer, other))
      const isUnchanged = job.state === loaded?.job.state && job.definition === loaded?.job.definition
      if (known && (isUnchanged || stored)) continue
      written(timer)
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

  #output(key: string, output: Decision['out'][number]): void {
    const partition = this.#partition
    if (output.kind === 'record') return this.written(output.record)
    if (output.kind !== 'tombstone') {
      const place = { partition, partitions: this.#partitions, names: this.#names, codecs: this.#codecs }
      this.out.push(outputRecord(place, key, output))
      return
    }
    const headers: Record<string, string> = { [observedOffsetHeader]: String(output.observedOffset) }
    if (output.observedDeleteAt !== undefined) headers[observedDeleteAtHeader] = String(output.observedDeleteAt)
    this.nonTransactionalWriter.push({ topic: this.#names.jobs, partition, key, value: null, headers })
  }
}

const sameTimer = (left: Timer, right: Timer): boolean =>
  left.dueAt === right.dueAt && left.kind === right.kind && left.runNo === right.runNo
