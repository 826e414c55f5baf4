/** What the processes of a history have in memory, as it can be seen from outside: what readers gave them that no turn has folded yet, and what turns load. */

import type { Batch, Position } from '../../../src/ports/log.ts'
import type { PartitionView } from '../../../src/ports/owner-views.ts'
import type { StoreOp } from '../../../src/ports/store.ts'
import { jobIdOfKey, prefix } from '../../../streams/state/keys.ts'
import { names } from '../world.ts'

/** Bytes that stood in a mailbox, or were on their way through it, when they were most; of what one process does in one partition. */
export interface Waiting {
  who: string
  partition: number
  bytes: number
}

/** Bytes of jobs that were read between two writes of a store, and how many of them belong to the largest. Only of jobs that had been met: how large others are nobody knows before they are read. */
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

  /** The most of each process and partition. */
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

  /** Of several loads the one that has most besides its largest job. */
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

/** What the reader of one process gave it of its inputs. */
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

  /** It reads on from there: what it was given beyond that is given again. */
  sought({ topic, partition, offset }: Position): void {
    this.#given = this.#given.filter(
      (record) => record.topic !== topic || record.partition !== partition || record.offset < offset,
    )
  }

  /** Before it hears of them. What it takes for no use it lets go at once; so no more than its mailbox says are counted. */
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
    const waiting = view.mailboxDepth === 0 ? [] : before.slice(-view.mailboxDepth)
    this.#fullness.held({ who: this.#who, partition, bytes: sum(waiting) + sum(now) })
  }
}

/** Between two looks of a sweeper, which writes nothing, is more; a turn reads without a pause. In ms. */
const pauseMs = 1_000

const ofJobs = new Set<number>([prefix.definition, prefix.state, prefix.snapshot])

/** What one process reads of the jobs of one store. */
export class Loaded {
  readonly #who: string
  readonly #partition: number
  readonly #fullness: Fullness
  readonly #jobs = new Map<string, number>()
  #readAtMs = 0
  /** Read or written before this turn, since the store was opened. */
  readonly #met = new Set<string>()
  readonly #meets = new Set<string>()

  constructor(who: string, partition: number, fullness: Fullness) {
    this.#who = who
    this.#partition = partition
    this.#fullness = fullness
  }

  /** `inTurn`: what was read is needed together until the store is written, or nothing was read for a while. Else each read is let go before the next. */
  read(keys: readonly Buffer[], values: readonly (Buffer | null)[], inTurn: boolean, nowMs: number): void {
    if (!inTurn || nowMs - this.#readAtMs > pauseMs) this.#jobs.clear()
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

  /** The turn has ended. */
  written(ops: readonly StoreOp[]): void {
    this.#jobs.clear()
    for (const { key } of ops) if (key[0] === prefix.definition) this.#met.add(jobIdOfKey(key))
    for (const id of this.#meets) this.#met.add(id)
    this.#meets.clear()
  }
}
