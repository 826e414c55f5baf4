/** Creates and starts the auditor of this process. */
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { peerNote } from '../api/index.ts'
import type { Auditor } from '../auditor/index.ts'
import type { Scheduler } from '../scheduler/index.ts'
import type { ProcessContext } from './process-context.ts'

/** An owner in the same process has priority: the auditor joins when the partitions fire, or at the latest after this time. */
const ownerFirstMs = 30_000
/** Share of the time of a process that also owns partitions: while all of them fire, and while one does not. */
const shares = { beside: 0.5, behind: 0.1 }

/** Undefined: this process does not have the role. `scheduler`: the scheduler of this process. `clusterId`: undefined if unknown. */
export async function auditorOf(
  parts: ProcessContext,
  scheduler: Scheduler | undefined,
  clusterId: string | undefined,
): Promise<Auditor | undefined> {
  const { config, logger, log, codecs, names, instance, metrics, clock, pauses } = parts
  if (!config.roles.has('auditor')) return undefined
  const [{ Auditor, Pacing }, { rocksStores }] = await Promise.all([import('../auditor/index.ts'), import('../store/index.ts')])
  const share = (owner: Scheduler): number => (owner.active ? shares.beside : shares.behind)
  return new Auditor({
    log,
    codecs,
    names,
    clusterId,
    instance,
    userData: () => peerNote(parts.url, config.apiTokens),
    stores: rocksStores(join(config.dataDir, 'auditor')),
    pacing: new Pacing(() => (scheduler === undefined ? 1 : share(scheduler))),
    clock,
    metrics,
    logger,
    pauses,
    graceMs: config.auditGraceMs,
  })
}

/** Call it when the scheduler of this process has joined and the URL of this process is known, because the member data contains it. */
export async function startAuditor(
  auditor: Auditor | undefined,
  scheduler: Scheduler | undefined,
  parts: ProcessContext,
): Promise<void> {
  if (auditor === undefined) return
  parts.undo.push(() => auditor.stop())
  if (scheduler === undefined) return auditor.start()
  auditor.startAfter(Promise.race([scheduler.ready(), setTimeout(ownerFirstMs, undefined, { ref: false })]))
}
