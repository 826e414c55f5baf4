/**
 * JSON between processes, with bytes as {"$bytes": base64}. A user's object of that form is never affected, because payloads
 * are bytes.
 */

export function encodeInternalJson(value: unknown): string {
  return JSON.stringify(value, function (this: Record<string, unknown>, key: string, shown: unknown) {
    // A Buffer was converted by its own toJSON already; the holder still has it.
    const original = this[key]
    return original instanceof Uint8Array ? { $bytes: Buffer.from(original).toString('base64') } : shown
  })
}

/** Throws SyntaxError for text that is not JSON. */
export function decodeInternalJson(text: string): unknown {
  return JSON.parse(text, (_key, value: unknown) => {
    if (typeof value !== 'object' || value === null) return value
    const bytes = (value as { $bytes?: unknown }).$bytes
    return typeof bytes === 'string' ? Buffer.from(bytes, 'base64') : value
  })
}

/** Header with the caller of the other process, so that callers take turns here too. */
export const callerHeader = 'duelog-caller'
