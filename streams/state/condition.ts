/**
 * Conditions that travel with a record on jobs, so that the owner judges them where all writers of a job meet: in the order of the log.
 * Whoever writes one hears from the owner whether it held, by what is in force once the record is applied.
 */

/** Header of a definition or a tombstone that counts only while the definition in force is that at this offset, or with `*` while there is any. */
export const onlyOverHeader = 'only-over'
/** Header of a definition that counts only where no other is in force. An owner of an earlier version passes it over. */
export const onlyNewHeader = 'only-new'
/** Header of a tombstone that must lose against a definition after this offset. */
export const observedOffsetHeader = 'observed-offset'
/** Header of the same: it counts only while the job is to be deleted at this time, epoch ms. A job that was revived meanwhile is not. */
export const observedDeleteAtHeader = 'observed-delete-at'

/** Offset of the definition that must be in force; `any` is whichever, `none` that there is none. */
export type OnlyOver = number | 'any' | 'none'

/** Undefined without the header. What cannot be read holds never. */
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

/** Whether the condition holds over the definition in force. */
export function holds(condition: OnlyOver | undefined, inForce: { offset: number } | undefined): boolean {
  if (condition === undefined) return true
  if (condition === 'none') return inForce === undefined
  return inForce !== undefined && (condition === 'any' || condition === inForce.offset)
}
