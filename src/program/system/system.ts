/** The composition root: makes a running system of the settings. All other modules depend on ports only. */
import { join } from 'node:path'
import { pino } from 'pino'
import { tombstoneRetentionMs, topicNames, topicPlans } from '../../../streams/topics/index.ts'
import { systemClock } from '../../ground/clock/index.ts'
import type { Config } from '../../ground/config/index.ts'
import { type Logger, limitRecordLogs } from '../../ground/logging/index.ts'
import { type Metrics, newMetrics } from '../../ground/metrics/index.ts'
import { collectGarbage, keepPrivate, newInstance, zoneRulesVersion } from '../../ground/process/index.ts'
import { flushSpans } from '../../ground/tracing/index.ts'
import { clockOf, endParts, type Step, signInsOf, startClock } from '../../log/cluster/index.ts'
import { connectLog, type KafkaLog } from '../../log/kafka/index.ts'
import type { Scheduler } from '../../scheduler/index.ts'
import { peerNote } from '../../server/peers/index.ts'
import type { GivenHandlers } from '../../worker/executor/index.ts'
import { startOwn } from './embedded.ts'
import { startExecuting } from './executor.ts'
import { groupsOf, succeed } from './former-process.ts'
import { addressBySettings, startFront } from './front-process.ts'
import { DiskWatch, ProcessHealth } from './health.ts'
import type { ProcessContext } from './process-context.ts'
import { auditorOf, historyOf, startAuditor, startHistory, startIntake, startPauses, startTargets } from './readers.ts'
import type { RolePlan } from './role-child.ts'
import { roleSetsOf } from './role-sets.ts'
import { startScaling } from './scaling.ts'
import { clusterIdOf, knownIdsIn, openCodecs } from './schema-cache.ts'
import { ThreadSearches } from './thread-searches.ts'

export interface System {
  /** Base URL of the HTTP server. Empty in a child process of workers, which has none. */
  url: string
  /** name@host:pid:boot. */
  instance: string
  brokers: string[]
  registryUrl: string
  /** False until the registry has answered for the first time since the start. Until then, the known ids are used. */
  readonly registryAnswered: boolean
  /** Partitions of every topic. */
  partitions: number
  metrics: Metrics
  /** Resolves when every partition assigned to this process fires. Without the scheduler role it resolves at once. */
  ready(): Promise<void>
  /** Stops intake, finishes commits, drains handlers, leaves the groups, closes stores and stops the embedded broker and registry. Safe to call twice. */
  stop(): Promise<void>
}

export interface SystemOptions {
  config: Config
  /** GivenHandlers besides the built-in ones and those of DUELOG_HANDLERS. */
  handlers?: GivenHandlers
  logger?: Logger
  onProgress?: (message: string) => void
  /** What the workers of this process announce to their groups besides what each announces. */
  announced?: () => object
  /** Called when the system cannot continue. The process should stop it and end. */
  onFatal?: (error: Error) => void
  /** True: the roles are shared by up to three processes (role-sets.ts). Handlers are then those of DUELOG_HANDLERS. Default false. */
  isSeparate?: boolean
  /** This process is a child, and runs the roles of this plan. */
  plan?: RolePlan | undefined
}

/** Starts the roles of this process. Rejects with a DuelogError of one sentence; then everything that was started has been stopped. */
export async function startSystem(options: SystemOptions): Promise<System> {
  const { config } = options
  const logger = options.logger ?? pino({ level: config.logLevel, ...limitRecordLogs() })
  const own: Step[] = []
  const undo: Step[] = []
  const givenUp = new AbortController()
  let log: KafkaLog | undefined
  const stop = once(async () => {
    await endParts(undo.splice(0), { log, clock: systemClock, logger, onGivenUp: () => givenUp.abort() })
    // The embedded broker and registry are stopped in any case.
    await endParts(own.splice(0), { log: undefined, clock: systemClock, logger, onGivenUp: () => {} })
    // The last spans are those of the parts above, and most processes end now.
    await flushSpans()
  })
  const connected = (to: KafkaLog): void => {
    log = to
  }
  try {
    return await assemble(options, { logger, own, undo, stop, connected, givenUp: givenUp.signal })
  } catch (error) {
    await stop()
    throw error
  }
}

interface Frame extends Pick<ProcessContext, 'logger' | 'undo' | 'givenUp'> {
  /** Steps that stop the embedded broker and registry, after all other parts have ended. */
  own: Step[]
  stop(): Promise<void>
  connected(log: KafkaLog): void
}

