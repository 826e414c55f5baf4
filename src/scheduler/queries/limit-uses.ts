/** The concurrencyKeys in use, for people: those with most waiting runs first. */
import { limitKeyOf, prefix, rangeOf } from '../../../streams/state/index.ts'
import type { LimitUse, PartitionStore } from '../../ports/index.ts'
import type { SchedulerCodecs } from '../options/index.ts'
import { entryOf } from '../state/index.ts'

/** Keys that are read, and those that are answered. */
const readMax = 2_000
export const limitUsesMax = 100

export async function limitUses(store: PartitionStore, codecs: SchedulerCodecs): Promise<LimitUse[]> {
  const found: LimitUse[] = []
  for (const { key, value } of await store.scan({ ...rangeOf(prefix.slots), limit: readMax })) {
    const { slots = null } = (await entryOf(codecs, value)) ?? {}
    if (slots !== null && slots.held + slots.waiting > 0) found.push({ key: limitKeyOf(key), ...slots })
  }
  const mostWaiting = (a: LimitUse, b: LimitUse): number => b.waiting - a.waiting || b.held / b.limit - a.held / a.limit
  return found.sort(mostWaiting).slice(0, limitUsesMax)
}
