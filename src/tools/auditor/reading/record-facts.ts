/** Facts, read from the records of Duelog's topics and from the records that owners write to topics of the user. */
import type { Execution, ExecutionEvent, FinishedRun, JobDefinition, JobState } from '../../../../schemas/index.ts'
import { validateDefinition, validateJobId } from '../../../../streams/definitions/index.ts'
import { recordHeaders } from '../../../../streams/runs/index.ts'
import { jobIdOfKey, prefix as keyPrefix, onlyOverOf } from '../../../../streams/state/index.ts'
import { isByOwner } from '../../../../streams/targets/index.ts'
import { restoredHeader, type TopicNames } from '../../../../streams/topics/index.ts'
import { DuelogError } from '../../../ground/errors/index.ts'
import type { RecordIn } from '../../../ground/ports/index.ts'
import type { Codecs } from '../../../log/kafka/index.ts'

/** A definition, from which the calendar is computed. */
export interface Plan {
  offset: number
  appendedAt: number
  /** Whether it counts only under a condition. A definition that counts has a state; without a state, only the owner knows whether it counts. */
  conditional?: boolean
  /** Undefined: the definition was refused, or could not be read. */
  spec: PlanSpec | undefined
}
export type PlanSpec = Pick<JobDefinition, 'schedule' | 'startAt' | 'endAt' | 'jitterMs' | 'paused'> & {
  /** Its runs go to the workers of a pool, and no limit can delay them. */
  plain: boolean
  pinned: boolean
  /** Pool of its workers. */
  pool: string
  /** Topic of the user that its runs are written to. */
  topic: string | null
}

export type Dispatch = Pick<
  Execution,
  'runNo' | 'attempt' | 'specOffset' | 'scheduledFor' | 'dueAt' | 'dispatchedAt' | 'trigger' | 'startDeadlineAt'
>
export type Report = Pick<ExecutionEvent, 'type' | 'runNo' | 'attempt' | 'specOffset' | 'worker' | 'startedAt' | 'at'>

interface FactHead {
  jobId: string
  /** Append time of the record, epoch ms: by the broker's clock if `byBroker`, else by the producer's. */
  at: number
  byBroker: boolean
}

/** What one record of the log says about a job. The other fields of the record are not read. */
export type Fact = FactHead &
  (
    | { kind: 'definition'; plan: Plan }
    | { kind: 'deletion'; offset: number }
    | { kind: 'state'; state: JobState | null }
    /** A state from a backup. What led to it is in the logs of another system. */
    | { kind: 'restored'; state: JobState }
    | { kind: 'finished'; run: FinishedRun }
    /** `byControl`: read from worker-control, which repeats the notice of an attempt until it starts. */
    | { kind: 'dispatch'; dispatch: Dispatch; byControl: boolean }
    | { kind: 'report'; report: Report }
    | { kind: 'dead-letter'; run: Dispatch }
    /** A record in a topic of the user. */
    | { kind: 'record'; runNo: number; scheduledFor: number; topic: string }
  )

export type ReadFact = Fact | undefined | 'unreadable'
export type FactCodecs = Pick<Codecs, 'definition' | 'state' | 'execution' | 'event' | 'deadLetter' | 'control'>

/**
 * As `strictFactOf`, but resolves with 'unreadable' for most undecodable records. An undecodable definition is a fact without a
 * spec.
 */
export async function factOf(names: TopicNames, codecs: FactCodecs, record: RecordIn): Promise<ReadFact> {
  try {
    return await strictFactOf(names, codecs, record)
  } catch (error) {
    // Anybody may write to these topics. An unreadable record is not part of the proof, but it is counted.
    if (!(error instanceof DuelogError) || error.code !== 'undecodable') throw error
    const { topic, key, offset, timestampMs } = record
    if (topic !== names.jobs || key === null) return 'unreadable'
    return { ...headOf(record, key.toString()), kind: 'definition', plan: { offset, appendedAt: timestampMs, spec: undefined } }
  }
}

const headOf = ({ timestampMs, byBroker = false }: RecordIn, jobId: string) => ({ jobId, at: timestampMs, byBroker })

