/** Before a fold: loads what it may need to know of shared limits, and calls those that may find a slot in it. */
import type { Job } from '../../streams/job.ts'
import type { Waiter } from '../../streams/keys.ts'
import { holdsSlot } from '../../streams/limits/slots.ts'
import type { Admissions } from './admissions.ts'
import type { SchedulerCodecs } from './codecs.ts'
import { loadJobs } from './job-loader.ts'
import { addLimitKeys, KeyLedger, type LimitKeys } from './key-ledger.ts'
import type { Mail } from './mailbox.ts'
import type { PartitionStore } from './ports.ts'

export interface Called {
  ledger: KeyLedger
  /** In the order in which they are to be asked, key by key. */
  waiters: Waiter[]
  /** Keys of rate limits whose starts are out of date. */
  outdated: string[]
}

interface CallContext {
  store: PartitionStore
  codecs: SchedulerCodecs
  admissions: Admissions
}

/** Adds to `jobs` those of the runs that are called. */
export async function callHeads(context: CallContext, jobs: Map<string, Job>, mails: Mail[], now: number): Promise<Called> {
  const { store, codecs, admissions } = context
  const ledger = new KeyLedger()
  const outdated = await admissions.sweep(store, now)
  const marked = admissions.takeMarked()
  const keys: LimitKeys = { slots: new Set(marked), starts: new Set(outdated) }
  for (const job of jobs.values()) addLimitKeys(keys, job)
  for (const { input } of mails) if (input?.kind === 'definition') addLimitKeys(keys, { definition: input.definition })
  await ledger.load(store, codecs, keys)
  const { freed, redefined } = expected(jobs, mails)
  const waiters = await admissions.heads(store, new Set([...marked, ...freed.keys(), ...redefined]), ledger, freed)
  const unknown = new Set(waiters.map(({ jobId }) => jobId).filter((id) => !jobs.has(id)))
  if (unknown.size > 0) {
    const more: LimitKeys = { slots: new Set(), starts: new Set() }
    for (const [id, job] of await loadJobs(store, codecs, [...unknown])) {
      jobs.set(id, job)
      addLimitKeys(more, job)
    }
    await ledger.load(store, codecs, more)
  }
  return { ledger, waiters, outdated }
}

/** Slots that the mail is likely to give back, and keys whose number of slots it may change. Whatever else does is marked by the fold. */
function expected(jobs: ReadonlyMap<string, Job>, mails: Mail[]): { freed: Map<string, number>; redefined: Set<string> } {
  const freed = new Map<string, number>()
  const redefined = new Set<string>()
  for (const { input, jobId } of mails) {
    if (input?.kind === 'definition') {
      const key = input.definition.spec?.concurrencyKey ?? null
      if (key !== null) redefined.add(key)
    }
    if (input?.kind !== 'event' || (input.event.type !== 'SUCCEEDED' && input.event.type !== 'FAILED')) continue
    const run = jobs.get(jobId)?.state?.active.find(({ runNo }) => runNo === input.event.runNo)
    const key = run?.limits?.concurrencyKey ?? null
    if (run !== undefined && key !== null && holdsSlot(run)) freed.set(key, (freed.get(key) ?? 0) + 1)
  }
  return { freed, redefined }
}
