/**
 * Joins what the HTTP server of this process answers with, and starts it: directories of the other processes, operations, the trail of
 * changes, loads of the pools, and the metrics of the engine behind a front.
 */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { topicPlans } from '../../../streams/topics/index.ts'
import type { Clock } from '../../ground/clock/index.ts'
import { SharedAnswer, withTimeout } from '../../ground/concurrency/index.ts'
import { effectiveSettings } from '../../ground/config/index.ts'
import type { Shown } from '../../ground/metrics/index.ts'
import { fetchWith } from '../../ground/network/index.ts'
import type { HistoryQueries, LogAdmin, LogWriter, ProofQueries } from '../../ground/ports/index.ts'
import { advertised } from '../../ground/process/index.ts'
import type { KafkaLog } from '../../log/kafka/index.ts'
import type { Scheduler } from '../../scheduler/index.ts'
import { createApi, createAuditTrail, operationLimits, readDashboard } from '../../server/api/index.ts'
import type { RunningOperations } from '../../server/operations/index.ts'
import {
  createHistoryDirectory,
  createOwnerDirectory,
  createProofDirectory,
  hasFront,
  PeerWatch,
  peerToken,
  type RemoteQueries,
  remoteQueries,
  urlOfPeer,
} from '../../server/peers/index.ts'
import type { PoolLoads } from '../../server/scaling/index.ts'
import { groupsOf } from './former-process.ts'
import type { ProcessContext } from './process-context.ts'
import { measured, poolLoadsOf, showPoolLoads } from './scaling.ts'

/** A scrape waits no longer for the engine, which answers between its commits. */
const engineMetricsMsMax = 3_000

/** Where the dashboard is built: in a clone below dist, and in the package, which is dist itself, beside the program. */
const dashboardPath = import.meta.url.endsWith('.ts') ? '../../../dist/dashboard' : '../../../dashboard'

interface Served {
  auditor?: ProofQueries | undefined
  history?: HistoryQueries | undefined
  /** HTTP server of the engine that this process is the front of. */
  engineUrl?: string | undefined
}

/** Metrics, probes and requests of other processes in any role; the API in the role api only. */
export async function startHttp(
  parts: ProcessContext,
  scheduler: Scheduler | undefined,
  { auditor, history, engineUrl }: Served = {},
): Promise<{ url: string; loads: PoolLoads }> {
  const { config, log, codecs, names, partitions, instance, metrics, clock, logger, vitals, undo } = parts
  const writer = await log.writer()
  undo.push(() => writer.close())
  const admin = await log.admin()
  undo.push(() => admin.close())
  const topics = new SharedAnswer(() => log.topics())
  const ranges = log.ranges()
  undo.push(() => ranges.close())
  const trail = createAuditTrail({ log, admin, codec: codecs.audit, names, instance, clock })
  undo.push(() => trail.stop())
  const { httpsCertFile: certFile, httpsKeyFile: keyFile } = config
  const { engine, remote } = peersOf(parts, engineUrl)
  const urlOf = (note: unknown) => urlOfPeer(note, config.apiTokens)
  const onRefused = onceAMinute((problem) => logger.warn({ event: 'peer-refused' }, problem), clock)
  const owners = createOwnerDirectory({
    admin,
    instance,
    groupId: `${config.topicPrefix}scheduler`,
    topic: names.commands,
    followedTopic: names.jobs,
    partitions,
    local: scheduler?.queries,
    ...{ remote, urlOf, onRefused },
    clock,
  })
  const proofGroup = { groupId: names.group('auditor'), local: auditor, partitions }
  const proofs = createProofDirectory({ admin, ...proofGroup, instance, ...{ remote, urlOf }, clock })
  const groupId = names.group('history')
  const histories = createHistoryDirectory({ admin, groupId, local: history, instance, ...{ remote, urlOf }, clock })
  const isPublic = config.roles.has('api')
  const loads = poolLoadsOf(parts, { admin, owners })
  if (isPublic) showPoolLoads(loads, parts)
  const operations = await operationsOf(parts, { writer, admin, owners })
  const peers = peerWatchOf(parts, scheduler, admin)
  const api = createApi({
    ...{ writer, codecs, names, partitions, owners, proofs, operations, peers },
    pauses: isPublic ? parts.pauses : undefined,
    poolNeeds: isPublic ? () => measured(loads, parts) : undefined,
    localProof: auditor,
    history: histories,
    localHistory: history,
    admin,
    existingTopics: () => topics.get(),
    trail,
    runLogs: { ranges, codec: codecs.runLog },
    instance,
    local: scheduler?.queries,
    metrics,
    clock,
    logger,
    https: certFile === undefined || keyFile === undefined ? undefined : { certFile, keyFile },
    apiTokens: config.apiTokens,
    jwt: config.jwt,
    ratePerSecond: config.httpRateLimit,
    settings: effectiveSettings(config),
    topics: topicPlans(names, config.pools, config),
    // It is read into memory, so only a process with the role api reads it.
    dashboard: isPublic ? readDashboard(fileURLToPath(new URL(dashboardPath, import.meta.url))) : undefined,
    engine,
    health: () => vitals.health(scheduler, clock.problem),
    seriesFile: join(config.dataDir, 'series.json'),
    public: isPublic,
  })
  undo.push(() => api.stop(), peers.stop)
  const url = advertised(config.advertisedUrl, await api.listen(config.httpHost, config.httpPort))
  operations?.start()
  peers.start()
  return { url, loads }
}

