/** Records of any topic: their size in the log, marks, and copies. */

/** Most bytes in the log for length, offset and time deltas, key and value lengths, and for the lengths of each header. */
const overheadBytes = 32
const headerOverheadBytes = 10

interface SizedRecord {
  key: Buffer | string | null
  value: Buffer | null
  headers?: Readonly<Record<string, Buffer | string>> | undefined
}

/** Upper bound of the bytes that a record takes in the log. */
export function recordBytes({ key, value, headers }: SizedRecord): number {
  let bytes = overheadBytes + (key === null ? 0 : Buffer.byteLength(key)) + (value?.length ?? 0)
  for (const name in headers) bytes += headerOverheadBytes + 3 * name.length + Buffer.byteLength(headers[name] ?? '')
  return bytes
}

/** Header of a mark: a record that every reader skips. Its writer finds the end of a log (ADR 0018) or learns the broker's time (ADR 0039). */
export const markHeader = 'duelog-mark'
/** Key of a mark. No job can have this id, so compaction removes no definition because of it. */
export const markKey = '\u0000duelog-mark'
/** Header of the tombstone that replaces a definition when it is moved to the partition of its job. */
export const movedHeader = 'duelog-moved'
/** Header of entries of job-state that a restore has written: what led to them is in the logs of another system. */
export const restoredHeader = 'duelog-restored'
/** Header of a definition that was copied from another log: its append time there, epoch ms. */
export const appendedAtHeader = 'duelog-appended-at'

/**
 * Append time of a definition, epoch ms. The header counts only if it is earlier than the broker's time, so that no record comes from the
 * future. Its writer makes nothing but its own definition older.
 */
export function appendedAtOf({
  timestampMs,
  headers,
}: {
  timestampMs: number
  headers: Readonly<Record<string, Uint8Array>>
}): number {
  const copied = headers[appendedAtHeader]
  const text = copied === undefined ? '' : Buffer.from(copied).toString('latin1')
  return /^\d{1,16}$/.test(text) ? Math.min(Number(text), timestampMs) : timestampMs
}
