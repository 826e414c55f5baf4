/** Before a batch is applied: loads the shared limits it may need, and selects the waiting runs that may get a slot in it. */
import { addLimitKeys, holdsSlot, type Job, type LimitKeys, type Waiter } from '../../../streams/state/index.ts'
import type { InputRecord } from '../input/index.ts'
import { LimitCounters } from '../limits/index.ts'
import { type Batch, loadWaiters } from './batch-limits.ts'
import type { CommitContext } from './commit-context.ts'

export interface AdmissionCandidates {
  limitCounters: LimitCounters
  /** In the order in which they are tried, key by key. */
  waiters: Waiter[]
  /** Keys of rate limits whose starts are outdated. */
  outdated: string[]
}

/** Adds the jobs of the selected runs to the batch: as many as the commit cycle can write. The others follow in later cycles. */
export async function loadAdmissionCandidates(context: CommitContext, batch: Batch, now: number): Promise<AdmissionCandidates> {
  const {
    admissionQueue,
    failureIsolation,
    local: { store, heavyJobs, activeJobs },
  } = context
  const { codecs } = context.shared
  const { jobs, inputRecords } = batch
  const limitCounters = new LimitCounters()
  const outdated = await admissionQueue.sweep(store, now)
  const marked = admissionQueue.takeMarked()
  const keys: LimitKeys = { slots: new Set(marked), starts: new Set(outdated) }
  for (const job of jobs.values()) addLimitKeys(keys, job)
  for (const { input } of inputRecords) if (input?.kind === 'definition') addLimitKeys(keys, { definition: input.definition })
  await limitCounters.load(store, codecs, keys)
  const { freed, redefined } = expected(jobs, inputRecords)
  const heads = await admissionQueue.heads(store, new Set([...marked, ...freed.keys(), ...redefined]), limitCounters, freed)
  const most = failureIsolation.fitting(heads.length, batch.timers.length + inputRecords.length)
  const asked = heads.slice(0, Math.max(0, most))
  const waiters = asked.slice(0, await loadWaiters({ store, codecs, heavyJobs, activeJobs }, batch, asked))
  admissionQueue.mark(heads.slice(waiters.length).map(({ key }) => key))
  const more: LimitKeys = { slots: new Set(), starts: new Set() }
  for (const { jobId } of waiters) addLimitKeys(more, jobs.get(jobId) ?? {})
  await limitCounters.load(store, codecs, more)
  return { limitCounters, waiters, outdated }
}

/**
 * Slots that the input records will probably release, and keys whose limit they may change. Applying the batch marks all other
 * changes.
 */
function expected(
  jobs: ReadonlyMap<string, Job>,
  inputRecords: InputRecord[],
): { freed: Map<string, number>; redefined: Set<string> } {
  const freed = new Map<string, number>()
  const redefined = new Set<string>()
  for (const { input, jobId } of inputRecords) {
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
