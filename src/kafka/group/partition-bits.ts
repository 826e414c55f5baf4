/** Partition numbers as text: one bit each, in base64. A thousand partitions take 172 characters, however many are set. */

export function bitsOf(partitions: readonly number[]): string {
  const bytes = Buffer.alloc(Math.ceil((Math.max(-1, ...partitions) + 1) / 8))
  for (const partition of partitions) bytes[partition >> 3] = (bytes[partition >> 3] ?? 0) | (1 << (partition & 7))
  return bytes.toString('base64')
}

/** Never fails: invalid text gives no partitions, or ones that nobody asks for. */
export function partitionsIn(bits: string): { has(partition: number): boolean } {
  const bytes = Buffer.from(bits, 'base64')
  return { has: (partition) => ((bytes[partition >> 3] ?? 0) & (1 << (partition & 7))) !== 0 }
}
