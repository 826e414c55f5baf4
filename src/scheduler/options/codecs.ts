/** The codecs of the scheduler. */
import type {
  DeadLetter,
  DeadLetterInput,
  Execution,
  ExecutionEvent,
  ExecutionInput,
  JobCommand,
  JobCommandInput,
  JobDefinition,
  StateEntry,
  StateEntryInput,
  WorkerControl,
  WorkerControlInput,
} from '../../../schemas/index.ts'
import type { Codec } from '../../ports/index.ts'

export interface SchedulerCodecs {
  definition: Codec<JobDefinition, unknown>
  command: Codec<JobCommand, JobCommandInput>
  state: Codec<StateEntry, StateEntryInput>
  execution: Codec<Execution, ExecutionInput>
  event: Codec<ExecutionEvent, unknown>
  deadLetter: Codec<DeadLetter, DeadLetterInput>
  control: Codec<WorkerControl, WorkerControlInput>
}
