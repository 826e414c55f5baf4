/** The data folder holds definitions with all that they send to others, and what its processes say: no other user of this machine reads it. */
import { chmod, lstat, mkdir, readdir, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Logger } from 'pino'
import { messageOf } from '../errors/index.ts'

export const privateFolderMode = 0o700
export const privateFileMode = 0o600

/** All that Duelog puts into it. */
const own =
  /^(kafka|registry|logs|scheduler|auditor|executors|schemas|compiled|instance|pid|version\.json|schema-ids\.(json|of)|(kafka|registry)\.pid)(\.new)?$/

/**
 * Makes the folder where it is absent, and takes from others what earlier versions left open: our own entries, and the folder itself where
 * nothing else lies in it, because it may be somebody's home. Never rejects: what cannot be done is a warning.
 */
export async function keepPrivate(dataDir: string, logger: Pick<Logger, 'warn'>): Promise<void> {
  try {
    await mkdir(dataDir, { recursive: true, mode: privateFolderMode })
    const names = await readdir(dataDir)
    const ours = names.filter((name) => own.test(name))
    for (const name of ours) await close(join(dataDir, name))
    if (ours.length === names.length) await close(dataDir)
  } catch (error) {
    const said =
      'Other users of this machine may be able to read the data folder; give it to the user that Duelog runs as, with mode 0700.'
    logger.warn({ dataDir, error: messageOf(error) }, said)
  }
}

/** Writes a file and the folder that it is in. Whoever reads it finds it as it was before or whole, however this process ends. */
export async function writePrivate(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: privateFolderMode })
  await writeFile(`${path}.new`, text, { mode: privateFileMode })
  await rename(`${path}.new`, path)
}

/** Without a link being followed: it leads to what is not ours. */
async function close(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined)
  if (found === undefined || found.isSymbolicLink() || (found.mode & 0o077) === 0) return
  await chmod(path, found.isDirectory() ? privateFolderMode : privateFileMode)
}
