/** The format of record batches: the places of their fields, and decompression up to a limit. */
import { promisify } from 'node:util'
// As a whole: with a named import of zstd, a client would not load in an older Node.
import zlib, { type InputType, type ZlibOptions } from 'node:zlib'
import { messageOf } from '../../../ground/errors/index.ts'

/**
 * Places of the fields of a record batch (format 2, Kafka 0.11 and later), for the decoder and the encoder. The source is "Record
 * Batch" in the documentation of Kafka (Implementation, Message Format).
 *
 *   0  first offset i64 │ 8 length i32 │ 12 leader epoch i32 │ 16 magic i8 │ 17 crc u32 │ 21 attributes i16 │ 23 last offset delta i32 │
 *   27 first time i64 │ 35 last time i64 │ 43 producer id i64 │ 51 producer epoch i16 │ 53 first sequence i32 │ 57 records i32 │ 61 records
 *
 * The message sets from before have their offset, their length and their magic at the same places.
 */
export const batchAt = {
  firstOffset: 0,
  /** The length counts the bytes after itself. */
  length: 8,
  leaderEpoch: 12,
  magic: 16,
  crc: 17,
  attributes: 21,
  lastOffsetDelta: 23,
  firstTime: 27,
  lastTime: 35,
  producerId: 43,
  producerEpoch: 51,
  firstSequence: 53,
  recordCount: 57,
  records: 61,
} as const

/** Bytes up to the end of the length. */
export const beforeLength = batchAt.leaderEpoch

export const transactionalMask = 0x10

/** Bytes of one decompressed batch. The broker accepts 1 MB compressed; text compresses to a tenth. */
export const unpackedBytesMax = 16 * 1024 * 1024

type Unpack = (bytes: InputType, options: Pick<ZlibOptions, 'maxOutputLength'>) => Promise<Buffer>

const codecs: Record<number, { name: string; unpack?: Unpack }> = {
  1: { name: 'gzip', unpack: promisify(zlib.gunzip) as Unpack },
  2: { name: 'snappy' },
  3: { name: 'lz4' },
  4: { name: 'zstd', ...('zstdDecompress' in zlib && { unpack: promisify(zlib.zstdDecompress) as Unpack }) },
}

/** `codec`: from the attributes of a batch. Rejects with the reason if the batch cannot be decompressed. */
export async function unpacked(codec: number, bytes: Buffer): Promise<Buffer> {
  const { name, unpack } = codecs[codec] ?? { name: `codec ${codec}` }
  if (unpack === undefined) throw new Error(`It is compressed by ${name}; Duelog reads gzip and zstd.`)
  try {
    return await unpack(bytes, { maxOutputLength: unpackedBytesMax })
  } catch (error) {
    const isTooLarge = (error as { code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE'
    const problem = isTooLarge
      ? `It has more than ${unpackedBytesMax} bytes when it is unpacked`
      : `It cannot be unpacked: ${messageOf(error)}`
    throw new Error(`${problem} (${name}).`, { cause: error })
  }
}
