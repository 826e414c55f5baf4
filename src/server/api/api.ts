/**
 * The HTTP API. It decides nothing: it checks requests, writes definitions and commands to their topics, and queries the owners
 * of the partitions. It holds no state except the writes in-flight.
 */
import type { Server as HttpsServer } from 'node:https'
import type { Socket } from 'node:net'
import { type FastifyInstance, fastify, LogController, type RouteOptions } from 'fastify'
import { writeJson } from '../../../streams/text/index.ts'
import { FairSlots } from '../../ground/concurrency/index.ts'
import { DuelogError, errorTable, messageOf } from '../../ground/errors/index.ts'
import { libraryLogger } from '../../ground/logging/index.ts'
import { version } from '../../ground/process/index.ts'
import { AuditLog, auditRequests } from './audit-trail/index.ts'
import type { ApiContext, ApiOptions } from './context/index.ts'
import {
  answerUnchanged,
  authentication,
  compressAnswers,
  keepRoom,
  limitBodyTimes,
  limitRates,
  limitUnread,
  refusePipelining,
  SignIns,
  securityHeaders,
} from './guards/index.ts'
import {
  answerError,
  type JsonParser,
  jsonReader,
  problemOf,
  problemType,
  ReadingTurns,
  readCertificate,
  requestChecks,
  tlsOptions,
  watchCertificate,
} from './http/index.ts'
import { Calculator, calculatorHere, JobWrites, RunEnds, RunLogs } from './jobs/index.ts'
import { openApiRoutes } from './openapi/index.ts'
import { staleHeader } from './owners/index.ts'
import {
  answerAsPage,
  auditRoutes,
  batchRoutes,
  commandRoutes,
  dashboardRoutes,
  deadLetterRoutes,
  eventsRoutes,
  historyRoutes,
  internalRoutes,
  jobReadRoutes,
  jobRoutes,
  operationRoutes,
  planRoutes,
  poolRoutes,
  proofRoutes,
  runCommandRoutes,
  runEndRoutes,
  runLogRoutes,
  runRoutes,
  scheduleRoutes,
  seriesRoutes,
  systemRoutes,
  withoutPublicApi,
} from './routes/index.ts'
import {
  bodyBytesMax,
  connectionIdleMs,
  headersCheckMs,
  headersReceiveMs,
  listsAtOnce,
  ratePerSecondDefault,
  stopGraceMs,
} from './schemas/index.ts'
import { SeriesFile, SeriesSampler } from './series/index.ts'

export type { ApiOptions } from './context/index.ts'
export type { ApiToken, Role } from './guards/index.ts'

export interface Api {
  /** For tests that inject requests without a socket. */
  instance: FastifyInstance
  /** Every route with its requirements, so that tests cover all of them. */
  routes: readonly RouteOptions[]
  /** Binds and resolves with the URL, without a trailing slash. Port 0 takes a free one. Rejects with `bad-config`. */
  listen(host: string, port: number): Promise<string>
  /** Accepts no further requests, lets open ones end within limits.stopGraceMs, and then cuts them off. Safe to call twice. */
  stop(): Promise<void>
}

type Routes = readonly ((instance: FastifyInstance, context: ApiContext) => void)[]

/** The API, besides the route of batches, which has a parser of its own. */
const publicRoutes: Routes = [
  jobRoutes,
  jobReadRoutes,
  commandRoutes,
  runCommandRoutes,
  runRoutes,
  runEndRoutes,
  runLogRoutes,
  deadLetterRoutes,
  operationRoutes,
  planRoutes,
  auditRoutes,
  scheduleRoutes,
  systemRoutes,
  poolRoutes,
  seriesRoutes,
  proofRoutes,
  historyRoutes,
  eventsRoutes,
]

/** For other processes, and for browsers. */
const otherRoutes: Routes = [internalRoutes, dashboardRoutes]

export function createApi(options: ApiOptions): Api {
  const { clock } = options
  const calculator = options.inProcess ? calculatorHere : new Calculator(clock)
  const reading = new ReadingTurns(clock)
  const lists = new FairSlots({ what: 'lists of jobs', places: listsAtOnce, clock })
  const runEnds = new RunEnds(options)
  const queues = { calculator, reading, lists, series: newSeries(options) }
  const own = { writes: new JobWrites(options), runEnds, runLogs: new RunLogs(options), audit: new AuditLog(options), ...queues }
  const routes: RouteOptions[] = []
  const context: ApiContext = { ...options, ...own, routes }
  const certificate = options.https && readCertificate(options.https)
  const instance = createInstance(options, certificate)
  if (options.https !== undefined && certificate !== undefined) {
    const unwatch = watchCertificate(options.https, instance.server as unknown as HttpsServer, certificate, options)
    instance.addHook('onClose', async () => unwatch())
  }
  instance.addHook('onRoute', (route) => void routes.push(route))
  let stopping: Promise<void> | undefined
  instance.decorateRequest('role', null)
  instance.decorateRequest('actor', null)
  securityHeaders(instance)
  if (options.public === false) instance.addHook('onRequest', withoutPublicApi())
  const signIns = new SignIns(options.clock, options.logger)
  instance.addHook('onClose', async () => signIns.stop())
  instance.addHook('preClose', async () => runEnds.stop())
  instance.addHook('onClose', () => own.series.stop())
  instance.addHook('onClose', async () => calculator.stop())
  instance.addHook('onRequest', authentication({ ...options, signIns }))
  limitRates(instance, options.clock, options.ratePerSecond ?? ratePerSecondDefault)
  instance.addHook('onRequest', async (_request, reply) => {
    if (stopping === undefined) return
    void reply.header('connection', 'close')
    throw new DuelogError('not-ready', 'This process is stopping; send the request to another process, or again later.')
  })
  limitBodyTimes(instance)
  auditRequests(instance, context.audit)
  answerUnchanged(instance, staleHeader)
  compressAnswers(instance)
  limitUnread(instance)
  instance.setErrorHandler(answerError)
  const isWhole = options.inProcess !== true
  setParsersAndValidators(instance, options.public !== false && isWhole)
  const read = jsonReader(defaultParser(instance))
  if (isWhole) openApiRoutes(instance)
  for (const add of isWhole ? [...publicRoutes, ...otherRoutes] : publicRoutes) add(instance, context)
  void instance.register(async (scope) => batchRoutes(scope, context, read))
  return {
    ...{ instance, routes },
    listen: (host, port) => listen(instance, host, port).then((url) => (options.public === false ? url : begun(own.series, url))),
    stop() {
      stopping ??= close(instance)
      return stopping
    },
  }
}

