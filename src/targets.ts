/** Joins what leaves Duelog and what comes in from other schedulers to the log: target topics, built-in handlers, foreign intake. */
import { systemClock } from './clock.ts'
import { lateWriter } from './connect.ts'
import type { Handlers } from './executor/handler.ts'
import { builtInHandlers } from './executor/handlers/built-in.ts'
import { createForeignIntake } from './intake/intake.ts'
import type { Parts } from './parts.ts'

/** The built-in handlers; the writer of kafka.produce is opened at its first run. */
export function builtInsOf({ config, log, undo }: Parts): Handlers {
  const produced = lateWriter(log)
  undo.push(() => produced.close())
  const { httpDeny, httpAllow, httpSigningKey, topicPrefix: prefix } = config
  return builtInHandlers({ httpDeny, httpAllow, httpSigningKey, writer: produced.open, prefix, clock: systemClock })
}

/** Checks the topics that may be written to, now and every 30 s, where somebody writes to them. */
export async function startTargets({ config, targets, undo }: Parts): Promise<void> {
  if (!config.roles.has('scheduler') && !config.roles.has('intake')) return
  undo.push(() => targets.stop())
  await targets.start()
}

/** Without a topic to read there is nothing to join a group for. */
export async function startIntake(parts: Parts): Promise<void> {
  const { config, log, codecs, names, instance, metrics, logger, targets, undo } = parts
  const { intakeTopics: topics, topicPrefix: prefix } = config
  if (!config.roles.has('intake') || topics.etf1.length + topics.karafka.length === 0) return
  const { definition } = codecs
  const intake = createForeignIntake({
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
  await intake.start()
}
