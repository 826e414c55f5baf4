/** Keys of the limits that a job shares with others: those of its definition in force, and those that its active runs were made with. */
import type { Job } from './job.ts'

export interface LimitKeys {
  /** Each a concurrencyKey. */
  slots: Set<string>
  /** Each the key of a rateLimit. */
  starts: Set<string>
}

/** Adds the keys that decisions about a job may touch. */
export function addLimitKeys(keys: LimitKeys, { definition, state }: Pick<Job, 'definition' | 'state'>): void {
  const spec = definition?.spec
  if (spec !== undefined && spec.concurrencyKey !== null) keys.slots.add(spec.concurrencyKey)
  if (spec !== undefined && spec.rateLimit !== null) keys.starts.add(spec.rateLimit.key)
  for (const { limits } of state?.active ?? []) {
    if (limits === null) continue
    if (limits.concurrencyKey !== null) keys.slots.add(limits.concurrencyKey)
    if (limits.rateKey !== null) keys.starts.add(limits.rateKey)
  }
}
