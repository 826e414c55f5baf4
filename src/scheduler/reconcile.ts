/**
 * Definitions that were applied before the state they belong to was known.
 *
 * While warming, definitions are read although the previous owner may still log states. A state that came afterwards and has not taken
 * the stored definition into account gets it as an input now; one whose definition went has its deletion repeated.
 */
import type { SchedulerCodecs } from './codecs.ts'
import { loadJobs } from './job-loader.ts'
import type { Mail } from './mailbox.ts'
import type { PartitionStore } from './ports.ts'

const slice = 1_000

/** Mail that has to be folded before any other. `jobsApplied`: definitions before it are part of the store. */
export async function reconcile(
  codecs: SchedulerCodecs,
  store: PartitionStore,
  touched: ReadonlySet<string>,
  jobsApplied: number,
): Promise<Mail[]> {
  const mails: Mail[] = []
  const ids = [...touched]
  for (let from = 0; from < ids.length; from += slice) {
    for (const job of (await loadJobs(store, codecs, ids.slice(from, from + slice))).values()) {
      const { definition, state } = job
      if (state === undefined) continue
      const mail = { source: 'jobs', offset: jobsApplied - 1, jobId: job.id, value: null, bytes: 0, moved: undefined } as const
      if (definition === undefined && state.specOffset < jobsApplied) {
        mails.push({ ...mail, input: { kind: 'deletion', offset: jobsApplied - 1 } })
      } else if (definition !== undefined && definition.offset > state.specOffset) {
        mails.push({ ...mail, input: { kind: 'definition', definition, reread: true } })
      }
    }
  }
  return mails
}
