/** JSON between processes: as usual, with bytes as {"$bytes": base64}. An object of a user's that looks so inside is never reached: payloads are bytes. */

export function encodeInternalJson(value: unknown): string {
  return JSON.stringify(value, function (this: Record<string, unknown>, key: string, shown: unknown) {
    // A Buffer has turned into an array by its own toJSON before it comes here; the holder still has it.
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

/** For whom the other process asks, so that callers have their turn there too. */
export const callerHeader = 'duelog-caller'