/** Undefined: the record is not about a job. Rejects with `undecodable` and `registry-unavailable`. */
export async function strictFactOf(names: TopicNames, codecs: FactCodecs, record: RecordIn): Promise<Fact | undefined> {
  const { topic, key, value } = record
  if (key === null && topic !== names.control) return recordFact(record)
  if (topic === names.jobs) return definitionFact(codecs, record)
  if (topic === names.state) return stateFact(codecs, record)
  if (isTarget(names, topic)) return recordFact(record)
  if (value === null) return undefined
  if (topic === names.events) {
    const report = await codecs.event.decode(value)
    if (report.type === 'HEARTBEAT' || report.type === 'RETRY_DUE') return undefined
    return { ...headOf(record, report.jobId), kind: 'report', report }
  }
  if (topic === names.deadLetters) {
    const { execution } = await codecs.deadLetter.decode(value)
    const run = await codecs.execution.decode(execution)
    return { ...headOf(record, run.jobId), kind: 'dead-letter', run: dispatchOf(run) }
  }
  if (topic === names.control) {
    const { execution } = await codecs.control.decode(value)
    return execution === null ? undefined : dispatchFact(record, await codecs.execution.decode(execution), true)
  }
  return dispatchFact(record, await codecs.execution.decode(value), false)
}

const dispatchFact = (record: RecordIn, execution: Execution, byControl: boolean): Fact => ({
  ...headOf(record, execution.jobId),
  kind: 'dispatch',
  dispatch: dispatchOf(execution),
  byControl,
})

/** Without the payload, which may be large. */
function dispatchOf(execution: Execution) {
  const { runNo, attempt, specOffset, scheduledFor, dueAt, dispatchedAt, trigger, startDeadlineAt } = execution
  return { runNo, attempt, specOffset, scheduledFor, dueAt, dispatchedAt, trigger, startDeadlineAt }
}

async function definitionFact(codecs: FactCodecs, record: RecordIn): Promise<Fact | undefined> {
  const { key, value, offset, timestampMs } = record
  // Owners also write marks, whose keys belong to no job.
  if (key === null || validateJobId(key) !== undefined) return undefined
  const head = headOf(record, key.toString())
  if (value === null) return { ...head, kind: 'deletion', offset }
  const definition = await codecs.definition.decode(value)
  const spec = validateDefinition(definition).length > 0 ? undefined : planSpec(definition)
  return {
    ...head,
    kind: 'definition',
    plan: { offset, appendedAt: timestampMs, ...(onlyOverOf(record.headers) !== undefined && { conditional: true }), spec },
  }
}

export function planSpec(definition: JobDefinition): PlanSpec {
  const { schedule, startAt, endAt, jitterMs, paused, target, pinTo, concurrencyKey, rateLimit } = definition
  const pinned = pinTo !== null
  const plain = !isByOwner(target) && !pinned && concurrencyKey === null && rateLimit === null
  const { pool, topic } = target
  return { schedule, startAt, endAt, jitterMs, paused, plain, pinned, pool, topic: topic?.name ?? null }
}

async function stateFact(codecs: FactCodecs, record: RecordIn): Promise<Fact | undefined> {
  const { key, value } = record
  if (key === null) return undefined
  if (key[0] === keyPrefix.state) {
    const state = value === null ? null : (await codecs.state.decode(value)).state
    const isRestored = state !== null && record.headers[restoredHeader] !== undefined
    if (isRestored) return { ...headOf(record, jobIdOfKey(key)), kind: 'restored', state }
    return { ...headOf(record, jobIdOfKey(key)), kind: 'state', state }
  }
  if (key[0] !== keyPrefix.run || value === null || record.headers[restoredHeader] !== undefined) return undefined
  const { run } = await codecs.state.decode(value)
  return run === null ? undefined : { ...headOf(record, jobIdOfKey(key)), kind: 'finished', run }
}

/** The pool of an executions topic, by the topic's name; undefined: it is not an executions topic. */
export function poolOf({ executions, deadLetters }: TopicNames, topic: string): string | undefined {
  const [before = ''] = executions('|', 'HIGH').split('|')
  if (!topic.startsWith(before) || topic === deadLetters) return undefined
  return /^(.+)\.(high|normal|low)(\.ahead)?$/.exec(topic.slice(before.length))?.[1]
}

function isTarget(names: TopicNames, topic: string): boolean {
  const ours = [names.events, names.deadLetters, names.control]
  return !ours.includes(topic) && poolOf(names, topic) === undefined
}

/** The headers of a record that an owner wrote name its run. */
function recordFact(record: RecordIn): Fact | undefined {
  const text = (name: string): string | undefined => record.headers[name]?.toString()
  const jobId = text(recordHeaders.jobId)
  const [runNo, scheduledFor] = [Number(text(recordHeaders.runNo)), Number(text(recordHeaders.scheduledFor))]
  if (jobId === undefined || validateJobId(Buffer.from(jobId)) !== undefined) return undefined
  if (!Number.isSafeInteger(runNo) || !Number.isSafeInteger(scheduledFor) || runNo < 1) return undefined
  return { ...headOf(record, jobId), kind: 'record', runNo, scheduledFor, topic: record.topic }
}
