/**
 * The memory of the processes of a history, seen from outside: records that readers delivered and no commit cycle has applied
 * yet, and the jobs that commit cycles load.
 */

import type { Batch, Position } from '../../../src/ground/ports/log.ts'
import type { PartitionView } from '../../../src/ground/ports/owner-views.ts'
import type { StoreOp } from '../../../src/ground/ports/store.ts'
import { jobIdOfKey, prefix } from '../../../streams/state/keys.ts'
import { names } from '../world.ts'

/** The most bytes that were in the input buffer, or on their way to it, in one partition of one process. */
export interface Waiting {
  who: string
  partition: number
  bytes: number
}

/**
 * Bytes of jobs that were read between two writes of a store, and the bytes of the largest job. Only known jobs count: nobody
 * knows the size of another job before it is read.
 */
export interface Load {
  who: string
  partition: number
  bytes: number
  largest: number
}

const mostOf = (noted: Map<string, { bytes: number }>, name: string): number => noted.get(name)?.bytes ?? 0

export class Fullness {
  readonly #waiting = new Map<string, Waiting>()
  readonly #loads = new Map<string, Load>()

  /** Bytes of the largest transaction of an owner. */
  written = 0

  /** The maximum of each process and partition. */
  get waiting(): Waiting[] {
    return [...this.#waiting.values()]
  }

  get loads(): Load[] {
    return [...this.#loads.values()]
  }

  held(waiting: Waiting): void {
    const name = `${waiting.who}/${waiting.partition}`
    if (waiting.bytes > mostOf(this.#waiting, name)) this.#waiting.set(name, waiting)
  }

  /** Keeps the load that has most besides its largest job. */
  loaded(load: Load): void {
    const name = `${load.who}/${load.partition}`
    const known = this.#loads.get(name)
    if (known === undefined || load.bytes - load.largest > known.bytes - known.largest) this.#loads.set(name, load)
  }
}

const folded: Record<string, 'jobsOffset' | 'commandsOffset' | 'eventsOffset'> = {
  [names.jobs]: 'jobsOffset',
  [names.commands]: 'commandsOffset',
  [names.events]: 'eventsOffset',
}

interface GivenRecord {
  topic: string
  partition: number
  offset: number
  bytes: number
}

const sum = (records: readonly GivenRecord[]): number => records.reduce((total, { bytes }) => total + bytes, 0)

/**
 * The least bytes that `depth` of these records can have, if the last records of each topic wait: a process applies each topic in
 * its order, and may apply definitions before older commands and events.
 */
function leastOf(records: readonly GivenRecord[], depth: number): number {
  // At place n: the least bytes of n records of the topics so far.
  let least = [0]
  for (const topic of new Set(records.map((record) => record.topic))) {
    const newest = records.filter((record) => record.topic === topic).reverse()
    const joined: number[] = []
    let added = 0
    for (let more = 0; more <= newest.length; more++) {
      for (const [some, bytes] of least.entries())
        joined[some + more] = Math.min(joined[some + more] ?? Number.POSITIVE_INFINITY, bytes + added)
      added += newest[more]?.bytes ?? 0
    }
    least = joined
  }
  return least[Math.min(depth, least.length - 1)] ?? 0
}

/** The inputs that the reader of one process delivered. */
export class Given {
  readonly #who: string
  readonly #fullness: Fullness
  readonly #views: () => PartitionView[]
  #given: GivenRecord[] = []

  constructor(who: string, fullness: Fullness, views: () => PartitionView[]) {
    this.#who = who
    this.#fullness = fullness
    this.#views = views
  }

  /** The reader continues from there, so later records are delivered again. */
  sought({ topic, partition, offset }: Position): void {
    this.#given = this.#given.filter(
      (record) => record.topic !== topic || record.partition !== partition || record.offset < offset,
    )
  }

  /** Called before the process receives the records. */
  took({ topic, partition, records }: Batch): void {
    const view = this.#views().find((each) => each.partition === partition)
    if (folded[topic] === undefined || view === undefined) return
    this.#given = this.#given.filter((record) => {
      const position = folded[record.topic]
      return record.partition !== partition || (position !== undefined && record.offset >= view[position])
    })
    const before = this.#given.filter((record) => record.partition === partition)
    const now = records.map(({ offset, key, value }) => {
      return { topic, partition, offset, bytes: (key?.length ?? 0) + (value?.length ?? 0) }
    })
    this.#given.push(...now)
    this.#fullness.held({ who: this.#who, partition, bytes: leastOf(before, view.mailboxDepth) + sum(now) })
  }
}

/** A sweeper, which writes nothing, pauses longer between two reads. A commit cycle reads without a pause. In ms. */
const pauseMs = 1_000

const ofJobs = new Set<number>([prefix.definition, prefix.state, prefix.snapshot])

/** The jobs that one process reads from one store. */
export class Loaded {
  readonly #who: string
  readonly #partition: number
  readonly #fullness: Fullness
  readonly #jobs = new Map<string, number>()
  #readAtMs = 0
  /** Read or written before this commit cycle, since the store was opened. */
  readonly #met = new Set<string>()
  readonly #meets = new Set<string>()
  readonly #cyclesEnded: () => number
  #ended = 0

  /** `cyclesEnded`: how many commit cycles of the partition have ended so far (cycle-ends.ts). */
  constructor(who: string, partition: number, fullness: Fullness, cyclesEnded: () => number) {
    this.#who = who
    this.#partition = partition
    this.#fullness = fullness
    this.#cyclesEnded = cyclesEnded
  }

  /**
   * `inTurn`: what was read stays in memory until the store is written, until the commit cycle has ended without a write, or until
   * nothing was read for a while. Otherwise each read is released before the next.
   */
  read(keys: readonly Buffer[], values: readonly (Buffer | null)[], inTurn: boolean, nowMs: number): void {
    const ended = this.#cyclesEnded()
    if (!inTurn || ended > this.#ended || nowMs - this.#readAtMs > pauseMs) this.#jobs.clear()
    this.#ended = ended
    this.#readAtMs = nowMs
    for (const [at, key] of keys.entries()) {
      const value = values[at]
      if (!value || !ofJobs.has(key[0] ?? 0)) continue
      const id = jobIdOfKey(key)
      this.#meets.add(id)
      if (this.#met.has(id)) this.#jobs.set(id, (this.#jobs.get(id) ?? 0) + value.length)
    }
    const sizes = [...this.#jobs.values()]
    const bytes = sizes.reduce((sum, size) => sum + size, 0)
    this.#fullness.loaded({ who: this.#who, partition: this.#partition, bytes, largest: Math.max(0, ...sizes) })
  }

  /** The commit cycle has written the store, which is the last that it does. */
  written(ops: readonly StoreOp[]): void {
    this.#jobs.clear()
    for (const { key } of ops) if (key[0] === prefix.definition) this.#met.add(jobIdOfKey(key))
    for (const id of this.#meets) this.#met.add(id)
    this.#meets.clear()
  }
}
