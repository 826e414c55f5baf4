/**
 * The file of a backup. It is written and read as a stream, so it may be larger than memory.
 *
 *   "DUELOGBK" · version u16 BE · zstd( frame … ) · length of the compressed part u64 BE · "KBGOLEUD"
 *   frame:  kind u8 · length of meta u32 BE · length of body u32 BE · meta, JSON · body
 *
 * The first frame is the header, and the last one the trailer with the number of frames and the SHA-256 of all frames before it. So a file
 * that was cut or damaged at any place is noticed. The length tells two joined files from one: a decompressor may pass over what follows. Bodies are Avro in the wire format; their ids are places in the schemas of the header.
 */
import { createHash, type Hash } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream, createWriteStream } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { finished, pipeline } from 'node:stream/promises'
import { constants, createZstdCompress, createZstdDecompress, type ZstdCompress } from 'node:zlib'
import { DuelogError, messageOf } from '../../ground/errors/index.ts'
import { privateFileMode } from '../../ground/process/index.ts'
import { type BackupHeader, checkFree, countsProblem, headerProblem, idProblem, partOf } from './backup-header.ts'

const magic = Buffer.from('DUELOGBK')
const endMagic = Buffer.from('KBGOLEUD')
/** Version of the layout. A reader refuses later ones. */
const version = 1
const preambleBytes = magic.length + 2
const lengthBytes = 8
const endBytes = lengthBytes + endMagic.length
const frameHead = 9
/** Longest meta or body. No record of Duelog is longer. */
const partBytesMax = 4 * 1024 * 1024
/** Fast, and a file of definitions becomes a tenth of its size. */
const compressionLevel = 3
const emptyBody = Buffer.alloc(0)

/** What a frame holds. The numbers are part of the file and are never reused. */
export const kinds = {
  header: 1,
  job: 2,
  definition: 3,
  state: 4,
  run: 5,
  snapshot: 6,
  command: 7,
  event: 8,
  starts: 9,
  pending: 10,
  pause: 11,
  operation: 12,
  followUps: 13,
  trailer: 15,
} as const
export type Kind = (typeof kinds)[keyof typeof kinds]
const kindsKnown: ReadonlySet<number> = new Set(Object.values(kinds))

export interface Frame {
  kind: Kind
  meta: Record<string, unknown>
  body: Buffer
  /** Length of the whole frame. */
  bytes: number
}

/** Writes a file that appears under its name when it is complete. */
export class BackupWriter {
  readonly #path: string
  readonly #hash: Hash = createHash('sha256')
  readonly #zstd: ZstdCompress
  readonly #written: Promise<void>
  #failure: Error | undefined
  #frames = 0

  private constructor(path: string, zstd: ZstdCompress, written: Promise<void>) {
    this.#path = path
    this.#zstd = zstd
    this.#written = written
    written.catch((error: Error) => {
      this.#failure = error
    })
  }

  static async create(path: string, header: BackupHeader): Promise<BackupWriter> {
    const parameters = { [constants.ZSTD_c_compressionLevel]: compressionLevel, [constants.ZSTD_c_checksumFlag]: 1 }
    await checkFree(path)
    const file = createWriteStream(partOf(path), { flags: 'wx', mode: privateFileMode })
    await once(file, 'open').catch((error: unknown) => {
      throw unusable(partOf(path), `it cannot be created: ${messageOf(error)}`)
    })
    const preamble = Buffer.concat([magic, Buffer.alloc(2)])
    preamble.writeUInt16BE(version, magic.length)
    file.write(preamble)
    const zstd = createZstdCompress({ params: parameters })
    const writer = new BackupWriter(
      path,
      zstd,
      pipeline(zstd, withEnd, file).catch((error: unknown) => {
        throw unusable(partOf(path), `it cannot be written: ${messageOf(error)}; look whether its disk is full`)
      }),
    )
    await writer.put(kinds.header, { ...header })
    return writer
  }

  async put(kind: Kind, meta: Record<string, unknown>, body: Buffer = emptyBody): Promise<void> {
    const bytes = bytesOf(kind, meta, body)
    this.#hash.update(bytes)
    this.#frames++
    await this.#write(bytes)
  }

