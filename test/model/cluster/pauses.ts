/** Pauses of the pool: the operator who writes them, and what each process has read of them, seen from outside. */
import type { Execution } from '../../../schemas/generated.ts'
import type { Batch, GroupReaderOptions, Log } from '../../../src/ground/ports/log.ts'
import type { Brokers, KeepingGroup } from '../../../src/testing/simulation/simulated-log.ts'
import type { Transaction } from '../../tools/memory-log.ts'
import type { PauseFacts, PauseRead } from '../oracle/facts.ts'
import { read, readable } from '../oracle/reading.ts'
import { codecs, names } from '../world.ts'

/** The pool of all jobs. */
const pool = 'default'
const poolKey = `pool/${pool}`

export class Pauses implements PauseFacts {
  /** The groups in which schedulers read the pauses. */
  readonly groups = new Map<string, KeepingGroup>()
  readonly decided: { transaction: Transaction; pause: PauseRead | null }[] = []
  readonly begun: { worker: string; execution: Execution }[] = []
  readonly #cluster: Pick<Brokers, 'log' | 'chance' | 'time'>
  /** Whether the test doubles start nothing while the pool is paused. Those of earlier versions do. */
  readonly #areHeeded: boolean
  #mode: PauseRead['mode'] | undefined

  constructor(cluster: Pick<Brokers, 'log' | 'chance' | 'time'>) {
    this.#cluster = cluster
    this.#areHeeded = cluster.chance.happens(0.5)
  }

  /** Whether the pool is paused or drained, by the last record. */
  get isPaused(): boolean {
    return this.#mode !== undefined
  }

  get stopsDoubles(): boolean {
    return this.#areHeeded && this.#mode === 'PAUSE'
  }

  /** One action of the operator. Returns its description. */
  act(): string {
    const what = this.#cluster.chance.weighted({ pause: 4, drain: 1, resume: this.isPaused ? 4 : 0.3, nonsense: 0.5 })
    if (what === 'resume') this.resume()
    else if (what === 'nonsense') this.#write(Buffer.from('nonsense'))
    else {
      this.#mode = what === 'drain' ? 'DRAIN' : 'PAUSE'
      this.#write(codecs.pause.encode({ name: pool, mode: this.#mode, at: this.#cluster.time.nowMs, actor: 'operator' }))
    }
    return `operator: ${what}`
  }

  resume(): void {
    this.#mode = undefined
    this.#write(null)
  }

  #write(value: Buffer | null): void {
    this.#cluster.log.append([{ topic: names.pauses, key: poolKey, value }])
  }
}

/** What one process knows of the pause of the pool. */
export class Heard {
  readonly #pauses: Pauses
  /** Null: the pool is not paused, or the process has not read that it is. */
  #pause: PauseRead | null = null
  #offset = -1
  /** Batches that the process is applying. Meanwhile nobody outside can tell what it knows. */
  #applying = 0
  /** Grows whenever the process may have learned something. */
  #changes = 0
  /** By partition: `#changes` at a time when no commit cycle ran. */
  readonly #between = new Map<number, number>()

  constructor(pauses: Pauses) {
    this.#pauses = pauses
  }

  /** The log of the process. */
  in(log: Log): Log {
    const reader = (options: GroupReaderOptions) => log.reader({ ...options, onBatch: (batch) => this.#take(batch, options) })
    return { ...log, reader: (options) => (options.topics.includes(names.pauses) ? reader(options) : log.reader(options)) }
  }

  /** No commit cycle of this partition runs. */
  betweenCycles(partition: number): void {
    this.#between.set(partition, this.#changes)
  }

  /**
   * The owner of this partition has decided, and sends a transaction. Returns what takes this transaction. It counts if the owner
   * has learned nothing since its commit cycle began.
   */
  sends(partition: number): ((transaction: Transaction) => void) | undefined {
    const pause = this.#pause
    const isSure = this.#applying === 0 && this.#between.get(partition) === this.#changes
    return isSure ? (transaction) => void this.#pauses.decided.push({ transaction, pause }) : undefined
  }

  /** The worker has called a handler. */
  began(worker: string, execution: Execution): void {
    if (this.#applying === 0 && this.#pause?.mode === 'PAUSE') this.#pauses.begun.push({ worker, execution })
  }

  async #take(batch: Batch, { onBatch }: GroupReaderOptions): Promise<void> {
    const news = batch.records.filter(({ key, offset }) => key?.toString() === poolKey && offset > this.#offset)
    if (news.length === 0) return onBatch(batch)
    this.#changes++
    this.#applying++
    await onBatch(batch)
    for (const { offset, value } of news) {
      const pause = readable(read.pause, value)
      if (offset <= this.#offset) continue
      this.#offset = offset
      if (value === null) this.#pause = null
      else if (pause !== undefined) this.#pause = { mode: pause.mode, at: pause.at }
    }
    this.#applying--
    this.#changes++
  }
}
