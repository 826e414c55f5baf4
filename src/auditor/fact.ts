/** What one record of the log says, by job. The rest of the record is left where it is. */
import type { Execution, ExecutionEvent, FinishedRun, JobState } from '../../schemas/index.ts'
import type { Plan } from './account.ts'

export type Dispatch = Pick<
  Execution,
  'runNo' | 'attempt' | 'specOffset' | 'scheduledFor' | 'dueAt' | 'dispatchedAt' | 'trigger' | 'startDeadlineAt' | 'tracked'
>
export type Report = Pick<ExecutionEvent, 'type' | 'runNo' | 'attempt' | 'specOffset' | 'worker' | 'startedAt'>

interface FactHead {
  jobId: string
  /** When the record was appended, epoch ms: by the broker's clock where `byBroker`, else by its producer's. */
  at: number
  byBroker: boolean
}

export type Fact = FactHead &
  (
    | { kind: 'definition'; plan: Plan }
    | { kind: 'deletion'; offset: number }
    | { kind: 'state'; state: JobState | null }
    | { kind: 'finished'; run: FinishedRun }
    /** `told`: by worker-control, where an attempt is told of again until it starts. */
    | { kind: 'dispatch'; dispatch: Dispatch; told: boolean }
    | { kind: 'report'; report: Report }
    | { kind: 'dead-letter'; run: Dispatch }
    /** A record in a topic of the user's. */
    | { kind: 'record'; runNo: number; scheduledFor: number; topic: string }
  )
