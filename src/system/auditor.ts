/** Joins the auditor to what this process has: its folder, the log, the settings. */
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { peerNote } from '../api/index.ts'
import { type Auditor, createAuditor, Pacing } from '../auditor/index.ts'
import type { Scheduler } from '../scheduler/index.ts'
import { rocksStores } from '../store/index.ts'
import type { ProcessContext } from './process-context.ts'

/** An owner in the same process comes first: the auditor joins when its partitions fire, or after so long. */
const ownerFirstMs = 30_000
/** Of the time of a process that also owns partitions: while they fire as they should, and while one of them does not. */
const shares = { beside: 0.5, behind: 0.1 }

/** Undefined: this process has not the role. `scheduler`: the one of this process. */
export function auditorOf(parts: ProcessContext, scheduler: Scheduler | undefined): Auditor | undefined {
  const { config, logger, log, codecs, names, instance, metrics, clock } = parts
  if (!config.roles.has('auditor')) return undefined
  const share = (owner: Scheduler): number => (owner.active ? shares.beside : shares.behind)
  return createAuditor({
    log,
    codecs,
    names,
    instance,
    userData: () => peerNote(parts.url, config.apiTokens),
    stores: rocksStores(join(config.dataDir, 'auditor')),
    pacing: new Pacing(() => (scheduler === undefined ? 1 : share(scheduler))),
    clock,
    metrics,
    logger,
    graceMs: config.auditGraceMs,
  })
}

/** Once the URL of this process is known, which its member data carries, and the scheduler of this process has joined. */
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
