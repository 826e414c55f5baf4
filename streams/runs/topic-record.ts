/** The record of a run with a topic target: payload and headers byte for byte, and Duelog's own headers. */
import type { Cause, Execution, TopicTarget } from '../../schemas/index.ts'
import { type Context, executionIdOf, type TopicRecord } from '../state/index.ts'
import { recordBytes } from '../topics/index.ts'
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

/** The record of a run for its topic, and why it cannot be written now. A follow-up that is too large with its cause goes without it. */
export function writableRecord(
  execution: Execution,
  place: TopicTarget,
  topicProblem: Context['topicProblem'],
): { record: TopicRecord; problem: string | undefined } {
  const record = topicRecord(execution, place, execution)
  const problem = topicProblem(place, recordBytes(record))
  if (problem === undefined || execution.cause === null) return { record, problem }
  const bare = topicRecord(execution, place, { ...execution, cause: null })
  return topicProblem(place, recordBytes(bare)) === undefined ? { record: bare, problem: undefined } : { record, problem }
}
