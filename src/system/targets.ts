/** Starts target topics, and the intake of schedules of other schedulers. */
import { systemClock } from '../clock/index.ts'
import { DuelogError } from '../errors/index.ts'
import type { ProcessContext } from './process-context.ts'

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
  const { ForeignIntake } = await import('../intake/index.ts')
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