/** Sampling begins once requests are served. */
async function begun(series: SeriesSampler, url: string): Promise<string> {
  await series.start()
  return url
}

function newSeries({ seriesFile, ...options }: ApiOptions): SeriesSampler {
  const file = seriesFile === undefined ? undefined : new SeriesFile(seriesFile, options.logger)
  return new SeriesSampler({ ...options, version, file })
}

function createInstance(options: ApiOptions, certificate: { cert: string; key: string } | undefined): FastifyInstance {
  const limits = { headersTimeout: headersReceiveMs, connectionsCheckingInterval: headersCheckMs }
  const instance = fastify({
    loggerInstance: libraryLogger(options.logger, 'http-server-line'),
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: bodyBytesMax,
    connectionTimeout: connectionIdleMs,
    keepAliveTimeout: connectionIdleMs,
    ...(certificate === undefined ? { http: limits } : { https: { ...certificate, ...tlsOptions, ...limits } }),
    // These are answered as a problem by our own code.
    return503OnClosing: false,
    exposeHeadRoutes: options.inProcess !== true,
    // A job id of 255 bytes has up to three characters for each when percent-encoded.
    routerOptions: { maxParamLength: 1_024 },
    frameworkErrors: (error, request, reply) => {
      if (!answerAsPage(options, request, reply)) void answerError(error, request, reply)
    },
    clientErrorHandler: (error, socket) => answerBrokenRequest(error, socket),
  })
  // The types of fastify tell servers apart. Nothing here does, besides the watch of the certificate.
  return instance as unknown as FastifyInstance
}

/** Answers are not filtered. */
function setParsersAndValidators(instance: FastifyInstance, eager: boolean): void {
  const checkOf = requestChecks(eager)
  // fastify takes any function with `errors`; its type names only that of its own compiler.
  instance.setValidatorCompiler(({ schema, httpPart }) => checkOf(schema as object, httpPart) as never)
  instance.setSerializerCompiler(() => (answer) => writeJson(answer))
  const read = jsonReader(defaultParser(instance))
  instance.removeAllContentTypeParsers()
  instance.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (_request: unknown, body: Buffer) => read(body))
}

function defaultParser(instance: FastifyInstance): JsonParser {
  const parse = instance.getDefaultJsonParser('error', 'error') as unknown as (
    request: undefined,
    text: string,
    done: (error: Error | null, value?: unknown) => void,
  ) => void
  return (text, done) => parse(undefined, text, done)
}

async function listen(instance: FastifyInstance, host: string, port: number): Promise<string> {
  try {
    keepRoom(instance.server)
    refusePipelining(instance.server)
    await instance.listen({ host, port })
  } catch (error) {
    throw new DuelogError(
      'bad-config',
      `The HTTP server cannot listen on ${host}:${port}: ${messageOf(error)}. End what uses the address, or set DUELOG_HTTP_HOST and DUELOG_HTTP_PORT.`,
      { cause: error },
    )
  }
  const address = instance.server.address()
  const bound = typeof address === 'object' && address !== null ? address.port : port
  const scheme = 'setSecureContext' in instance.server ? 'https' : 'http'
  return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${bound}`
}

async function close(instance: FastifyInstance): Promise<void> {
  const cut = setTimeout(() => instance.server.closeAllConnections(), stopGraceMs)
  try {
    await instance.close()
  } finally {
    clearTimeout(cut)
  }
}

/** Input that is not HTTP never becomes a request, so it is answered on the socket. */
function answerBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  if (socket.writable) {
    const detail =
      error.code === 'HPE_HEADER_OVERFLOW' ? 'The headers or the URL are too long.' : 'This is not a complete HTTP/1.1 request.'
    const body = JSON.stringify(problemOf('bad-request', detail))
    const { status } = errorTable['bad-request']
    const head = [
      `HTTP/1.1 ${status} Bad Request`,
      `Content-Type: ${problemType}`,
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Connection: close',
    ]
    socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
  }
  socket.destroySoon()
}
