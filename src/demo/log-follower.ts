/**
 * Reads the outcome from the log only, as any Kafka consumer could: executions, events, job-state and dead letters, read committed.
 * It uses its own consumer group and commits nothing.
 */
import { prefix } from '../../streams/state/index.ts'
import { priorities, type TopicNames } from '../../streams/topics/index.ts'
import type { Codecs } from '../kafka/index.ts'
import type { Batch, GroupReader, Log, RecordIn } from '../ports/index.ts'
import type { RunAccounts } from './run-accounts.ts'

export interface FollowerOptions {
  log: Log
  codecs: Codecs
  names: TopicNames
  ledger: RunAccounts
  /** Marker jobs, which the ledger does not count; see `seen`. */
  isMark(jobId: string): boolean
  onError(error: Error): void
}

export class LogFollower {
  /** Resolves when every expected occurrence has ended. */
  readonly complete: Promise<void>
  readonly #options: FollowerOptions
  readonly #executions: Set<string>
  readonly #reader: GroupReader
  readonly #complete = Promise.withResolvers<void>()
  /** Next offset by `topic/partition`: reading continues there after a rebalance, so that no record is entered twice. */
  readonly #next = new Map<string, { topic: string; partition: number; offset: number }>()
  /** The kinds of records that were read of each mark. */
  readonly #marks = new Map<string, Set<'execution' | 'end'>>()
  #awaited: { ids: ReadonlySet<string>; resolve(): void } | undefined

  constructor(options: FollowerOptions) {
    const { log, names } = options
    this.#options = options
    this.complete = this.#complete.promise
    this.#executions = new Set(
      priorities.flatMap((priority) => [false, true].map((ahead) => names.executions('default', priority, ahead))),
    )
    this.#reader = log.reader({
      groupId: names.group('demo'),
      instance: 'demo',
      topics: [...this.#executions, names.events, names.state, names.deadLetters],
      onAssigned: () => ({ positions: [...this.#next.values()] }),
      onBatch: (batch) => this.#read(batch),
      onCrash: options.onError,
    })
  }

  start(): Promise<void> {
    return this.#reader.start()
  }

  /** Resolves when the execution and the end of each mark were read. All records before them were read then too. */
  seen(ids: ReadonlySet<string>): Promise<void> {
    return new Promise((resolve) => {
      this.#awaited = { ids, resolve }
      this.#check()
    })
  }

  stop(): Promise<void> {
    return this.#reader.stop()
  }

  async #read({ topic, partition, records }: Batch): Promise<void> {
    const place = `${topic}/${partition}`
    try {
      for (const record of records) {
        if (record.offset < (this.#next.get(place)?.offset ?? 0)) continue
        await this.#enter(record)
        this.#next.set(place, { topic, partition, offset: record.offset + 1 })
      }
      this.#check()
    } catch (error) {
      this.#options.onError(error as Error)
    }
  }

  async #enter({ topic, key, value }: RecordIn): Promise<void> {
    const { codecs, names, ledger, isMark } = this.#options
    if (key === null || value === null) return
    if (this.#executions.has(topic)) {
      const execution = await codecs.execution.decode(value)
      if (isMark(execution.jobId)) this.#mark(execution.jobId, 'execution')
      else ledger.execution(execution)
    } else if (topic === names.events) {
      const event = await codecs.event.decode(value)
      if (!isMark(event.jobId)) ledger.event(event)
    } else if (topic === names.deadLetters) {
      ledger.deadLetter((await codecs.deadLetter.decode(value)).jobId)
    } else if (key[0] === prefix.state) {
      const { state } = await codecs.state.decode(value)
      const jobId = key.subarray(1).toString('utf8')
      if (!state?.lastRun) return
      if (isMark(jobId)) this.#mark(jobId, 'end')
      else ledger.finished(jobId, state.lastRun)
    }
  }

  #mark(id: string, kind: 'execution' | 'end'): void {
    this.#marks.set(id, (this.#marks.get(id) ?? new Set()).add(kind))
  }

  #check(): void {
    if (this.#options.ledger.complete) this.#complete.resolve()
    if (this.#awaited && [...this.#awaited.ids].every((id) => this.#marks.get(id)?.size === 2)) this.#awaited.resolve()
  }
}
