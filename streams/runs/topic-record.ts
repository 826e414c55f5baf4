/** The record of a run with a topic target: payload and headers byte for byte, and Duelog's own headers. */
import type { Execution, TopicTarget } from '../../schemas/index.ts'
import { executionIdOf, type TopicRecord } from '../state/index.ts'

/** Headers that every such record has. They replace headers of the job with the same names. */
export const recordHeaders = {
  jobId: 'duelog-job-id',
  runNo: 'duelog-run-no',
  scheduledFor: 'duelog-scheduled-for',
  executionId: 'duelog-execution-id',
} as const

export function topicRecord(
  run: Pick<Execution, 'jobId' | 'runNo' | 'life' | 'scheduledFor'>,
  { name, key, partition }: TopicTarget,
  { payload, headers }: { payload: Buffer | null; headers: Record<string, Buffer> },
): TopicRecord {
  const { jobId, runNo, scheduledFor } = run
  return {
    topic: name,
    partition,
    key: key ?? jobId,
    value: payload,
    headers: {
      ...headers,
      [recordHeaders.jobId]: jobId,
      [recordHeaders.runNo]: String(runNo),
      [recordHeaders.scheduledFor]: String(scheduledFor),
      [recordHeaders.executionId]: executionIdOf(run),
    },
  }
}
