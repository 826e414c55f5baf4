/** Access rights of the data folder. It holds definitions with their credentials, and logs, so no other user of this machine may read it. */
import { chmod, lstat, mkdir, readdir, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Logger } from '../logging/index.ts'

export const privateFolderMode = 0o700
export const privateFileMode = 0o600

/** Names of all entries that Duelog writes into it. */
const own =
  /^(kafka|registry|logs|scheduler|auditor|history|executors|front|schemas|compiled|(front\.)?instance|pid|version\.json|schema-ids\.(json|of)|series\.json|(kafka|registry)\.pid)(\.\d+\.new)?$/

/**
 * Creates the folder if it is missing. Removes the rights of other users: from our own entries, and from the folder
 * itself if it holds nothing else, because it may be a home directory. Never rejects: a failure is logged as a warning.
 */
export async function keepPrivate(dataDir: string, logger: Pick<Logger, 'warn'>): Promise<void> {
  try {
    await mkdir(dataDir, { recursive: true, mode: privateFolderMode })
    const names = await readdir(dataDir)
    const ours = names.filter((name) => own.test(name))
    for (const name of ours) await close(join(dataDir, name))
    if (ours.length === names.length) await close(dataDir)
  } catch (error) {
    const message =
      'Other users of this machine may be able to read the data folder; give it to the user that Duelog runs as, with mode 0700.'
    logger.warn({ event: 'data-folder-open', dataDir, err: error }, message)
  }
}

/** Writes a file and creates its folder. A reader sees the old file or the whole new one, however this process ends. */
export async function writePrivate(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: privateFolderMode })
  // The processes of one Duelog share a data folder.
  const unfinished = `${path}.${process.pid}.new`
  await writeFile(unfinished, text, { mode: privateFileMode })
  await rename(unfinished, path)
}

/** Does not follow a symbolic link, because its target is not ours. */
async function close(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined)
  if (found === undefined || found.isSymbolicLink() || (found.mode & 0o077) === 0) return
  await chmod(path, found.isDirectory() ? privateFolderMode : privateFileMode)
}
