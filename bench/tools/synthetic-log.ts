/**
 * The log of jobs that fire once a minute, as owners and workers write it: one definition for each job, and five records for each
 * run.
 */
import type { ExecutionEventInput, ExecutionInput, JobDefinitionInput, StateEntryInput } from '../../schemas/generated.ts'
import { completeDefinition } from '../../streams/definitions/definition-json.ts'
import { runKey, stateKey } from '../../streams/state/keys.ts'

export const minuteMs = 60_000

export interface SyntheticRecord {
  topic: 'jobs' | 'state' | 'executions' | 'events'
  jobId: string
  key: Buffer
  atMs: number
  value:
    | { kind: 'definition'; definition: JobDefinitionInput; offset: number }
    | { kind: 'execution'; execution: ExecutionInput }
    | { kind: 'event'; event: ExecutionEventInput }
    | { kind: 'state'; entry: StateEntryInput }
}

const idOf = (job: number): string => `job-${String(job).padStart(6, '0')}`
const definition = { schedule: { everyMs: minuteMs }, target: { handler: 'bench' } }

export function* definitions(jobs: number, startMs: number): Generator<SyntheticRecord> {
  for (let job = 0; job < jobs; job++) {
    const value = { kind: 'definition', definition: completeDefinition(definition), offset: job } as const
    yield { topic: 'jobs', jobId: idOf(job), key: Buffer.from(idOf(job)), atMs: definedAt(job, jobs, startMs), value }
  }
}

const definedAt = (job: number, jobs: number, startMs: number): number => startMs + Math.floor((job * minuteMs) / jobs)

/** The records of the `index`-th run of all. */
export function* recordsOfRun(index: number, jobs: number, startMs: number): Generator<SyntheticRecord> {
  const [job, runNo] = [index % jobs, Math.floor(index / jobs) + 1]
  const [jobId, anchorAt] = [idOf(job), definedAt(job, jobs, startMs)]
  const scheduledFor = anchorAt + runNo * minuteMs
  const common = { jobId, runNo, life: `${job}-0`, attempt: 1, specOffset: job }
  const limits = { attemptTimeoutMs: 300_000, leaseMs: 30_000, startDeadlineAt: scheduledFor + 86_400_000 }
  const dispatchedAt = scheduledFor - 100
  const execution: ExecutionInput = {
    ...{ ...common, handler: 'bench', scheduledFor, dueAt: scheduledFor, dispatchedAt, pool: 'default', ...limits },
    payload: Buffer.from('{"to":"a@example.org"}'),
  }
  const at = (atMs: number) => ({ jobId, atMs })
  yield { topic: 'executions', ...at(dispatchedAt), key: Buffer.from(jobId), value: { kind: 'execution', execution } }
  const finished = (no: number, forMs: number) => ({
    ...{ runNo: no, scheduledFor: forMs, status: 'SUCCEEDED', attempts: 1, startedAt: forMs + 1, finishedAt: forMs + 5 },
    worker: 'w@host:1:boot',
  })
  const counted = {
    ...{ specOffset: job, anchorAt, timesHash: 1, nextFireAt: scheduledFor + minuteMs, runNo, scheduledRuns: runNo },
    ...{ status: 'ACTIVE', latestFiredFor: scheduledFor },
  }
  const active = [
    { runNo, specOffset: job, scheduledFor, status: 'DISPATCHED', attempt: 1, dueAt: scheduledFor, dispatchedAt, ...limits },
  ]
  const before = runNo === 1 ? null : finished(runNo - 1, scheduledFor - minuteMs)
  const state = (fields: object): StateEntryInput => ({ state: { ...counted, ...fields } }) as unknown as StateEntryInput
  const dispatched = state({ succeeded: runNo - 1, active, lastRun: before })
  yield { topic: 'state', ...at(dispatchedAt), key: stateKey(jobId), value: { kind: 'state', entry: dispatched } }
  const event: ExecutionEventInput = {
    ...{ ...common, type: 'SUCCEEDED', at: scheduledFor + 5, worker: 'w@host:1:boot', startedAt: scheduledFor + 1 },
  }
  yield { topic: 'events', ...at(scheduledFor + 5), key: Buffer.from(jobId), value: { kind: 'event', event } }
  if (before !== null) {
    const entry = { run: before } as unknown as StateEntryInput
    yield { topic: 'state', ...at(scheduledFor + 20), key: runKey(jobId, runNo - 1), value: { kind: 'state', entry } }
  }
  const ended = state({ succeeded: runNo, active: [], lastRun: finished(runNo, scheduledFor) })
  yield { topic: 'state', ...at(scheduledFor + 20), key: stateKey(jobId), value: { kind: 'state', entry: ended } }
}
