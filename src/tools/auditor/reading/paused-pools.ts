/** Which pools are paused, by the records of the topic `pauses`, read in one pass. */
import { BoundedMap } from '../../../ground/concurrency/index.ts'
import type { RecordIn } from '../../../ground/ports/index.ts'

/** Pools that are kept. Any client may write to the topic; the oldest go first. */
const poolsMax = 2_000

export class PausedPools {
  readonly #graceMs: number
  /** Null: it is paused. Else when it was resumed, epoch ms. */
  readonly #resumedAt = new BoundedMap<string, number | null>(poolsMax)

  /** `graceMs`: for so long after it was resumed a pool still counts as paused, as its owners may not have acted on it. */
  constructor(graceMs: number) {
    this.#graceMs = graceMs
  }

  note({ key, value, timestampMs }: Pick<RecordIn, 'key' | 'value' | 'timestampMs'>): void {
    const [, pool] = /^pool\/(.{1,64})$/s.exec(key?.toString() ?? '') ?? []
    if (pool !== undefined) this.#resumedAt.renew(pool, value === null ? timestampMs : null)
  }

  isPaused(pool: string, nowMs: number): boolean {
    const resumedAt = this.#resumedAt.get(pool)
    return resumedAt === null || (resumedAt !== undefined && nowMs - resumedAt <= this.#graceMs)
  }
}
