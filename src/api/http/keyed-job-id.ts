/** The id of a job that is created with an Idempotency-Key. */
import { createHash } from 'node:crypto'
import type { JobDefinition } from '../../../schemas/index.ts'
import { definitionToJson } from '../../../streams/definitions/index.ts'
import { writeJson } from '../../../streams/text/index.ts'

/**
 * The same id for the same key, definition and caller; otherwise another one. A key that is used for two definitions makes two
 * jobs, and no caller reaches the jobs of others by their keys. It has the form of a UUID (version 8), like ids that are made
 * without a key.
 */
export function keyedJobId(actor: string | null, key: string, definition: JobDefinition): string {
  const hash = createHash('sha256').update(writeJson([actor, key, definitionToJson(definition)]))
  const bytes = hash.digest().subarray(0, 16)
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
