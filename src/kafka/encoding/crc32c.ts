/**
 * CRC-32C (Castagnoli), the checksum of a record batch. Eight bytes at a time with eight tables: "slicing-by-8" of Kounavis and
 * Berry, "A Systematic Approach to Building High Performance, Software-based, CRC Generators" (ISCC 2005). Node's zlib.crc32 has
 * another polynomial.
 */

/** The polynomial of RFC 3720 §12.1, lowest bit first. */
const polynomial = 0x82f63b78
const step = 8

/** `tables[n * 256 + byte]`: effect of a byte that n further bytes follow. */
const tables = new Int32Array(step * 256)
for (let byte = 0; byte < 256; byte++) {
  let crc = byte
  for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 1 ? (crc >>> 1) ^ polynomial : crc >>> 1
  tables[byte] = crc
}
for (let at = 256; at < tables.length; at++) {
  const before = tables[at - 256] as number
  tables[at] = (before >>> 8) ^ (tables[before & 0xff] as number)
}

/** The checksum of `bytes` from `from` to before `to`, as an unsigned number. */
export function crc32c(bytes: Uint8Array, from: number, to: number): number {
  let crc = -1
  let at = from
  for (const end = to - step; at <= end; at += step) {
    crc ^= byteAt(bytes, at) | (byteAt(bytes, at + 1) << 8) | (byteAt(bytes, at + 2) << 16) | (byteAt(bytes, at + 3) << 24)
    crc =
      (tables[1792 + (crc & 0xff)] as number) ^
      (tables[1536 + ((crc >>> 8) & 0xff)] as number) ^
      (tables[1280 + ((crc >>> 16) & 0xff)] as number) ^
      (tables[1024 + (crc >>> 24)] as number) ^
      (tables[768 + byteAt(bytes, at + 4)] as number) ^
      (tables[512 + byteAt(bytes, at + 5)] as number) ^
      (tables[256 + byteAt(bytes, at + 6)] as number) ^
      (tables[byteAt(bytes, at + 7)] as number)
  }
  for (; at < to; at++) crc = (tables[(crc ^ byteAt(bytes, at)) & 0xff] as number) ^ (crc >>> 8)
  return ~crc >>> 0
}

const byteAt = (bytes: Uint8Array, at: number): number => bytes[at] as number
