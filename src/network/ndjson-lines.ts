/** Splits a stream of bytes into lines as they complete. Memory is bounded by the longest line and one chunk of the stream. */

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