  /** Resolves with the size of the file. */
  async end(counts: object): Promise<number> {
    const sha256 = this.#hash.digest('hex')
    await this.#write(bytesOf(kinds.trailer, { frames: this.#frames, sha256, counts }, emptyBody))
    this.#zstd.end()
    await this.#written
    const file = await open(partOf(this.#path), 'r+')
    try {
      await file.sync()
      const { size } = await file.stat()
      await rename(partOf(this.#path), this.#path)
      return size
    } finally {
      await file.close()
    }
  }

  /** Removes what was written. */
  async abandon(): Promise<void> {
    this.#zstd.destroy()
    await this.#written.catch(() => {})
    await rm(partOf(this.#path), { force: true })
  }

  async #write(bytes: Buffer): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure
    if (this.#zstd.write(bytes)) return
    await Promise.race([once(this.#zstd, 'drain').catch(() => this.#written), this.#written])
  }
}

/** The compressed bytes, and the end of the file. */
async function* withEnd(compressed: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let bytes = 0
  for await (const chunk of compressed) {
    bytes += chunk.length
    yield chunk
  }
  const length = Buffer.alloc(lengthBytes)
  length.writeBigUInt64BE(BigInt(bytes))
  yield Buffer.concat([length, endMagic])
}

function bytesOf(kind: Kind, meta: Record<string, unknown>, body: Buffer): Buffer {
  const text = Buffer.from(JSON.stringify(meta))
  if (text.length > partBytesMax || body.length > partBytesMax)
    throw new DuelogError(
      'internal',
      `A part of ${Math.max(text.length, body.length)} bytes is over the limit of a backup, ${partBytesMax}.`,
    )
  const head = Buffer.alloc(frameHead)
  head[0] = kind
  head.writeUInt32BE(text.length, 1)
  head.writeUInt32BE(body.length, 5)
  return Buffer.concat([head, text, body])
}

/** Headers of a record in the meta of a frame. */
export const textsOf = (headers: Readonly<Record<string, Uint8Array>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, Buffer.from(value).toString('base64')]))
export const buffersOf = (headers: Readonly<Record<string, Uint8Array | string>>): Record<string, Buffer> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      typeof value === 'string' ? Buffer.from(value, 'base64') : Buffer.from(value),
    ]),
  )

const checks: Partial<Record<Kind, (meta: Record<string, unknown>) => string | undefined>> = {
  [kinds.header]: headerProblem,
  [kinds.trailer]: ({ counts }) => countsProblem(counts),
  [kinds.job]: ({ id }) => idProblem(id),
  [kinds.pending]: ({ id }) => idProblem(id),
}

/** Resolves with the header and the counts of the trailer once the whole file was read and is sound. Throws DuelogError `bad-usage`. */
export async function checkedBackup(
  path: string,
  signal?: AbortSignal,
): Promise<{ header: BackupHeader; counts: Record<string, number> }> {
  let header: BackupHeader | undefined
  let counts: Record<string, number> = {}
  let isInJob = false
  for await (const { kind, meta } of framesOf(path)) {
    signal?.throwIfAborted()
    const isFirst = header === undefined
    if (isFirst !== (kind === kinds.header))
      throw unusable(path, isFirst ? 'it does not begin with a header' : 'it has two headers')
    if (!kindsKnown.has(kind)) throw unusable(path, `it has a part of the unknown kind ${kind}`)
    const isOfJob = kind >= kinds.definition && kind <= kinds.event
    isInJob = kind === kinds.job || (isInJob && isOfJob)
    const problem = isOfJob && !isInJob ? 'a part of a job has no job before it' : checks[kind]?.(meta)
    if (problem !== undefined) throw unusable(path, problem)
    if (isFirst) header = meta as unknown as BackupHeader
    else if (kind === kinds.trailer) counts = meta.counts as Record<string, number>
  }
  if (header === undefined) throw unusable(path, 'it does not begin with a header')
  return { header, counts }
}

/** All frames, with header and trailer. Throws DuelogError `bad-usage` where the file is damaged, at the latest after the last frame. */
export async function* framesOf(path: string): AsyncGenerator<Frame> {
  const size = await checkEnds(path)
  const source = createReadStream(path, { start: preambleBytes, end: size - endBytes - 1 })
  const plain = createZstdDecompress()
  const reading = pipeline(source, plain)
  reading.catch(() => {})
  const hash = createHash('sha256')
  let rest: Buffer = emptyBody
  let frames = 0
  let hasEnded = false
  try {
    for await (const chunk of plain as AsyncIterable<Buffer>) {
      rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
      let at = 0
      for (let end = frameEnd(path, rest, at); end !== undefined; end = frameEnd(path, rest, at)) {
        if (hasEnded) throw unusable(path, 'something follows its end')
        const bytes = rest.subarray(at, end)
        const frame = frameOf(path, bytes)
        if (frame.kind === kinds.trailer) {
          const { frames: expected, sha256 } = frame.meta
          if (expected !== frames || sha256 !== hash.digest('hex'))
            throw unusable(path, 'its checksum does not match: it is damaged')
          hasEnded = true
        } else {
          hash.update(bytes)
          frames++
        }
        yield frame
        at = end
      }
      rest = rest.subarray(at)
    }
    await reading
  } catch (error) {
    throw error instanceof DuelogError ? error : unusable(path, `it is damaged or cut off: ${messageOf(error)}`)
  } finally {
    source.destroy()
    plain.destroy()
    await finished(source).catch(() => {})
  }
  if (!hasEnded || rest.length > 0) throw unusable(path, 'it is cut off: its end is missing')
}

/** Checks the bytes outside of the compressed part. Resolves with the size of the file. */
async function checkEnds(path: string): Promise<number> {
  const file = await open(path, 'r').catch((error: unknown) => {
    throw unusable(path, `it cannot be read: ${messageOf(error)}`)
  })
  try {
    const stats = await file.stat()
    if (!stats.isFile()) throw unusable(path, 'it is no file')
    const { size } = stats
    const [preamble, end] = [Buffer.alloc(preambleBytes), Buffer.alloc(endBytes)]
    await file.read(preamble, 0, preambleBytes, 0)
    if (!preamble.subarray(0, magic.length).equals(magic)) throw unusable(path, 'it is no backup of Duelog')
    const found = preamble.readUInt16BE(magic.length)
    if (found > version) throw unusable(path, `it has the layout ${found}, and this version of Duelog reads up to ${version}`)
    await file.read(end, 0, end.length, Math.max(0, size - end.length))
    if (size <= preambleBytes + endBytes || !end.subarray(lengthBytes).equals(endMagic))
      throw unusable(path, 'it is cut off: its end is missing')
    if (end.readBigUInt64BE(0) !== BigInt(size - preambleBytes - endBytes))
      throw unusable(path, 'it has another length than it says: something follows its end, or a part is missing')
    return size
  } finally {
    await file.close()
  }
}

/** Undefined: the frame is not complete yet. */
function frameEnd(path: string, bytes: Buffer, at: number): number | undefined {
  if (bytes.length < at + frameHead) return undefined
  const [meta, body] = [bytes.readUInt32BE(at + 1), bytes.readUInt32BE(at + 5)]
  if (meta > partBytesMax || body > partBytesMax) throw unusable(path, 'it is damaged: a part of it is too long')
  const end = at + frameHead + meta + body
  return bytes.length < end ? undefined : end
}

function frameOf(path: string, bytes: Buffer): Frame {
  const bodyAt = frameHead + bytes.readUInt32BE(1)
  try {
    const meta: unknown = JSON.parse(bytes.toString('utf8', frameHead, bodyAt))
    if (typeof meta !== 'object' || meta === null) throw new Error('a part of it is no object')
    return { kind: bytes[0] as Kind, meta: meta as Record<string, unknown>, body: bytes.subarray(bodyAt), bytes: bytes.length }
  } catch (error) {
    throw unusable(path, `it is damaged: ${messageOf(error)}`)
  }
}

const unusable = (path: string, reason: string): DuelogError =>
  new DuelogError('bad-usage', `The file ${path} cannot be used: ${reason}. Nothing was changed.`)