async function assemble(options: SystemOptions, frame: Frame): Promise<System> {
  const { plan } = options
  const sets = roleSetsOf(options.config, options.isSeparate === true)
  const hasFront = sets.front.size > 0
  // The address of Duelog is that of the front.
  const place = hasFront ? { httpHost: '127.0.0.1', httpPort: 0, httpsCertFile: undefined, httpsKeyFile: undefined } : {}
  const config: Config = { ...options.config, ...place, roles: sets.main, executorProcesses: sets.executors }
  const { parts, cluster, clusterId, standing, startRegistry } = await connect({ ...options, config }, frame)
  const { undo, instance, partitions, metrics } = parts
  // Nobody calls workers in a child process: their parent shows their metrics, and restarts them.
  const isServed = plan === undefined || plan.engineUrl !== undefined
  // Members tell it when they join, so it is given before anything listens there, if the settings name the port.
  parts.url = isServed && options.config.httpPort !== 0 ? addressBySettings(options.config) : undefined
  parts.hasFront = hasFront
  await startTargets(parts)
  const processes = await startExecuting(parts, cluster, options.handlers)
  await startIntake(parts)
  parts.logger.info(
    { event: 'start-groups-joined', roles: [...config.roles] },
    'Start: workers and forwarders are in their groups.',
  )
  const scheduler = config.roles.has('scheduler') ? await newScheduler(parts) : undefined
  const auditor = await auditorOf(parts, clusterId)
  const history = await historyOf(parts, clusterId)
  // HTTP starts before the scheduler joins, because the member data of the scheduler contains the URL.
  const http = isServed
    ? await (await import('./http.ts')).startHttp(parts, scheduler, { auditor, history, engineUrl: plan?.engineUrl })
    : undefined
  const ownUrl = http?.url ?? ''
  const front = hasFront
    ? startFront(parts, {
        config: { ...options.config, roles: sets.front, executorProcesses: { min: 0, max: 0 } },
        ...{ cluster, engineUrl: ownUrl },
      })
    : undefined
  // Who waits for it is below; a start that fails before does not.
  front?.catch(() => {})
  parts.url = front === undefined ? ownUrl : (parts.url ?? (await front).url)
  if (http !== undefined) parts.logger.info({ event: 'start-http-served', url: parts.url }, 'Start: HTTP is served.')
  // All code of this process is loaded, and nothing fires yet.
  collectGarbage()
  if (scheduler !== undefined) {
    undo.push(() => scheduler.stop())
    await scheduler.start()
  }
  const ready = async (): Promise<void> => void (await Promise.all([scheduler?.ready(), processes?.ready]))
  void scheduler?.ready().then(startRegistry)
  if (scheduler === undefined) startRegistry()
  if (http !== undefined) startScaling(processes, http.loads, parts)
  await startAuditor(auditor, scheduler, parts)
  startHistory(history, scheduler, parts)
  const url = (await front)?.url ?? ownUrl
  return {
    ...{ url, instance, brokers: cluster.brokers, registryUrl: cluster.registryUrl },
    ...{ partitions, metrics, ready, stop: frame.stop },
    get registryAnswered() {
      return standing.registryAnswered
    },
  }
}

