/** The size of a record in the log, for every limit in bytes. */

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