/** Passes on at most one problem a minute, so that repeated requests do not flood the log. */
function onceAMinute(tell: (problem: string) => void, clock: Pick<Clock, 'steadyMs'>): (problem: string) => void {
  let toldAt = Number.NEGATIVE_INFINITY
  return (problem) => {
    if (clock.steadyMs() - toldAt < 60_000) return
    toldAt = clock.steadyMs()
    tell(problem)
  }
}

/** What every call to another process of this Duelog carries. */
const callOptionsOf = ({ config: { httpsCa: ca, apiTokens } }: Pick<ProcessContext, 'config'>) => ({
  token: peerToken(apiTokens),
  fetch: fetchWith(ca === undefined ? undefined : { ca }),
})

/** How this process calls others. The engine of a front has the address of the front, which calls it at its own. */
function peersOf(parts: ProcessContext, engineUrl: string | undefined) {
  const options = callOptionsOf(parts)
  const engine = engineUrl === undefined ? undefined : remoteQueries(engineUrl, options)
  if (engine !== undefined) showEngine(engine, parts)
  const remote = (url: string) => (engine !== undefined && url === parts.url ? engine : remoteQueries(url, options))
  return { engine, remote }
}

/**
 * Watches the next members of the groups that have work of this process: its schedulers', and those of its own workers. It stops before the
 * API does, so that those who watch this process hear that it leaves.
 */
function peerWatchOf(parts: ProcessContext, scheduler: Scheduler | undefined, admin: Pick<LogAdmin, 'groupMembers'>): PeerWatch {
  const { config, log, names, instance, clock, metrics, logger } = parts
  const { apiTokens, pools } = config
  const options = { ...callOptionsOf(parts), ...peerLimits }
  const groups = groupsOf(names, pools)
  const pooled = config.roles.has('executor') ? pools.map((pool) => names.group(`exec.${pool}`)) : []
  return new PeerWatch({
    groups: [...(scheduler === undefined ? [] : [names.group('scheduler')]), ...pooled],
    ...{ instance, clock, metrics, logger, hasFront },
    members: (groupId) => admin.groupMembers(groupId),
    remote: (url) => remoteQueries(url, options),
    urlOf: (note) => urlOfPeer(note, apiTokens),
    isLeaving: () => scheduler?.isLeaving === true,
    brokersHeardAtMs: log.brokersHeardAtMs,
    remove: (peer) => log.removeDeparted(peer, groups),
  })
}

/** A peer that lives answers at once, or after half a second where that is asked for, with a word. */
const peerLimits = { timeoutMs: 1_500, bytesMax: 4_096 }

/** The metrics of a Duelog are read at its front. While the engine does not answer, its last ones are shown. */
function showEngine(engine: Pick<RemoteQueries, 'metrics'>, { metrics, clock }: Pick<ProcessContext, 'metrics' | 'clock'>): void {
  let last: Shown[] = []
  const read = new SharedAnswer(async () => {
    last = (await withTimeout(clock, engineMetricsMsMax, engine.metrics())) ?? last
    return last
  })
  metrics.sources.add(() => read.get())
}

interface OperationParts {
  writer: LogWriter
  admin: Awaited<ReturnType<KafkaLog['admin']>>
  owners: ReturnType<typeof createOwnerDirectory>
}

/** Undefined: this process does not have the role. */
async function operationsOf(
  parts: ProcessContext,
  { writer, admin, owners }: OperationParts,
): Promise<RunningOperations | undefined> {
  const { config, log, codecs, names, partitions, instance, clock, logger, undo } = parts
  if (!config.roles.has('api')) return undefined
  const { createOperations } = await import('../../server/operations/index.ts')
  const given = { log, admin, codecs, names, partitions, owners, instance, clock, logger, limits: operationLimits }
  const operations = createOperations(given, writer)
  undo.push(() => operations.stop())
  return operations
}
