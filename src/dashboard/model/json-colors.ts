/** Parts of one line of JSON by their kind, for its colors. A string never continues on the next line, so each line stands alone. */
export interface ColoredPart {
  kind: 'name' | 'string' | 'number' | 'literal' | 'other'
  text: string
}

const token = /("(?:[^"\\]|\\.)*"?)(?=(\s*:)?)|(-?\d[\d.eE+-]*)|\b(?:true|false|null)\b/g

export function coloredParts(line: string): ColoredPart[] {
  const parts: ColoredPart[] = []
  let at = 0
  for (const found of line.matchAll(token)) {
    const [text, string, colon, number] = found
    if (found.index > at) parts.push({ kind: 'other', text: line.slice(at, found.index) })
    const kind = string !== undefined ? (colon === undefined ? 'string' : 'name') : number === undefined ? 'literal' : 'number'
    parts.push({ kind, text })
    at = found.index + text.length
  }
  if (at < line.length) parts.push({ kind: 'other', text: line.slice(at) })
  return parts
}
