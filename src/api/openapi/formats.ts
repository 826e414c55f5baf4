/**
 * Formats of numbers for generators of typed clients: without a format they use 32 bits for each integer, which is too small for a time in
 * ms or an offset. JSON schema has no such formats, so requests are checked without them.
 */
type JsonSchema = Record<string, unknown>

const int32Max = 2 ** 31 - 1

/** The schema, or any part of a document, with a format at each integer: int32 where its limits fit, else int64. */
export function withFormats<Part>(part: Part): Part {
  if (Array.isArray(part)) return part.map(withFormats) as Part
  if (typeof part !== 'object' || part === null) return part
  const inside = Object.fromEntries(Object.entries(part).map(([name, value]) => [name, withFormats(value)])) as JsonSchema
  return (isInteger(inside) && inside.format === undefined ? { ...inside, format: formatOf(inside) } : inside) as Part
}

/** A property may have the name "type", and its schema is not a type name. A value that may also be text has no number format. */
function isInteger({ type }: JsonSchema): boolean {
  const types = Array.isArray(type) ? type.filter((name) => name !== 'null') : [type]
  return types.length === 1 && types[0] === 'integer'
}

function formatOf({ minimum, maximum }: JsonSchema): 'int32' | 'int64' {
  const fits = typeof minimum === 'number' && typeof maximum === 'number' && minimum >= -int32Max && maximum <= int32Max
  return fits ? 'int32' : 'int64'
}
