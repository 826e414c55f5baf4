/** Reads small files that hold a secret, certificates or a key, with a limit of size and, for a pipe, of time; also certificates that are replaced while this process runs. */

import { createPrivateKey, X509Certificate } from 'node:crypto'
import { closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { withoutEnd } from '../../../streams/text/index.ts'
import { type Certificates, decodeUtf8 } from '../network/index.ts'

/** Far larger than any secret. The limit also ends the read of a path that is a device. */
const secretBytesMax = 65_536
/** Far larger than the list of all public certificate authorities. */
const pemBytesMax = 4 * 1024 * 1024
/** A pipe, such as `<(vault read …)` of a shell, must have been written to its end by then. */
const pipeMsMax = 10_000
const pipeLookMs = 20

export interface ReadFileOptions {
  /** The file is read again later, so it may not be a pipe, which gives its content once. */
  isReadAgain?: boolean
  /** Default 10 s. */
  pipeMs?: number
}

/** The content of a file of a secret, without the line ends at the end, which editors add. Spaces are part of a secret. */
export function secretOfFile(file: string, options?: ReadFileOptions): string {
  const text = decodeUtf8(bytesOf(file, secretBytesMax, options))
  if (text === undefined) throw new Error('it is not UTF-8')
  // Editors of Windows write a byte order mark.
  return withoutEnd(text.replace(/^\ufeff/, ''), '\r\n')
}

/** The content of a file with certificates or a key. Throws if it cannot be read or is far too large. */
export const pemOfFile = (file: string, options?: ReadFileOptions): string =>
  // Comments beside the certificates may have any encoding.
  bytesOf(file, pemBytesMax, options).toString('latin1')

function bytesOf(file: string, bytesMax: number, { isReadAgain = false, pipeMs = pipeMsMax }: ReadFileOptions = {}): Buffer {
  // Without O_NONBLOCK, opening a pipe that nobody writes never returns.
  const opened = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const isPipe = fstatSync(opened).isFIFO()
    if (isPipe && isReadAgain)
      throw new Error('it is a pipe, which gives its content once, and it is read again later; give a file')
    const bytes = Buffer.alloc(bytesMax + 1)
    const endAtMs = performance.now() + pipeMs
    let length = 0
    while (length < bytes.length) {
      const read = readNow(opened, bytes, length)
      // At first, the writer of a pipe may not have come yet.
      if (read === 0 && !(isPipe && length === 0)) break
      if (read === undefined || read === 0) waitForWriter(endAtMs, length, pipeMs)
      else length += read
    }
    if (length > bytesMax) throw new Error(`it has more than ${bytesMax} bytes`)
    return bytes.subarray(0, length)
  } finally {
    closeSync(opened)
  }
}

/** Undefined: there is nothing to read yet. */
function readNow(opened: number, bytes: Buffer, from: number): number | undefined {
  try {
    return readSync(opened, bytes, from, bytes.length - from, null)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return undefined
    throw error
  }
}

/** Settings are read before anything runs, so nothing else waits meanwhile. Throws when the time is over. */
function waitForWriter(endAtMs: number, length: number, pipeMs: number): void {
  if (performance.now() >= endAtMs) {
    const problem = length === 0 ? 'nobody has written to it' : `it was not written to its end (${length} bytes)`
    throw new Error(`it is a pipe or a device, and ${problem} within ${pipeMs / 1_000} s`)
  }
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pipeLookMs)
}

/** Certificates in files that are replaced while this process runs, as a certificate manager does before they expire. */

/** PEM files; see Certificates. They are read again for each use. */
export interface CertificateFiles {
  caFile?: string | undefined
  certFile?: string | undefined
  keyFile?: string | undefined
}

export const areFiles = (given: object): given is CertificateFiles => 'caFile' in given || 'certFile' in given

/** A pipe gives its content once. */
export const isPipe = (file: string): boolean => statSync(file).isFIFO()

/** Throws if one of the two is no PEM text of a certificate, or of a key without a passphrase. */
export const isPair = (cert: string, key: string): boolean => new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))

/**
 * The certificates of now; the same object while they are the same. The first call throws if a file cannot be read. Later, files that cannot
 * be read, or of which only one is replaced yet, leave those before.
 */
export function certificatesFrom(given: Certificates | CertificateFiles | undefined): () => Certificates | undefined {
  if (given === undefined || !areFiles(given)) return () => given
  const { caFile, certFile, keyFile } = given
  const read = (file: string | undefined): string | undefined =>
    file === undefined ? undefined : pemOfFile(file, { isReadAgain: true })
  const readAll = (): Certificates => ({ ca: read(caFile), cert: read(certFile), key: read(keyFile) })
  let used: Certificates | undefined
  return () => {
    if (used === undefined) used = readAll()
    else used = renewed(used, readAll)
    return used
  }
}

function renewed(used: Certificates, read: () => Certificates): Certificates {
  try {
    const { ca, cert, key } = read()
    if (ca === used.ca && cert === used.cert && key === used.key) return used
    // Throws for a file that is not written to its end.
    const isComplete = ca === undefined || new X509Certificate(ca).raw.length > 0
    const isUsable = isComplete && (cert === undefined || key === undefined || isPair(cert, key))
    return isUsable ? { ca, cert, key } : used
  } catch {
    return used
  }
}
