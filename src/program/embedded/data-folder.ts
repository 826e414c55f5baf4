/** The data folder: created if absent, and checked for space and for the versions that wrote it. */
import { existsSync } from 'node:fs'
import { mkdir, readFile, realpath, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { DuelogError, messageOf } from '../../ground/errors/index.ts'
import { privateFolderMode, writePrivate } from '../../ground/process/index.ts'
import { kafkaVersion, registryVersion } from './artifacts.ts'

/** Layout of the data folder; raised when a later Duelog can no longer read an earlier folder. */
export const layoutVersion = 1

/** Below this the start is refused, because a broker that runs out of disk stops in the middle of its work. */
const freeBytesMin = 256 * 1024 * 1024

/** `version.json`: which versions wrote the folder. */
interface FolderVersion {
  layout: number
  kafka?: string
  registry?: string
}

const elsewhere = 'choose another folder with DUELOG_DATA_DIR'

/** Creates the folder and its log folder, and returns its real absolute path. Throws DuelogError `embedded-failed`. */
export async function openDataFolder(dataDir: string): Promise<string> {
  try {
    await mkdir(join(dataDir, 'logs'), { recursive: true, mode: privateFolderMode })
    return await realpath(dataDir)
  } catch (cause) {
    throw new DuelogError(
      'embedded-failed',
      `The data folder ${dataDir} cannot be made (${messageOf(cause)}); make it writable or ${elsewhere}.`,
      {
        cause,
      },
    )
  }
}

/** Throws DuelogError `embedded-failed` when the folder's disk is almost full. */
export async function requireSpace(dataDir: string, bytesMin = freeBytesMin): Promise<void> {
  const { bavail, bsize } = await statfs(dataDir)
  const freeBytes = bavail * bsize
  if (freeBytes >= bytesMin) return
  const megabytes = (bytes: number): number => Math.floor(bytes / (1024 * 1024))
  throw new DuelogError(
    'embedded-failed',
    `The disk of the data folder ${dataDir} is full: ${megabytes(freeBytes)} MB are free and ${megabytes(bytesMin)} MB are needed; free some or ${elsewhere}.`,
  )
}

/**
 * Checks that the folder was written by these versions, and records the versions in a new folder.
 * Throws DuelogError `foreign-data` otherwise: an older broker may destroy what a newer one wrote.
 */
export async function claimVersion(dataDir: string, wants: { kafka: boolean; registry: boolean }): Promise<void> {
  const file = join(dataDir, 'version.json')
  const found = await readVersion(file)
  const refuse = (what: string): never => {
    throw new DuelogError(
      'foreign-data',
      `The data folder ${dataDir} ${what}; ${elsewhere}, or remove this one if its jobs are not needed.`,
    )
  }
  if (found && found.layout !== layoutVersion) refuse(`has layout ${found.layout}, and this Duelog knows layout ${layoutVersion}`)
  const parts = [
    { name: 'kafka', title: 'Apache Kafka', version: kafkaVersion, wanted: wants.kafka },
    { name: 'registry', title: 'Apicurio Registry', version: registryVersion, wanted: wants.registry },
  ] as const
  const next: FolderVersion = { ...found, layout: layoutVersion }
  for (const { name, title, version, wanted } of parts) {
    if (!wanted) continue
    const before = found?.[name]
    if (before === undefined && existsSync(join(dataDir, name)))
      refuse(`holds data of ${title} that no version.json of Duelog vouches for`)
    if (before !== undefined && before !== version) refuse(`was written by ${title} ${before}, and this Duelog starts ${version}`)
    next[name] = version
  }
  if (found && found.kafka === next.kafka && found.registry === next.registry) return
  await writePrivate(file, `${JSON.stringify(next, null, 2)}\n`)
}

async function readVersion(file: string): Promise<FolderVersion | undefined> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  try {
    const found = JSON.parse(text) as Partial<FolderVersion> | null
    if (typeof found?.layout === 'number') return found as FolderVersion
  } catch {
    // Not JSON: handled like JSON of another program.
  }
  throw new DuelogError(
    'foreign-data',
    `${file} is not a version file of Duelog; ${elsewhere}, or remove that one if its jobs are not needed.`,
  )
}
