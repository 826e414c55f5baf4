/** Certificates in files that are replaced while this process runs, as a certificate manager does before they expire. */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { statSync } from 'node:fs'
import type { Certificates } from '../network/index.ts'
import { pemOfFile } from './secret-files.ts'

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
