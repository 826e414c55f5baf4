/**
 * Conditions in the headers of a record on jobs. The owner checks them in the order of the log, which is the same for all writers of a
 * job. The writer learns the result from the definition in force once the record is applied.
 */

/** Header of a definition or tombstone: it counts only if the definition in force has this offset, or with `*` if there is any. */
export const onlyOverHeader = 'only-over'
/** Header of a definition: it counts only if no other is in force. */
export const onlyNewHeader = 'only-new'
/** Header of a tombstone: a definition after this offset wins against it. */
export const observedOffsetHeader = 'observed-offset'
/** Header of a tombstone: it counts only if the job is still to be deleted at this time, epoch ms. A job that was revived meanwhile is not. */
export const observedDeleteAtHeader = 'observed-delete-at'

/** Offset of the definition that must be in force. `any`: there must be one. `none`: there must be none. */
export type OnlyOver = number | 'any' | 'none'

/** Undefined without the header. An unreadable condition never holds. */
export function onlyOverOf(headers: Record<string, Buffer>): OnlyOver | undefined {
  if (headers[onlyNewHeader] !== undefined) return 'none'
  const text = headers[onlyOverHeader]?.toString()
  if (text === undefined || text === '*') return text === undefined ? undefined : 'any'
  return /^\d{1,16}$/.test(text) ? Number(text) : -1
}

export function onlyOverHeaders(condition: OnlyOver): Record<string, string> {
  if (condition === 'none') return { [onlyNewHeader]: '' }
  return { [onlyOverHeader]: condition === 'any' ? '*' : String(condition) }
}

/** Whether a record means a definition by its offset, which is another one in a copy. */
export const namesOffset = (headers: Record<string, Buffer>): boolean =>
  headers[observedOffsetHeader] !== undefined || typeof onlyOverOf(headers) === 'number'

/** Whether the condition holds over the definition in force. */
export function holds(condition: OnlyOver | undefined, inForce: { offset: number } | undefined): boolean {
  if (condition === undefined) return true
  if (condition === 'none') return inForce === undefined
  return inForce !== undefined && (condition === 'any' || condition === inForce.offset)
}