/** Everything that all roles share. */
async function connect(options: SystemOptions, frame: Frame) {
  const { config, plan } = options
  const { logger, undo, givenUp } = frame
  const onFatal = (err: Error): void => logger.fatal({ event: 'process-failed', err }, 'Duelog cannot go on.')
  const vitals = new ProcessHealth(options.onFatal ?? onFatal)
  await keepPrivate(config.dataDir, logger)
  const knownIds = knownIdsIn(config.dataDir)
  const embedded = await startOwn(options, logger, vitals, knownIds)
  frame.own.push(() => embedded.stop())
  const brokers = plan?.cluster.brokers ?? config.brokers ?? embedded.brokers ?? []
  const registryUrl = plan?.cluster.registryUrl ?? config.registryUrl ?? embedded.registryUrl ?? ''
  const instance = newInstance()
  const names = topicNames(config.topicPrefix)
  const plans = topicPlans(names, config.pools, config)
  const metrics = metricsOfThisNode()
  const clock = clockOf(config, metrics, logger)
  const { sasl, ssl, registryAuth: auth, registrySsl } = signInsOf(config)
  const log = connectLog({ brokers, clientId: instance, logger, onAppended: clock.appended, ...countedIn(metrics), sasl, ssl })
  frame.connected(log)
  const former = { dataDir: config.dataDir, fileName: plan?.name, instance }
  const [{ partitions }, clusterId] = await Promise.all([
    log.ensureTopics({
      ...{ plans, partitions: config.partitions, replication: config.replication },
      partitionsByDefault: config.given.DUELOG_PARTITIONS === undefined,
    }),
    clusterIdOf(log),
    succeed({ ...former, groups: groupsOf(names, config.pools), log, logger }),
  ])
  logger.info({ event: 'start-topics-checked', partitions }, 'Start: the topics are checked.')
  const home = { dataDir: config.dataDir, clusterId }
  const standing = { registryAnswered: false }
  const onAnswered = (): unknown => Object.assign(standing, { registryAnswered: true })
  const { registryUp: whenUp, startRegistry } = embedded
  // A parent has the ids of this folder checked for its children.
  const isChecked = plan !== undefined
  const registry = { registryUrl, auth, ssl: registrySsl, whenUp, onNeeded: startRegistry, onAnswered, isChecked }
  const codecs = await openCodecs({ ...registry, plans, knownIds }, home, logger, vitals, undo)
  logger.info({ event: 'start-schemas-known', registryUrl }, 'Start: the schema ids are known.')
  const context = {
    ...{ config, logger, log, codecs, names, partitions, instance, metrics, clock, undo, givenUp, vitals },
    targets: log.targetTopics({ patterns: config.targetTopics, prefix: config.topicPrefix, pools: config.pools }),
    url: undefined,
    hasFront: false,
    announced: options.announced,
  }
  startClock(context)
  if (plan === undefined) await watchDisk(context)
  const parts: ProcessContext = { ...context, pauses: await startPauses(context) }
  return { parts, cluster: { brokers, registryUrl }, clusterId, standing, startRegistry }
}

/** Processes of one Duelog share a folder. The first of them looks. */
async function watchDisk({ config, ...parts }: Omit<ProcessContext, 'pauses'>): Promise<void> {
  const isEmbedded = config.brokers === undefined || config.registryUrl === undefined
  const watch = new DiskWatch({ ...parts, dataDir: config.dataDir, isEmbedded, onFull: parts.vitals.died })
  parts.undo.push(async () => watch.stop())
  await watch.start()
}

/** What the connection meets. */
const countedIn = (metrics: Metrics) => ({
  onUnread: (): void => metrics.invalid.inc({ reason: 'unreadable' }),
  onThrottled: (ms: number): void => metrics.kafkaThrottled.inc(ms / 1_000),
})

function metricsOfThisNode(): Metrics {
  const metrics = newMetrics()
  metrics.tzInfo.set({ version: zoneRulesVersion, icu: process.versions.icu ?? 'none' }, 1)
  return metrics
}

/** Long enough for several definitions of one caller, and less than what people or `wait=applied` would notice. */
const readPaceMs = 10

/** A room is loaded where its role runs, because each process has its own memory. */
async function newScheduler(parts: ProcessContext): Promise<Scheduler> {
  const [{ Scheduler }, { rocksStores }] = await Promise.all([
    import('../../scheduler/index.ts'),
    import('../../log/store/index.ts'),
  ])
  const { config, logger, log, codecs, names, partitions, instance, metrics, clock, undo, vitals } = parts
  const folder = join(config.dataDir, 'scheduler')
  const searches = new ThreadSearches({ folder, seed: codecs.seed, clock })
  undo.push(() => searches.stop())
  return new Scheduler({
    log,
    codecs,
    names,
    prefix: config.topicPrefix,
    partitions,
    instance,
    userData: () => peerNote(parts.url, config.apiTokens, parts.hasFront),
    stores: rocksStores(folder),
    searches,
    clock,
    metrics,
    logger,
    standbys: config.standbys,
    zoneRules: zoneRulesVersion,
    leadMs: config.leadMs,
    leadMsMax: Math.max(config.leadMs, config.leadMsMax),
    lingerMs: config.lingerMs,
    readPaceMs,
    recordsRuns: config.runsRetentionMs > 0,
    tombstoneRetentionMs,
    targets: parts.targets,
    pauses: parts.pauses,
    onFatal: vitals.died,
  })
}

function once<T>(task: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined
  return () => {
    running ??= task()
    return running
  }
}
