/**
 * Brings the jars of the embedded broker and registry into the cache of this user, once for each pinned POM.
 * A cache folder appears whole or not at all: Maven fills a folder beside it, which is then renamed.
 */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createWriteStream, existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { finished } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { DuelogError } from '../../ground/errors/index.ts'
import { waitForFolder } from './folder-lock.ts'
import type { StartContext } from './options.ts'

/** Versions of the embedded broker and registry. The POM files beside this file pin the same versions; a test compares them. */
export const kafkaVersion = '4.3.0'
export const registryVersion = '2.6.13.Final'

type ArtifactName = 'kafka' | 'registry'

export const titles = {
  kafka: `Apache Kafka ${kafkaVersion}`,
  registry: `Apicurio Registry ${registryVersion}`,
} as const

const sizes = { kafka: '44 MB', registry: '142 MB' } as const
const settings = { kafka: 'KAFKA_BROKERS', registry: 'SCHEMA_REGISTRY_URL' } as const

/** The folder of the jars, fetched first if this user never had them. Throws DuelogError `embedded-failed`. */
export async function artifactFolder(name: ArtifactName, context: StartContext): Promise<string> {
  const { env } = context
  const pom = fileURLToPath(new URL(`${name}.pom.xml`, import.meta.url))
  const version = name === 'kafka' ? kafkaVersion : registryVersion
  // The POM's hash is part of the name, so that a changed POM of the same version does not use the old cache.
  const hash = createHash('sha256')
    .update(await readFile(pom))
    .digest('hex')
    .slice(0, 8)
  const cache = join(env.XDG_CACHE_HOME || join(env.HOME || homedir(), '.cache'), 'duelog')
  const target = join(cache, `${name}-${version}-${hash}`)
  if (existsSync(target)) return target

  await mkdir(cache, { recursive: true })
  // One at a time on this machine: Maven's own repository does not support two concurrent downloads of the same file.
  const lock = await waitForFolder(cache)
  try {
    if (existsSync(target)) return target
    // We hold the lock, so any unfinished folder was left by a process that died.
    for (const entry of await readdir(cache)) {
      if (entry.startsWith('unfinished-')) await rm(join(cache, entry), { recursive: true, force: true })
    }
    const unfinished = await mkdtemp(join(cache, 'unfinished-'))
    await fetch(name, pom, unfinished, context)
    await checkJars(name, unfinished, context.jarLists)
    await rename(unfinished, target)
    return target
  } finally {
    await lock.release()
  }
}

async function fetch(name: ArtifactName, pom: string, target: string, context: StartContext): Promise<void> {
  const { env, logDir, onProgress } = context
  onProgress(`Fetching ${titles[name]} (${sizes[name]}, this once) …`)
  const logFile = join(logDir, `maven-${name}.log`)
  const log = createWriteStream(logFile)
  // A log that cannot be written, for example on a full disk, does not stop the download.
  const logged = finished(log).catch(() => undefined)
  const lines: string[] = []
  // Strict checksums: a jar that was damaged or altered on its way stops the start.
  const args = ['-B', '--strict-checksums', '-f', pom, 'process-resources', `-Dduelog.target=${target}`]
  const maven = spawn('mvn', args, { env, cwd: target, stdio: ['ignore', 'pipe', 'pipe'] })
  const read = (line: string): void => {
    log.write(`${line}\n`)
    lines.push(line)
    if (lines.length > linesMax) lines.shift()
    // Only the large files are reported; most files are small.
    const file = !line.includes('Downloaded from ') ? null : /\/([^/\s]+\.(?:jar|tar\.gz)) \(([^()]+ MB) at /.exec(line)
    if (file) onProgress(`Fetched ${file[1]} (${file[2]})`)
  }
  createInterface(maven.stdout).on('line', read)
  createInterface(maven.stderr).on('line', read)
  const code = await new Promise<number | null>((resolve, reject) => {
    maven.once('error', (error) => reject(mavenMissing(name, error)))
    maven.once('close', resolve)
  }).finally(async () => {
    // The sentence of a failure names the file, so it is there by then.
    log.end()
    await logged
  })
  if (code !== 0) {
    throw new DuelogError(
      'embedded-failed',
      `Maven could not fetch ${titles[name]}: ${reasonOf(lines)} (all of it: ${logFile}). Check the network and Maven's settings, or set ${settings[name]} to use your own.`,
    )
  }
}

/** Lines of Maven's output kept for the reason of a failure. */
const linesMax = 1_000

function mavenMissing(name: ArtifactName, cause: unknown): DuelogError {
  return new DuelogError(
    'embedded-failed',
    `Maven is needed once to fetch ${titles[name]}, and there is no \`mvn\` on the PATH. Install it (for example \`apt-get install maven\`), or set ${settings[name]} to use your own.`,
    { cause },
  )
}

/** Maven's first error line names the cause; the later ones are advice on Maven. */
function reasonOf(lines: readonly string[]): string {
  const line =
    lines.find((line) => line.startsWith('[ERROR] ')) ?? lines.findLast((line) => line.trim() !== '') ?? 'it said nothing'
  return line
    .replace('[ERROR] ', '')
    .replace(/ -> \[Help \d+\]$/, '')
    .trim()
}

/** Folder of the lists of this version. */
export const jarLists = fileURLToPath(new URL('.', import.meta.url))

/**
 * Checks that a folder has the jars of the list `<name>.sha256` and no other. Throws DuelogError `embedded-failed` that names the first file
 * which differs. Takes about 0.2 s for the broker and the registry together.
 */
export async function checkJars(name: string, folder: string, lists: string): Promise<void> {
  const listed = listOf(await readFile(join(lists, `${name}.sha256`), 'utf8'))
  const found = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith('.jar'))
  const fail = (file: string, what: string): never => {
    throw new DuelogError(
      'embedded-failed',
      `The jar ${join(folder, file)} ${what}, so nothing of it is run. Remove the folder ${folder}; the next start fetches it again. If it differs again, the source of your jars gives other files than their authors do.`,
    )
  }
  for (const file of found) if (!listed.has(file)) fail(file, 'does not belong to this version')
  for (const [file, hash] of listed) {
    if (!found.includes(file)) fail(file, 'is missing')
    if (hashOf(await readFile(join(folder, file))) !== hash) fail(file, 'has another SHA-256 than this version of Duelog knows')
  }
}

const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

/** Lines of `sha256sum`: the hash, two spaces, the path in the folder. */
function listOf(text: string): Map<string, string> {
  return new Map(
    text
      .trimEnd()
      .split('\n')
      .map((line) => [line.slice(66), line.slice(0, 64)]),
  )
}
