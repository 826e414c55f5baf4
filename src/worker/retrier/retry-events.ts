/** The events that report due retries to their owners. */
import type { Execution } from '../../../schemas/index.ts'
import { DuelogError, messageOf } from '../../ground/errors/index.ts'
import type { RecordIn, RecordOut } from '../../ground/ports/index.ts'
import { decodeExecution } from '../../ground/records/index.ts'
import type { RetrierOptions } from './options.ts'

/** One event for each record that can be decoded; the others are counted and skipped. Rejects with `registry-unavailable`. */
export async function retryEvents(options: RetrierOptions, due: readonly RecordIn[]): Promise<RecordOut[]> {
  const { codecs, clock, names, instance, logger, metrics } = options
  const events: RecordOut[] = []
  for (const { topic, partition, offset, value } of due) {
    let execution: Execution
    try {
      const decoded = decodeExecution(codecs.execution, value)
      execution = decoded instanceof Promise ? await decoded : decoded
    } catch (error) {
      if (error instanceof DuelogError && error.code === 'registry-unavailable') throw error
      logger.error(
        { event: 'record-undecodable', topic, partition, offset, problem: messageOf(error) },
        'A retry cannot be decoded and is skipped.',
      )
      metrics.invalid.inc({ reason: 'undecodable-retry' })
      continue
    }
    const { jobId, runNo, attempt, specOffset } = execution
    const at = clock.nowMs()
    const event = codecs.event.encode({ type: 'RETRY_DUE', jobId, runNo, attempt, specOffset, at, worker: instance })
    events.push({ topic: names.events, partition, key: jobId, value: event })
  }
  return events
}
