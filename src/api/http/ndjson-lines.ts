/** Splits a stream of bytes into lines, as they become complete; memory is bounded by the longest line and one piece of the stream. */

/** A line without its end; too long a one has no bytes, only its number. */
export interface Line {
  /** From 1; blank lines count. */
  line: number
  bytes: Buffer | 'too-long'
}

const lineFeed = 0x0a
const carriageReturn = 0x0d

/**
 * Gives the lines that each piece of the stream completes, never an empty group, and never waits for more while it holds a complete
 * line. The last line may lack its end. Blank lines are left out. Throws what the stream throws: then an incomplete line was cut off
 * and is not given.
 */
export async function* lineGroups(stream: AsyncIterable<Buffer>, lineBytesMax: number): AsyncGenerator<Line[], void, undefined> {
  let line = 1
  let parts: Buffer[] = []
  let partBytes = 0
  const keep = (part: Buffer): void => {
    partBytes += part.length
    // What is over the limit is dropped as it comes, so that an endless line costs no memory.
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
    // A copy, because the rest would keep the whole piece in memory.
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
