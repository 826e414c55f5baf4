/** The concurrency keys and rate limits in use, for people: those with most waiting runs first. */
import { limitKeyOf, prefix, rangeOf, rateUse, startsOf } from '../../../streams/state/index.ts'
import type { LimitUse, PartitionStore } from '../../ground/ports/index.ts'
import type { SchedulerCodecs } from '../options/index.ts'
import { entryOf } from '../state/index.ts'

/** Keys that are read, and those that are answered, of each kind. */
const readMax = 2_000
const ratesReadMax = 500
/** The starts of a rate can be ten thousand numbers. */
const ratesBytesMax = 512 * 1024
export const limitUsesMax = 100

export async function limitUses(store: PartitionStore, codecs: SchedulerCodecs, now: number): Promise<LimitUse[]> {
  return [...(await concurrencyUses(store, codecs)), ...(await rateUses(store, codecs, now))]
}

async function concurrencyUses(store: PartitionStore, codecs: SchedulerCodecs): Promise<LimitUse[]> {
  const found: LimitUse[] = []
  for (const { key, value } of await store.scan({ ...rangeOf(prefix.slots), limit: readMax })) {
    const { slots = null } = (await entryOf(codecs, value)) ?? {}
    if (slots !== null && slots.held + slots.waiting > 0) found.push({ key: limitKeyOf(key), ...slots })
  }
  const mostWaiting = (a: LimitUse, b: LimitUse): number => b.waiting - a.waiting || b.held / b.limit - a.held / a.limit
  return found.sort(mostWaiting).slice(0, limitUsesMax)
}

async function rateUses(store: PartitionStore, codecs: SchedulerCodecs, now: number): Promise<LimitUse[]> {
  const found: LimitUse[] = []
  let bytes = 0
  for (const { key, value } of await store.scan({ ...rangeOf(prefix.starts), limit: ratesReadMax })) {
    bytes += value.length
    if (bytes > ratesBytesMax && found.length > 0) break
    const { starts = null } = (await entryOf(codecs, value)) ?? {}
    if (starts === null) continue
    const { started, ahead, nextAt } = rateUse(startsOf(starts), now)
    if (started + ahead > 0)
      found.push({ key: limitKeyOf(key), limit: starts.limit, held: started, waiting: ahead, perMs: starts.perMs, nextAt })
  }
  return found.sort((a, b) => b.waiting - a.waiting || b.held / b.limit - a.held / a.limit).slice(0, limitUsesMax)
}
