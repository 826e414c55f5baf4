/** The frames of one job, and the records that they become. */
import type { Execution, ExecutionEvent, FinishedRun, FollowUp, JobState, OperationRecord } from '../../../schemas/index.ts'
import { type KeyUse, restoredJob } from '../../../streams/backup/index.ts'
import { followUpsKey, type KnownDefinition, runKey, snapshotKey, stateKey } from '../../../streams/state/index.ts'
import { partitionOf, restoredHeader, type TopicNames } from '../../../streams/topics/index.ts'
import type { RecordOut } from '../../ground/ports/index.ts'
import type { Codecs } from '../../log/kafka/index.ts'
import { buffersOf, type Frame, kinds } from './backup-file.ts'

/** A job of a backup. */
export interface DecodedJob {
  id: string
  definition: KnownDefinition | undefined
  state: JobState | undefined
  runs: FinishedRun[]
  snapshots: Map<number, Execution>
  /** Pages of the follow-ups that wait, by their numbers. */
  followUps: Map<number, FollowUp[]>
  /** Ends of dead runs, which are stored with their snapshots. */
  ends: FinishedRun[]
  events: ExecutionEvent[]
  commands: { value: Buffer; headers: Record<string, Buffer> }[]
  /** Whether a pending record names a definition by offset. */
  hasConditions: boolean
}

/** Kinds of frames that follow the frame of their job. */
export const jobParts: ReadonlySet<number> = new Set([
  ...[kinds.definition, kinds.state, kinds.run, kinds.snapshot, kinds.followUps, kinds.command, kinds.event],
])

/** `frames`: that of the job itself is the first. `from`: codecs of the file. */
export async function decodedJob(frames: readonly Frame[], from: Codecs, to: Pick<Codecs, 'command'>): Promise<DecodedJob> {
  const [head] = frames
  const job: DecodedJob = {
    ...{ id: String(head?.meta.id), hasConditions: head?.meta.conditions === true },
    ...{
      definition: undefined,
      state: undefined,
      runs: [],
      snapshots: new Map(),
      followUps: new Map(),
      ends: [],
      events: [],
      commands: [],
    },
  }
  for (const { kind, meta, body } of frames) {
    switch (kind) {
      case kinds.definition: {
        const place = { offset: Number(meta.offset), appendedAt: Number(meta.appendedAt), bytes: body }
        job.definition = meta.raw === true ? place : { ...place, spec: await from.definition.decode(body) }
        break
      }
      case kinds.state:
        job.state = (await from.state.decode(body)).state ?? undefined
        break
      case kinds.run: {
        const { run } = await from.state.decode(body)
        if (run !== null) job[meta.dead === true ? 'ends' : 'runs'].push(run)
        break
      }
      case kinds.snapshot:
        job.snapshots.set(Number(meta.runNo), await from.execution.decode(body))
        break
      case kinds.followUps:
        job.followUps.set(Number(meta.page), (await from.state.decode(body)).followUps?.items ?? [])
        break
      case kinds.command: {
        const value = to.command.encode(await from.command.decode(body))
        job.commands.push({ value, headers: buffersOf(meta.headers as Record<string, string>) })
        break
      }
      case kinds.event:
        job.events.push(await from.event.decode(body))
    }
  }
  return job
}

export interface Target {
  codecs: Codecs
  names: TopicNames
  partitions: number
}

/** Adds the records of a job besides its definition, which has this offset. Returns what it uses of limits. */
export function addRecords(
  records: RecordOut[],
  job: DecodedJob,
  offset: number,
  { codecs, names, partitions }: Target,
): KeyUse[] {
  const { id, commands } = job
  const partition = partitionOf(id, partitions)
  const { state, runs, snapshots, ends, events, slots } = restoredJob(job, offset)
  const put = (key: Buffer, value: Buffer): void =>
    void records.push({ topic: names.state, partition, key, value, headers: { [restoredHeader]: '' } })
  if (state !== undefined) put(stateKey(id), codecs.state.encode({ state }))
  for (const run of runs) put(runKey(id, run.runNo), codecs.state.encode({ run }))
  const endOf = new Map(ends.map((run) => [run.runNo, run]))
  for (const [runNo, execution] of snapshots) {
    const snapshot = codecs.execution.encode(execution)
    put(snapshotKey(id, runNo), codecs.state.encode({ snapshot, run: endOf.get(runNo) ?? null }))
  }
  for (const [page, items] of job.followUps) put(followUpsKey(id, page), codecs.state.encode({ followUps: { items } }))
  for (const { value, headers } of commands) records.push({ topic: names.commands, partition, key: id, value, headers })
  for (const event of events) records.push({ topic: names.events, partition, key: id, value: codecs.event.encode(event) })
  return slots
}

/** The ends of operations that waited for their turn or began during the copy, by the keys of their records. Without one, the copy would begin them, with all jobs of that time. */
export function endsOfUnbegun(records: ReadonlyMap<string, OperationRecord>): Map<string, OperationRecord> {
  const ends = new Map<string, OperationRecord>()
  for (const { id, at, request } of records.values()) {
    const key = `${id}/progress`
    if (request === null || records.has(key)) continue
    const problem =
      'It had not begun when the copy of the system began. A part of it may be done in the copy; ask for it again if it is still wanted.'
    const counts = { total: null, applied: 0, refused: 0, reasons: [], parts: [], effectiveAt: null }
    const progress = { ...counts, status: 'FAILED', startedAt: at, endedAt: at, problem, driver: '' }
    ends.set(key, { id, at, request: null, progress, cancel: null })
  }
  return ends
}

/** An operation does not continue by itself: which jobs it had still to change does not follow from a copy. */
export function endedOperation(record: OperationRecord, now: number): OperationRecord {
  const { progress } = record
  if (progress === null) return record
  const whole = { ...record, progress: { ...progress, parts: [] } }
  if (progress.endedAt !== null) return whole
  const problem =
    'It ran when the system was copied, and does not go on in the copy. Begin it again if the rest is still to be changed.'
  return { ...whole, progress: { ...whole.progress, status: 'FAILED', endedAt: now, problem } }
}
