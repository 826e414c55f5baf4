/** Decompresses batches of other producers, up to a limit. Duelog itself does not compress. */
import { promisify } from 'node:util'
// As a whole: with a named import of zstd, a client would not load in an older Node.
import zlib, { type InputType, type ZlibOptions } from 'node:zlib'
import { messageOf } from '../../errors/index.ts'

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
