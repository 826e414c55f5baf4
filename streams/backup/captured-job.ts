/**
 * A job as a backup holds it: what was decided about it up to the last committed position of its partition, and the inputs after that
 * position. The rules are those of an owner that takes the partition over at this moment (ADR 0016).
 */
import type { ExecutionEvent, JobState } from '../../schemas/index.ts'
import { step } from '../jobs/index.ts'
import {
  type Context,
  type Input,
  isCurrentReport,
  type Job,
  type KnownDefinition,
  lifeOf,
  mustBeLogged,
  observedOffsetHeader,
  onlyOverOf,
} from '../state/index.ts'

/** A record of `jobs`. */
export interface JobsRecord {
  offset: number
  appendedAt: number
  /** Whether it is before the committed position. */
  decided: boolean
  /** Undefined: a tombstone. */
  definition: KnownDefinition | undefined
  headers: Record<string, Buffer>
}

/** What the logs hold about one job. */
export interface LoggedJob {
  id: string
  state: JobState | undefined
  /** Its definition in job-state, if compaction may have removed that from `jobs`. */
  retained: KnownDefinition | undefined
  /** In the order of the log. */
  records: readonly JobsRecord[]
  /** Reports after the committed position, in the order of the log. */
  events: readonly ExecutionEvent[]
}

export interface CapturedJob {
  id: string
  definition: KnownDefinition | undefined
  state: JobState | undefined
  /** Records of `jobs` that the next owner has to decide. A tombstone that an owner wrote is one of them: what comes after it meets no job. */
  pending: JobsRecord[]
  /**
   * Reports that count by the state. Others would be stale, or would count for a run of the same number that comes later, or for one that was
   * dispatched after the copy of its partition and waits in the copy.
   */
  events: ExecutionEvent[]
}

export function capturedJob({ id, state, retained, records, events }: LoggedJob): CapturedJob {
  let job: Job = { id, state }
  for (const record of records) if (record.decided) job = step(job, inputOf(record, true), contextAt(record.appendedAt)).job
  if (retained !== undefined && (job.definition?.offset ?? -1) < retained.offset) job = { ...job, definition: retained }
  const pending: JobsRecord[] = []
  for (const record of records) {
    if (record.decided) continue
    const after = pending.length === 0 ? followed(job, record) : undefined
    if (after === undefined) pending.push(record)
    else job = after
  }
  return {
    ...{ id, definition: job.definition, state: job.state, pending },
    events: events.filter((event) => event.type !== 'HEARTBEAT' && isOfActiveRun(event, job.state)),
  }
}

/**
 * The records without those that no longer have an effect, because the state or a later definition has replaced what is decided. A job may be
 * defined a hundred thousand times within the compaction lag of `jobs`. `specOffset`: that of its state. Undefined: it has none.
 */
export function effective<Record extends { offset: number; decided: boolean; isTombstone: boolean }>(
  records: readonly Record[],
  specOffset: number | undefined,
): Record[] {
  const counts = ({ offset, decided, isTombstone }: Record): boolean =>
    decided && !isTombstone && (specOffset === undefined || offset === specOffset)
  const inForce = records.findLast(counts)?.offset ?? -1
  return records.filter(({ offset, decided, isTombstone }) => !decided || offset === inForce || (isTombstone && offset > inForce))
}

/** The job after a record whose effect follows from the record alone. Undefined: an owner has to decide it. */
function followed(job: Job, record: JobsRecord): Job | undefined {
  if (onlyOverOf(record.headers) !== undefined) return undefined
  const decision = step(job, inputOf(record, false), contextAt(record.appendedAt))
  return mustBeLogged(job, decision) || decision.out.length > 0 ? undefined : decision.job
}

function inputOf({ offset, definition, headers }: JobsRecord, decided: boolean): Input {
  const onlyOver = onlyOverOf(headers)
  if (definition !== undefined) return { kind: 'definition', definition, decided, ...(onlyOver !== undefined && { onlyOver }) }
  const observed = headers[observedOffsetHeader]
  const deletion = { kind: 'deletion', offset, decided } as const
  return observed === undefined ? deletion : { ...deletion, observedOffset: Number(observed.toString()) }
}

const isOfActiveRun = (event: ExecutionEvent, state: JobState | undefined): boolean =>
  state?.active.some((run) => isCurrentReport(run, event)) === true

/** Definitions and deletions of jobs without a state use nothing of it but the time. Whether a topic exists is judged when the job fires. */
const contextAt = (now: number): Context => ({
  ...{ now, leadMs: 0, aheadFrom: 0, eventsReadUntil: 0 },
  topicProblem: () => undefined,
  poolProblem: () => undefined,
  limits: { slots: () => ({ held: 0, waiting: 0 }), starts: () => undefined },
  seenAt: () => 0,
})

/** The job that a follow-up comes from. */
export interface SourceJob extends Pick<LoggedJob, 'state' | 'records'> {
  /** Where the read of its partition of `jobs` ended. */
  readUntil: number
  /** Lives that began before this time may be those of an earlier log, which has other offsets. */
  sinceMs: number
}

/**
 * Whether a command belongs to the copy. Partitions are copied at slightly different times, so a run that ended after the copy of its own
 * partition may have sent its follow-up to another one. The run ends again after the restore, and sends it again. `source`: the job that
 * the command says it follows.
 */
export function isOfCopy(commandId: string, source: (jobId: string) => SourceJob | undefined): boolean {
  const run = followUpOf(commandId)
  if (run === undefined) return true
  const from = source(run.jobId)
  const { state, records = [] } = from ?? {}
  if (from !== undefined && isLaterLife(run.life, from)) return false
  if (state === undefined) return !records.some((record, at) => isLifeOf(run.life, record) && !isDeleted(records, at))
  if (state.life !== run.life) return true
  return state.runNo >= run.runNo && !state.active.some(({ runNo }) => runNo === run.runNo)
}

/** Whether a life begins after the copy: with a record that the next owner has to decide, or with one that was not read, which may be carried. */
function isLaterLife(life: string, { records, readUntil, sinceMs }: SourceJob): boolean {
  if (records.some((record) => !record.decided && isLifeOf(life, record))) return true
  const [, offset, appendedAt = ''] = /^(\d+)-([0-9a-z]{1,8})/.exec(life) ?? []
  return offset !== undefined && Number(offset) >= readUntil && Number.parseInt(appendedAt, 36) >= sinceMs
}

const isLifeOf = (life: string, { definition }: JobsRecord): boolean => definition !== undefined && lifeOf(definition) === life

/** Whether the definition at this place was deleted before the copy. One of a job without a state has decided nothing until then. */
function isDeleted(records: readonly JobsRecord[], at: number): boolean {
  const { offset = 0 } = records[at] ?? {}
  const later = records.slice(at + 1).filter(({ definition }) => definition === undefined)
  return later.some(({ headers: { [observedOffsetHeader]: observed } }) => observed === undefined || Number(observed) >= offset)
}

/** The run that a follow-up command comes from (streams/runs/finish.ts). */
export function followUpOf(commandId: string): { jobId: string; runNo: number; life: string } | undefined {
  const [, jobId, runNo, life = ''] = /^after:(.+)\/(\d+)@([^/]*)$/s.exec(commandId) ?? []
  return jobId === undefined ? undefined : { jobId, runNo: Number(runNo), life }
}
