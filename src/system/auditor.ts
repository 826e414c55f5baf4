/** Creates and starts the auditor of this process. */
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Auditor } from '../auditor/index.ts'
import type { Scheduler } from '../scheduler/index.ts'
import type { ProcessContext } from './process-context.ts'

/** An owner in the same process has priority: the auditor joins when the partitions fire, or at the latest after this time. */
const ownerFirstMs = 30_000

/** Undefined: this process does not have the role.  `clusterId`: undefined if unknown. */
export async function auditorOf(parts: ProcessContext, clusterId: string | undefined): Promise<Auditor | undefined> {
  const { config, logger, log, codecs, names, instance, metrics, clock, pauses } = parts
  if (!config.roles.has('auditor')) return undefined
  const [{ Auditor }, { rocksStores }, { peerNote }] = await Promise.all([
    import('../auditor/index.ts'),
    import('../store/index.ts'),
    import('../api/index.ts'),
  ])
  return new Auditor({
    log,
    codecs,
    names,
    clusterId,
    instance,
    userData: () => peerNote(parts.url, config.apiTokens),
    stores: rocksStores(join(config.dataDir, 'auditor')),
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
