/** Text that others wrote: UTF-8 or refused. Buffer.toString would replace what it cannot decode, and make different texts one. */

/** With `fatal`, throws for bytes that are not UTF-8. A byte order mark stays: only the first line of a file may have one. */
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The text of the bytes; undefined if they are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return strict.decode(bytes)
  } catch {
    return undefined
  }
}

/** What is wrong with bytes that are not UTF-8, and what to do. The line is the first wrong one, from 1. */
export function utf8Problem(bytes: Buffer): { line: number; what: string } {
  const utf16 = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)
  const what = utf16 ? 'is UTF-16, not UTF-8' : 'is not UTF-8'
  let line = 1
  for (let from = 0; from < bytes.length; line++) {
    const end = bytes.indexOf(0x0a, from)
    const next = end < 0 ? bytes.length : end + 1
    if (decodeUtf8(bytes.subarray(from, next)) === undefined) break
    from = next
  }
  return { line, what: `${what}. Save the file as UTF-8.` }
}
