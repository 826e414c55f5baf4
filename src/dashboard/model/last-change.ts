/** Who changed a job last, by the audit trail: programs that write to the topic `jobs` themselves are not in it. */
import type { AuditRecord } from '../../answers/index.ts'

export interface LastChange {
  /** The newest change by the API that was done. */
  record: AuditRecord | undefined
  /** The definition in force was written to the topic by a program, after all that the API has written. */
  byProducer: boolean
}

const definitions: ReadonlySet<string> = new Set(['PUT', 'CREATE', 'BATCH'])

/** `records`: of the job, newest first. */
export function lastChangeOf(records: readonly AuditRecord[], etag: string): LastChange {
  const done = records.filter(({ outcome }) => outcome === 'DONE')
  const written = done.find(({ action }) => definitions.has(action))
  return { record: done[0], byProducer: written?.version != null && isLater(etag, written.version) }
}

/** Versions are `<partition>.<offset>`. */
function isLater(etag: string, version: string): boolean {
  const [[partition, offset], [other, before]] = [etag.replaceAll('"', ''), version].map((text) => text.split('.')) as [
    string[],
    string[],
  ]
  return partition === other && Number(offset) > Number(before)
}
