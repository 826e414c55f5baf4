/** What the comparison asks of each system. */
import { createRequire } from 'node:module'

export interface PeerJob {
  id: string
  /** Epoch ms; null: at once. */
  dueAtMs: number | null
  payload: string
}

/** Where a system runs. */
export interface Place {
  /** Of Redis, of a database of PostgreSQL, or `host:port` of a broker. */
  url: string
  registryUrl: string
  /** Prefix of all topics. */
  prefix: string
}

/** In the process of the program that schedules. */
export interface Producer {
  /** Resolves when the system has acknowledged the job as durable, by its own rules. */
  schedule(job: PeerJob): Promise<void>
  scheduleMany(jobs: Iterable<PeerJob>): Promise<void>
  /** Jobs that the system holds. */
  count(): Promise<number>
  close(): Promise<void>
}

/** In the process of the worker. */
export interface Worker {
  close(): Promise<void>
}

export interface System {
  produce(place: Place): Promise<Producer>
  /** Absent: it is a log without a scheduler. `onStart` is the handler. */
  work?(place: Place, onStart: (id: string) => void): Promise<Worker>
}

/** Handlers that a worker runs at once. */
export const concurrency = 100
export const batchSize = 1_000

const require = createRequire(new URL('../package.json', import.meta.url))

/** A module of `bench/peers/node_modules`, which the compiler does not see. */
export async function load<Module>(name: string): Promise<Module> {
  return (await import(require.resolve(name))) as Module
}

export function* batches<Item>(items: Iterable<Item>, size = batchSize): Generator<Item[]> {
  let batch: Item[] = []
  for (const item of items) {
    batch.push(item)
    if (batch.length < size) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

/** Writes batch after batch, with at most `inFlight` of them on their way. */
export async function writeBatches<Item>(
  items: Iterable<Item>,
  inFlight: number,
  write: (batch: Item[]) => Promise<unknown>,
): Promise<void> {
  const open = new Set<Promise<unknown>>()
  for (const batch of batches(items)) {
    const writing: Promise<unknown> = write(batch).finally(() => open.delete(writing))
    open.add(writing)
    if (open.size >= inFlight) await Promise.race(open)
  }
  await Promise.all(open)
}
