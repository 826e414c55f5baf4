/** The certificate of the HTTP server, which is read again when its files change. */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { type FSWatcher, watch } from 'node:fs'
import type { Server } from 'node:https'
import { dirname } from 'node:path'
import { DuelogError, messageOf } from '../../errors/index.ts'
import type { Logger } from '../../logging/index.ts'
import { pemOfFile } from '../../process/index.ts'

export interface CertificateFiles {
  /** The certificate, followed by those of its intermediate authorities. */
  certFile: string
  keyFile: string
}

interface Pair {
  cert: string
  key: string
}

/** Both files are there, one after the other, by then. */
const settledMs = 1_000

/** What the server accepts, with every certificate. */
export const tlsOptions = { minVersion: 'TLSv1.2', handshakeTimeout: 10_000 } as const

/** Throws `bad-config` if a file cannot be read, or the two do not belong together. */
export function readCertificate({ certFile, keyFile }: CertificateFiles): Pair {
  const read = (name: string, file: string): string => {
    try {
      return pemOfFile(file, { isReadAgain: true })
    } catch (cause) {
      throw new DuelogError('bad-config', `${name} is "${file}", which cannot be read (${messageOf(cause)}).`, { cause })
    }
  }
  const [cert, key] = [read('DUELOG_HTTPS_CERT_FILE', certFile), read('DUELOG_HTTPS_KEY_FILE', keyFile)]
  let isPair: boolean
  try {
    isPair = new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))
  } catch (cause) {
    // The cause may name what it read, but never the key.
    throw new DuelogError(
      'bad-config',
      `DUELOG_HTTPS_CERT_FILE ("${certFile}") or DUELOG_HTTPS_KEY_FILE ("${keyFile}") is no PEM file of a certificate or of a key without a passphrase (${messageOf(cause)}).`,
      { cause },
    )
  }
  if (!isPair)
    throw new DuelogError(
      'bad-config',
      `The key in DUELOG_HTTPS_KEY_FILE ("${keyFile}") does not belong to the certificate in DUELOG_HTTPS_CERT_FILE ("${certFile}").`,
    )
  return { cert, key }
}

/**
 * New connections get the new certificate; open ones go on. Files that cannot be used are reported, and the certificate at hand is used on.
 * Watches the folders, because a new file usually takes the place of the old one. Returns a function that ends the watch.
 */
export function watchCertificate(
  files: CertificateFiles,
  server: Server,
  first: Pair,
  logger: Pick<Logger, 'info' | 'warn'>,
): () => void {
  let used = first
  let settledTimer: NodeJS.Timeout | undefined
  const renew = (): void => {
    try {
      const found = readCertificate(files)
      if (found.cert === used.cert && found.key === used.key) return
      server.setSecureContext({ ...found, minVersion: tlsOptions.minVersion })
      used = found
      const { validTo } = new X509Certificate(found.cert)
      logger.info({ event: 'certificate-replaced', validTo }, 'The certificate of the HTTP server was replaced.')
    } catch (error) {
      logger.warn(
        { event: 'certificate-refused', err: error },
        'The new certificate of the HTTP server cannot be used. The one before is used on.',
      )
    }
  }
  const changed = (): void => {
    clearTimeout(settledTimer)
    settledTimer = setTimeout(renew, settledMs)
  }
  const unwatched = (error: unknown): void =>
    logger.warn(
      { event: 'certificate-unwatched', err: error },
      'The files of the certificate cannot be watched. Restart this process after they changed.',
    )
  const watchers = [...new Set([dirname(files.certFile), dirname(files.keyFile)])].flatMap((folder): FSWatcher[] => {
    try {
      return [watch(folder, { persistent: false }, changed).on('error', unwatched)]
    } catch (error) {
      unwatched(error)
      return []
    }
  })
  return () => {
    clearTimeout(settledTimer)
    for (const watcher of watchers) watcher.close()
  }
}
