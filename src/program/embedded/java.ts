/**
 * The Java that runs the broker and the registry: finds one that is new enough, and chooses its flags, its environment variables and its
 * class archive.
 */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { DuelogError } from '../../ground/errors/index.ts'

/** The oldest Java that the broker and the registry both run on. */
const javaVersionMin = 17

const advice = `Install Java ${javaVersionMin} or later (for example \`apt-get install openjdk-17-jre-headless\`) or point JAVA_HOME to one, or set KAFKA_BROKERS and SCHEMA_REGISTRY_URL to use a broker and a registry of your own.`

interface Java {
  path: string
  /** The output of `java -version`. */
  version: string
}

/** `java` of JAVA_HOME where set, else the first on the PATH. Throws DuelogError `embedded-failed`. */
export async function findJava(env: NodeJS.ProcessEnv): Promise<Java> {
  const java = env.JAVA_HOME ? join(env.JAVA_HOME, 'bin', 'java') : 'java'
  const output = await new Promise<string | undefined>((resolve) => {
    execFile(java, ['-version'], { env }, (error, stdout, stderr) => resolve(error ? undefined : stderr + stdout))
  })
  if (output === undefined) {
    const where = env.JAVA_HOME ? `JAVA_HOME is ${env.JAVA_HOME}, but ${java} does not run` : 'there is no `java` on the PATH'
    throw new DuelogError('embedded-failed', `The embedded broker and registry need Java, and ${where}. ${advice}`)
  }
  const version = majorVersionOf(output)
  if (version !== undefined && version < javaVersionMin) {
    throw new DuelogError(
      'embedded-failed',
      `${java} is Java ${version}, which is too old for the embedded broker and registry. ${advice}`,
    )
  }
  return { path: java, version: output }
}

/** 17 of `openjdk version "17.0.15" 2025-04-15`, 8 of `java version "1.8.0_402"`. */
export function majorVersionOf(output: string): number | undefined {
  const match = /version "(?:1\.)?(\d+)/.exec(output)
  return match ? Number(match[1]) : undefined
}

/** What both Java programs need to start quickly and stay small. A Java VM that does not know a flag ignores it. */
const smallJava = [
  '-XX:+UseSerialGC',
  '-XX:-UsePerfData',
  '-XX:+ExitOnOutOfMemoryError',
  '-XX:+IgnoreUnrecognizedVMOptions',
  '-XX:+UnlockExperimentalVMOptions',
  '-XX:+UnlockDiagnosticVMOptions',
  // At its own address the class archive is mapped without changes, so that its pages stay those of the file.
  '-XX:ArchiveRelocationMode=0',
  // Milliseconds between returns of free native memory to the system.
  '-XX:TrimNativeHeapInterval=10000',
]

/**
 * Usually only the quick compiler (C1) is used. A broker on one machine with 2 cores runs as fast with it (`storm`, `accept`), because
 * the optimizing compiler takes a core while the work goes on. Its first requests are faster, and its memory is smaller.
 */
export const javaFlags = ({ optimizesCode }: { optimizesCode: boolean }): string[] =>
  optimizesCode ? smallJava : [...smallJava, '-XX:TieredStopAtLevel=1']

/** Few arenas of glibc, because each keeps its own free memory. */
const mallocSettings = { MALLOC_ARENA_MAX: '2' }

/** The variables that a Java child needs. All others are removed: a stray QUARKUS_… or JAVA_TOOL_OPTIONS would change its behavior. */
export function childEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const names = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TZ', 'LD_LIBRARY_PATH']
  return {
    ...mallocSettings,
    ...Object.fromEntries(names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]))),
  }
}

/** Arguments that use the archive, or create it at the end. The VM ignores an archive that does not match. */
export async function classArchiveArguments(jars: string, javaVersion: string): Promise<string[]> {
  const id = createHash('sha256').update(javaVersion).digest('hex').slice(0, 8)
  const file = join(jars, `classes-${id}.jsa`)
  const use = (await isComplete(file)) ? 'SharedArchiveFile' : 'ArchiveClassesAtExit'
  return [`-XX:${use}=${file}`, '-Xlog:cds=off', '-Xlog:cds+dynamic=off']
}

/** The header is written last, so an incomplete archive begins with zeros. */
async function isComplete(file: string): Promise<boolean> {
  const handle = await open(file).catch(() => undefined)
  if (handle === undefined) return false
  try {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(4), 0, 4, 0)
    return bytesRead === 4 && buffer.readUInt32LE() !== 0
  } finally {
    await handle.close()
  }
}
