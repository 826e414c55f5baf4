/** The embedded schema registry: Apicurio with its data in a file, on loopback only. */
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import {
  createServer as createHttpServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type ServerResponse,
} from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { platform } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import { messageOf } from '../../ground/errors/index.ts'
import { foreignBy } from '../../ground/network/index.ts'
import { privateFolderMode } from '../../ground/process/index.ts'
import { artifactFolder, registryVersion, titles } from './artifacts.ts'
import { type GuardedProcess, markOf, startGuarded } from './guarded-process.ts'
import { childEnvironment, classArchiveArguments, javaFlags } from './java.ts'
import type { StartContext } from './options.ts'

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

/** Of a schema with its references: far more than any topic needs. */
const bodyBytesMax = 4 * 1024 * 1024
const connectionsMax = 128
/** The registry may have to wake up. */
const answerMsMax = 30_000

/** Headers about one connection (RFC 9110, 7.6.1). Java's client asks each server for HTTP/2, which the registry would begin and this guard cannot. */
const hopByHop = [
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
]

const endToEnd = (headers: IncomingHttpHeaders): IncomingHttpHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !hopByHop.includes(name)))

interface Place {
  host: string
  port: number
}

interface RegistryGuard {
  close(): Promise<void>
}

/** Listens on 127.0.0.1. `registry`: where requests go. Rejects if the port is taken. */
export async function guardRegistry(port: number, registry: Place): Promise<RegistryGuard> {
  const server = createHttpServer(
    { requestTimeout: answerMsMax, headersTimeout: 10_000, keepAliveTimeout: 5_000 },
    (asked, answer) => handOver(asked, answer, registry),
  )
  server.maxConnections = connectionsMax
  server.listen({ host: '127.0.0.1', port, exclusive: true })
  await once(server, 'listening')
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function handOver(asked: IncomingMessage, answer: ServerResponse, { host, port }: Place): void {
  const refuse = (status: number, message: string): void => {
    if (answer.headersSent) return void answer.destroy()
    asked.resume()
    // The form of errors of the Confluent API. A rest of the body is not read.
    answer.writeHead(status, { 'content-type': 'application/vnd.schemaregistry.v1+json', connection: 'close' })
    answer.end(JSON.stringify({ error_code: status, message }))
  }
  if (foreignBy(asked.headers, asked.method) !== undefined)
    return refuse(403, 'The embedded registry answers programs on this machine only, at http://127.0.0.1 or http://localhost.')
  if (Number(asked.headers['content-length'] ?? 0) > bodyBytesMax)
    return refuse(413, `A request to the embedded registry has at most ${bodyBytesMax} bytes.`)
  const { method, url: path } = asked
  const headers = { ...endToEnd(asked.headers), host: `${host}:${port}` }
  const sent = request({ host, port, path, method, headers, timeout: answerMsMax })
  let bytes = 0
  asked.on('data', (piece: Buffer) => {
    bytes += piece.length
    if (bytes > bodyBytesMax) sent.destroy(new Error('the request is too long'))
  })
  sent.on('timeout', () => sent.destroy(new Error(`it did not answer within ${answerMsMax / 1_000} s`)))
  sent.on('error', (error) => refuse(502, `The embedded registry does not answer: ${error.message}.`))
  sent.on('response', (response) => {
    answer.writeHead(response.statusCode ?? 502, endToEnd(response.headers))
    pipeline(response, answer, () => {})
  })
  answer.on('close', () => sent.destroy())
  // An error of one ends the other, and is told above.
  pipeline(asked, sent, () => {})
}
