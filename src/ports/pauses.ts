/** Port to the pauses: which pools and workers are paused or drained, as the topic `pauses` says. */
import type { PoolPause } from '../../streams/state/index.ts'

/** PAUSE: nothing starts. DRAIN of a pool: its workers still start what was dispatched before. */
export const pauseModes = ['PAUSE', 'DRAIN'] as const
export type PauseMode = (typeof pauseModes)[number]

/** For owners and workers, who ask without waiting. */
export interface Pauses {
  /** Undefined: the pool is not paused. */
  ofPool(pool: string): PoolPause | undefined
  isWorkerPaused(instance: string): boolean
  /** Grows with each change. */
  readonly version: number
  /** Calls the listener after each change. Returns what ends that. */
  onChange(listener: () => void): () => void
}

export interface KnownPause {
  kind: 'pool' | 'worker'
  /** Name of the pool, or name@host:pid:boot of the worker. */
  name: string
  mode: PauseMode
  /** Epoch ms. */
  at: number
  actor: string | null
  /** Of a worker: the pools that it served. */
  pools: string[]
}

/** For those who change them. */
export interface PauseControl {
  all(): KnownPause[]
  /** Resolves when this process has read it, or after a few seconds. Rejects with `broker-unavailable`, and with `overloaded` if too many are paused. */
  pause(pause: Omit<KnownPause, 'at'>): Promise<void>
  resume(kind: KnownPause['kind'], name: string): Promise<void>
}
