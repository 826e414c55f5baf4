/** The certificate of the HTTP server, which is read again when its files change. */
import { X509Certificate } from 'node:crypto'
import { type FSWatcher, realpathSync, watch } from 'node:fs'
import type { Server } from 'node:https'
import { dirname } from 'node:path'
import type { Clock } from '../../../ground/clock/index.ts'
import { DuelogError, messageOf } from '../../../ground/errors/index.ts'
import type { Logger } from '../../../ground/logging/index.ts'
import { isPair, pemOfFile } from '../../../ground/process/index.ts'

export interface ServerCertificateFiles {
  /** The certificate, followed by those of its intermediate authorities. */
  certFile: string
  keyFile: string
}

interface Pair {
  cert: string
  key: string
}

type Times = Pick<Clock, 'nowMs' | 'steadyMs'>

/** Both files are there, one after the other, by then. */
const settledMs = 1_000
/** Others may write to the same folders all the time. The files are read at the latest so long after a change. */
const settledMsMax = 5_000
/** Some file systems (of the network, of other machines) report no changes. */
const readEveryMs = 3_600_000
/** When this part of the life of a certificate is left, it should have been replaced. */
const lifeLeftMin = 0.1
const endToldEveryMs = 86_400_000

/** What the server accepts, with every certificate. */
export const tlsOptions = { minVersion: 'TLSv1.2', handshakeTimeout: 10_000 } as const

/** Throws `bad-config` if a file cannot be read, or the two do not belong together. */
export function readCertificate({ certFile, keyFile }: ServerCertificateFiles): Pair {
  const read = (name: string, file: string): string => {
    try {
      return pemOfFile(file, { isReadAgain: true })
    } catch (cause) {
      throw new DuelogError('bad-config', `${name} is "${file}", which cannot be read (${messageOf(cause)}).`, { cause })
    }
  }
  const [cert, key] = [read('DUELOG_HTTPS_CERT_FILE', certFile), read('DUELOG_HTTPS_KEY_FILE', keyFile)]
  let belongTogether: boolean
  try {
    belongTogether = isPair(cert, key)
  } catch (cause) {
    // The cause may name what it read, but never the key.
    throw new DuelogError(
      'bad-config',
      `DUELOG_HTTPS_CERT_FILE ("${certFile}") or DUELOG_HTTPS_KEY_FILE ("${keyFile}") is no PEM file of a certificate or of a key without a passphrase (${messageOf(cause)}).`,
      { cause },
    )
  }
  if (!belongTogether)
    throw new DuelogError(
      'bad-config',
      `The key in DUELOG_HTTPS_KEY_FILE ("${keyFile}") does not belong to the certificate in DUELOG_HTTPS_CERT_FILE ("${certFile}").`,
    )
  return { cert, key }
}

/**
 * New connections get the new certificate; open ones go on. Files that cannot be used are reported, and the certificate at hand is used on.
 * Watches the folders of the files and of what they link to, because a new file usually takes the place of the old one. Returns a function
 * that ends the watch.
 */
export function watchCertificate(
  files: ServerCertificateFiles,
  server: Server,
  first: Pair,
  { clock, logger }: { clock: Times; logger: Pick<Logger, 'info' | 'warn'> },
): () => void {
  let used = first
  let refused = ''
  const tellEnd = endTeller(clock, logger)
  const renew = (): void => {
    try {
      const found = readCertificate(files)
      if (found.cert !== used.cert || found.key !== used.key) {
        server.setSecureContext({ ...found, minVersion: tlsOptions.minVersion })
        used = found
        const { validTo } = new X509Certificate(found.cert)
        logger.info({ event: 'certificate-replaced', validTo }, 'The certificate of the HTTP server was replaced.')
      }
      refused = ''
    } catch (error) {
      // Other files of the folder may change often.
      if (messageOf(error) === refused) return
      refused = messageOf(error)
      logger.warn(
        { event: 'certificate-refused', err: error },
        'The new certificate of the HTTP server cannot be used. The one before is used on.',
      )
    }
    tellEnd(used)
  }
  tellEnd(first)
  return watchFolders(files, renew, (error) =>
    logger.warn(
      { event: 'certificate-unwatched', err: error },
      'The files of the certificate cannot be watched. They are read once an hour; restart this process to use a new one at once.',
    ),
  )
}

/** Says at most once a day that a certificate has expired, or is about to. */
function endTeller(clock: Times, logger: Pick<Logger, 'warn'>): (pair: Pair) => void {
  let told: { cert: string; atMs: number } | undefined
  return ({ cert }) => {
    const { validFromDate, validToDate, validTo } = new X509Certificate(cert)
    const leftMs = validToDate.getTime() - clock.nowMs()
    if (leftMs > lifeLeftMin * (validToDate.getTime() - validFromDate.getTime())) return
    if (told?.cert === cert && clock.steadyMs() - told.atMs < endToldEveryMs) return
    told = { cert, atMs: clock.steadyMs() }
    logger.warn(
      { event: 'certificate-ending', validTo },
      leftMs <= 0
        ? 'The certificate of the HTTP server has expired: callers refuse it. Replace its files.'
        : 'The certificate of the HTTP server expires soon. Replace its files.',
    )
  }
}

/** Calls `renew` when something in the folders has changed, and once an hour. Returns a function that ends this. */
function watchFolders(files: ServerCertificateFiles, renew: () => void, unwatched: (error: unknown) => void): () => void {
  let watchers: FSWatcher[] = []
  let nextTimer: NodeJS.Timeout | undefined
  let latestTimer: NodeJS.Timeout | undefined
  const settle = (): void => {
    clearTimeout(latestTimer)
    latestTimer = undefined
    // The links may lead elsewhere now, and a folder of the same name may be another one. Nothing is missed: the files are read after this.
    watchAll()
    renew()
    arm(readEveryMs)
  }
  const arm = (ms: number): void => {
    clearTimeout(nextTimer)
    nextTimer = setTimeout(settle, ms).unref()
  }
  const changed = (): void => {
    arm(settledMs)
    latestTimer ??= setTimeout(settle, settledMsMax).unref()
  }
  const watchAll = (): void => {
    const before = watchers
    watchers = [...foldersOf(files)].flatMap((folder): FSWatcher[] => {
      try {
        return [watch(folder, { persistent: false }, changed).on('error', unwatched)]
      } catch (error) {
        unwatched(error)
        return []
      }
    })
    for (const watcher of before) watcher.close()
  }
  watchAll()
  arm(readEveryMs)
  return () => {
    clearTimeout(nextTimer)
    clearTimeout(latestTimer)
    for (const watcher of watchers) watcher.close()
  }
}

/** Of the files, and of what they link to. */
function foldersOf({ certFile, keyFile }: ServerCertificateFiles): Set<string> {
  const folders = new Set<string>()
  for (const file of [certFile, keyFile]) {
    folders.add(dirname(file))
    try {
      folders.add(dirname(realpathSync(file)))
    } catch {
      // It is absent now. Reading it says so.
    }
  }
  return folders
}
