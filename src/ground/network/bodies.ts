/** Bodies that others wrote, as lines or as text: bounded, and UTF-8 or refused. */

/** A line without its end. A line over the limit has no bytes, only its number. */
export interface Line {
  /** Counted from 1, blank lines included. */
  line: number
  bytes: Buffer | 'too-long'
}

const lineFeed = 0x0a
const carriageReturn = 0x0d

/**
 * Yields the lines that each chunk of the stream completes, never an empty group, and never waits while it holds a complete
 * line. The last line may lack its end. Blank lines are left out. Throws what the stream throws; an incomplete line is dropped
 * then.
 */
export async function* lineGroups(stream: AsyncIterable<Buffer>, lineBytesMax: number): AsyncGenerator<Line[], void, undefined> {
  let line = 1
  let parts: Buffer[] = []
  let partBytes = 0
  const keep = (part: Buffer): void => {
    partBytes += part.length
    // Bytes over the limit are dropped as they arrive, so an endless line costs no memory.
    if (partBytes > lineBytesMax) parts = []
    else parts.push(part)
  }
  const complete = (): Line | undefined => {
    const bytes = partBytes > lineBytesMax ? 'too-long' : Buffer.concat(parts)
    parts = []
    partBytes = 0
    const number = line++
    return bytes !== 'too-long' && isBlank(bytes) ? undefined : { line: number, bytes }
  }
  for await (const piece of stream) {
    const group: Line[] = []
    let from = 0
    for (let end = piece.indexOf(lineFeed); end >= 0; end = piece.indexOf(lineFeed, from)) {
      keep(piece.subarray(from, end))
      const found = complete()
      if (found !== undefined) group.push(found)
      from = end + 1
    }
    // A copy, because a slice would keep the whole chunk in memory.
    if (from < piece.length) keep(Buffer.from(piece.subarray(from)))
    if (group.length > 0) yield group
  }
  const last = partBytes > 0 ? complete() : undefined
  if (last !== undefined) yield [last]
}

function isBlank(bytes: Buffer): boolean {
  for (const byte of bytes) if (byte !== 0x20 && byte !== 0x09 && byte !== carriageReturn) return false
  return true
}

/** The body of a response as text, with a limit, so that a large one does not fill the memory. */
export class AnswerTooLong extends Error {}

/** Throws AnswerTooLong beyond `bytesMax`, and the errors of reading the body. */
export async function answerText(response: Response, bytesMax: number): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    if (bytes > bytesMax) throw new AnswerTooLong(`its answer has more than ${bytesMax} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

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
