/** Joins the auditor to what this process has: its folder, the log, the settings. */
import { join } from 'node:path'
import { type Auditor, createAuditor } from './audit/role.ts'
import type { Parts } from './parts.ts'
import { rocksStores } from './store/rocks-store.ts'

/** Undefined: this process has not the role. */
export function auditorOf(parts: Parts): Auditor | undefined {
  const { config, logger, log, codecs, names, instance, metrics, clock } = parts
  if (!config.roles.has('auditor')) return undefined
  return createAuditor({
    log,
    codecs,
    names,
    instance,
    userData: () => ({ url: parts.url }),
    stores: rocksStores(join(config.dataDir, 'auditor')),
    clock,
    metrics,
    logger,
    graceMs: config.auditGraceMs,
  })
}

/** Once the URL of this process is known: its member data carries it. */
export async function startAuditor(auditor: Auditor | undefined, { undo }: Parts): Promise<void> {
  if (auditor === undefined) return
  undo.push(() => auditor.stop())
  await auditor.start()
}
