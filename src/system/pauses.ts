/** Starts to follow which pools and workers are paused, in every process that acts on it. */
import { PauseBook } from '../pauses/index.ts'
import type { ProcessContext } from './process-context.ts'

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
