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

const require = createRequire(new URL('../package.json', import.meta.url))

/** A module of `bench/peers/node_modules`, which the compiler does not see. */
export async function load<Module>(name: string): Promise<Module> {
  return (await import(require.resolve(name))) as Module
}
