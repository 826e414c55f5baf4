/** The embedded schema registry: Apicurio with its data in a file, on loopback only. */
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { platform } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { messageOf } from '../errors/index.ts'
import { privateFolderMode } from '../process/index.ts'
import { artifactFolder, registryVersion, titles } from './artifacts.ts'
import { classArchiveArguments } from './class-archive.ts'
import { type GuardedProcess, startGuarded } from './guarded-process.ts'
import { childEnvironment, javaFlags } from './java.ts'
import type { StartContext } from './options.ts'
import { guardRegistry, type Place } from './registry-guard.ts'
import { markOf } from './stale-process.ts'

/** Base URL of its Confluent-compatible API. */
export const registryUrlOf = ({ registryPort }: StartContext): string => `http://127.0.0.1:${registryPort}/apis/ccompat/v7`

/** Starts the registry and resolves with its URL when it answers requests. */
export async function startRegistry(context: StartContext, onStart: (process: GuardedProcess) => void): Promise<string> {
  const { dataDir, registryPort, java, logDir } = context
  const own = await ownPlace()
  const app = await artifactFolder('registry', context)
  const folder = join(dataDir, 'registry')
  await mkdir(join(folder, 'tmp'), { recursive: true, mode: privateFolderMode })
  const process = startGuarded({
    title: titles.registry,
    java,
    args: [
      '-Xms16m',
      '-Xmx128m',
      '-Xmn6m',
      markOf(dataDir),
      ...javaFlags(context),
      ...(await classArchiveArguments(app, context.javaVersion)),
      `-Djava.io.tmpdir=${join(folder, 'tmp')}`,
      '-jar',
      join(app, `apicurio-registry-app-${registryVersion}-runner.jar`),
    ],
    cwd: folder,
    env: {
      ...childEnvironment(context.env),
      QUARKUS_HTTP_HOST: own.host,
      QUARKUS_HTTP_PORT: String(own.port),
      // The default storage is in memory, and would give the same id to another schema after a restart.
      // No write delay: an id that was answered is on disk, even if the process is killed right after.
      REGISTRY_DATASOURCE_URL: 'jdbc:h2:file:./registry;WRITE_DELAY=0',
      QUARKUS_DATASOURCE_JDBC_INITIAL_SIZE: '2',
      QUARKUS_DATASOURCE_JDBC_MIN_SIZE: '2',
      QUARKUS_DATASOURCE_JDBC_MAX_SIZE: '8',
    },
    logFile: join(logDir, 'registry.log'),
    pidFile: join(dataDir, 'registry.pid'),
    dataDir,
  })
  onStart(process)
  await process.line(/Listening on: http/)
  const guard = await guardRegistry(registryPort, own)
  void process.exited.then(() => guard.close())
  const url = registryUrlOf(context)
  await answers(url).catch((error: unknown) => {
    throw process.failure(`does not answer at ${url} (${messageOf(error)})`)
  })
  return url
}

/**
 * Where the registry itself listens. Linux has 16 million loopback addresses, so no page finds it. Elsewhere there is one, and the port alone
 * is unknown.
 */
async function ownPlace(): Promise<Place> {
  const part = (): number => randomInt(1, 255)
  const host = platform() === 'linux' ? `127.${part()}.${part()}.${part()}` : '127.0.0.1'
  const probe = createServer().listen({ host, port: 0, exclusive: true })
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  await new Promise((resolve) => probe.close(resolve))
  return { host, port }
}

/** For each of the questions: on a busy machine the first may take longer, and jobs fire meanwhile by the ids that are known. */
const childAnswerMsMax = 10_000
const questionsMax = 6

/** Resolves when the registry answers. Rejects with the last error when it has not done so to any of `questionsMax` questions. */
export async function answers(url: string, answerMsMax = childAnswerMsMax): Promise<void> {
  for (let left = questionsMax - 1; ; left--) {
    try {
      return await answer(url, answerMsMax)
    } catch (error) {
      if (left === 0) throw error
      await setTimeout(answerMsMax / 10)
    }
  }
}

async function answer(url: string, answerMsMax: number): Promise<void> {
  const response = await fetch(`${url}/subjects`, { signal: AbortSignal.timeout(answerMsMax) })
  await response.body?.cancel()
  if (!response.ok) throw new Error(`status ${response.status}`)
}
