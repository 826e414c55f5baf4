/** The record of a run with a topic target: payload and headers byte for byte, and Duelog's own headers. */
import type { Cause, Execution, TopicTarget } from '../../schemas/index.ts'
import { executionIdOf, type TopicRecord } from '../state/index.ts'
import { causeJson } from './cause.ts'

/** Headers that such a record has. They replace headers of the job with the same names. */
export const recordHeaders = {
  jobId: 'duelog-job-id',
  runNo: 'duelog-run-no',
  scheduledFor: 'duelog-scheduled-for',
  executionId: 'duelog-execution-id',
  /** Only of a follow-up: RunCause as JSON. */
  cause: 'duelog-cause',
} as const

export function topicRecord(
  run: Pick<Execution, 'jobId' | 'runNo' | 'life' | 'scheduledFor'>,
  { name, key, partition }: TopicTarget,
  { payload, headers, cause }: { payload: Buffer | null; headers: Record<string, Buffer>; cause: Cause | null },
): TopicRecord {
  const { jobId, runNo, scheduledFor } = run
  const { [recordHeaders.cause]: _, ...own } = headers
  return {
    topic: name,
    partition,
    key: key ?? jobId,
    value: payload,
    headers: {
      ...own,
      [recordHeaders.jobId]: jobId,
      [recordHeaders.runNo]: String(runNo),
      [recordHeaders.scheduledFor]: String(scheduledFor),
      [recordHeaders.executionId]: executionIdOf(run),
      ...(cause !== null && { [recordHeaders.cause]: causeJson(cause) }),
    },
  }
}
