/** Creates and starts what a process has besides scheduler, workers and HTTP: the auditor, the history, pauses, target topics and the intake. */
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { topicPlans } from '../../../streams/topics/index.ts'
import { systemClock } from '../../ground/clock/index.ts'
import { DuelogError } from '../../ground/errors/index.ts'
import { PauseBook } from '../../log/pauses/index.ts'
import type { Scheduler } from '../../scheduler/index.ts'
import type { History } from '../../server/history/index.ts'
import { peerNote } from '../../server/peers/index.ts'
import type { Auditor } from '../../tools/auditor/index.ts'
import type { ProcessContext } from './process-context.ts'

/** An owner in the same process has priority: auditor and history join when the partitions fire, or at the latest after this time. */
const ownerFirstMs = 30_000

/** Undefined: this process does not have the role.  `clusterId`: undefined if unknown. */
export async function auditorOf(parts: ProcessContext, clusterId: string | undefined): Promise<Auditor | undefined> {
  const { config, logger, log, codecs, names, instance, metrics, clock, pauses } = parts
  if (!config.roles.has('auditor')) return undefined
  const [{ Auditor }, { rocksStores }] = await Promise.all([
    import('../../tools/auditor/index.ts'),
    import('../../log/store/index.ts'),
  ])
  return new Auditor({
    log,
    codecs,
    names,
    clusterId,
    instance,
    userData: () => peerNote(parts.url, config.apiTokens),
    stores: rocksStores(join(config.dataDir, 'auditor')),
    clock,
    metrics,
    logger,
    pauses,
    graceMs: config.auditGraceMs,
  })
}

/** Call it when the scheduler of this process has joined and the URL of this process is known, because the member data contains it. */
export async function startAuditor(
  auditor: Auditor | undefined,
  scheduler: Scheduler | undefined,
  parts: ProcessContext,
): Promise<void> {
  if (auditor === undefined) return
  parts.undo.push(() => auditor.stop())
  if (scheduler === undefined) return auditor.start()
  auditor.startAfter(Promise.race([scheduler.ready(), setTimeout(ownerFirstMs, undefined, { ref: false })]))
}

/** Undefined: this process does not have the role. */
export async function historyOf(parts: ProcessContext, clusterId: string | undefined): Promise<History | undefined> {
  const { config, logger, log, codecs, names, instance, metrics, clock } = parts
  if (!config.roles.has('history')) return undefined
  const { History } = await import('../../server/history/index.ts')
  const plan = topicPlans(names, config.pools, config).find(({ topic }) => topic === names.runs)
  const topicRetentionMs = Number(plan?.config['retention.ms'])
  return new History({
    log,
    codec: codecs.endedRun,
    names,
    instance,
    userData: () => peerNote(parts.url, config.apiTokens),
    path: join(config.dataDir, 'history', 'runs.sqlite'),
    url: config.historyUrl,
    clusterId,
    retentionMs: config.historyRetentionMs ?? topicRetentionMs,
    clock,
    metrics,
    logger,
  })
}

/** Nothing waits for it, because nothing else needs it. Call it when the URL of this process is known. */
export function startHistory(
  history: History | undefined,
  scheduler: Scheduler | undefined,
  { undo }: Pick<ProcessContext, 'undo'>,
): void {
  if (history === undefined) return
  undo.push(() => history.stop())
  const ready = scheduler?.ready().catch(() => undefined) ?? Promise.resolve()
  void Promise.race([ready, setTimeout(ownerFirstMs, undefined, { ref: false })]).then(() => history.start())
}

/** Resolves when the pauses are known, or after some seconds. A process without these roles reads nothing. */
export async function startPauses(parts: Omit<ProcessContext, 'pauses'>): Promise<PauseBook> {
  const { config, log, codecs, names, instance, clock, metrics, logger, undo } = parts
  const { roles } = config
  const changes = roles.has('api')
  const writer = changes ? await log.writer() : undefined
  if (writer !== undefined) undo.push(() => writer.close())
  const pauses = new PauseBook({ log, codec: codecs.pause, names, instance, clock, metrics, logger, writer })
  if (!(changes || roles.has('scheduler') || roles.has('executor') || roles.has('auditor'))) return pauses
  undo.push(() => pauses.stop())
  await pauses.start()
  return pauses
}

/** Checks the topics that may be written to, now and every 30 s, where somebody writes to them. */
export async function startTargets({ config, targets, undo }: ProcessContext): Promise<void> {
  if (!config.roles.has('scheduler') && !config.roles.has('intake')) return
  undo.push(() => targets.stop())
  await targets.start()
}

/** With a broker of ours nobody else would make them; elsewhere they are somebody's, who knows how many partitions they should have. */
async function requireTopics({ config, log, logger, partitions }: ProcessContext, topics: readonly string[]): Promise<void> {
  if (config.brokers === undefined) {
    const made = await log.makeMissing(topics, { partitions, replication: config.replication })
    if (made.length > 0)
      logger.info(
        { event: 'foreign-topics-created', topics: made },
        'The topics of foreign schedules were missing and have been created.',
      )
    return
  }
  const existing = new Set(await log.topics())
  const missing = topics.filter((topic) => !existing.has(topic))
  if (missing.length === 0) return
  throw new DuelogError(
    'unsafe-topic',
    `The role intake must read ${missing.join(', ')}, but this process sees no such topic. Create it, for example with \`duelog topics apply\` and the same DUELOG_INTAKE_ETF1_TOPICS and DUELOG_INTAKE_KARAFKA_TOPICS, grant Describe on it, or remove it from the setting.`,
  )
}

/** Without a topic to read there is nothing to join a group for. */
export async function startIntake(parts: ProcessContext): Promise<void> {
  const { config, log, codecs, names, instance, metrics, logger, targets, undo, vitals } = parts
  const { intakeTopics: topics, topicPrefix: prefix } = config
  if (!config.roles.has('intake') || topics.etf1.length + topics.karafka.length === 0) return
  await requireTopics(parts, [...topics.etf1, ...topics.karafka])
  const { definition } = codecs
  const { ForeignIntake } = await import('../../worker/intake/index.ts')
  const intake = new ForeignIntake({
    log,
    definition,
    names,
    prefix,
    topics,
    targets,
    instance,
    clock: systemClock,
    metrics,
    logger,
  })
  undo.push(() => intake.stop())
  vitals.watch(() => intake.problem)
  await intake.start()
}
