/** The process of the embedded schema registry: Apicurio with its data in a file, on a loopback address that only its guard knows. */
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { platform } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { messageOf } from '../../ground/errors/index.ts'
import { privateFolderMode } from '../../ground/process/index.ts'
import { artifactFolder, registryVersion, titles } from './artifacts.ts'
import { type GuardedProcess, markOf, startGuarded } from './guarded-process.ts'
import { childEnvironment, classArchiveArguments, javaFlags } from './java.ts'
import type { StartContext } from './options.ts'

/** Where the registry itself listens. */
export interface Place {
  host: string
  port: number
}

/** Base URL of its Confluent-compatible API. */
const urlAt = ({ host, port }: Place): string => `http://${host}:${port}/apis/ccompat/v7`

/** The URL for users: that of the guard. */
export const registryUrlOf = ({ registryPort }: Pick<StartContext, 'registryPort'>): string =>
  urlAt({ host: '127.0.0.1', port: registryPort })

/** Starts the registry and resolves when it answers requests. `onStart` is called as soon as there is a process. */
export async function startRegistry(context: StartContext, onStart: (process: GuardedProcess) => void): Promise<Place> {
  const { dataDir, java, logDir } = context
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
      // It answers seldom: to optimize its code would take longer than all its answers.
      ...javaFlags({ optimizesCode: false }),
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
  await answers(urlAt(own)).catch((error: unknown) => {
    throw process.failure(`does not answer at ${urlAt(own)} (${messageOf(error)})`)
  })
  return own
}

/**
 * Linux has 16 million loopback addresses, so no page finds it. Elsewhere there is one, and the port alone
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
