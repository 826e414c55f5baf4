/**
 * Checks of a history that use the logs alone: each definition and deletion in the order of its log, each execution that a
 * read_committed reader sees, each state that was committed.
 */
import type { Execution } from '../../../schemas/generated.ts'
import type { RecordIn } from '../../../src/ground/ports/log.ts'
import type { Entry, MemoryLog } from '../../tools/memory-log.ts'
import { occurrenceAfter } from './calendar.ts'
import type { Facts } from './facts.ts'
import { hasLimit, type Life, type Lives, timesOf } from './lives.ts'
import { partitionOfJob } from './partitions.ts'
import { isShown, keyOf, markOf, placesOf, read, readable, shown, topics } from './reading.ts'

/** How long before it is due an attempt may be dispatched in the simulated cluster, in ms. */
const leadMs = 100

export interface Dispatch {
  execution: Execution
  /** Order of the commit that carried it. */
  sequence: number
  /** True time at which it was appended. */
  at: number
  /** Order among all appends. */
  order: number
  /** The priority that its topic is for. Undefined: it went to one worker. */
  lane: string | undefined
  /** Whether it went to a topic, or to one worker, where it is held until it is due. */
  isAhead: boolean
  /** Whether it went to one worker. */
  isForOne: boolean
}

/** The Execution that a record carries; undefined for other messages to workers. */
function executionIn({ topic, value }: Pick<RecordIn, 'topic' | 'value'>): Execution | undefined {
  const framed = topic === topics.control ? readable(read.control, value)?.execution : value
  return readable(read.execution, framed)
}

/** Each attempt as it was first sent to its workers. */
export function dispatchesOf(log: MemoryLog): Dispatch[] {
  const told = new Set<string>()
  return sentExecutionsOf(log).filter(({ isForOne, execution: { jobId, specOffset, runNo, attempt } }) => {
    const name = `${jobId} ${specOffset} ${runNo} ${attempt}`
    return !isForOne || (!told.has(name) && told.add(name))
  })
}

/** A run for one worker is sent to it again until the worker starts it. */
export function sentExecutionsOf(log: MemoryLog): Dispatch[] {
  return [...shown(log, topics.executions), ...shown(log, topics.control)]
    .flatMap(({ record, transaction, at, order }) => {
      const execution = record === undefined ? undefined : executionIn(record)
      return execution === undefined
        ? []
        : [
            {
              at,
              order,
              execution,
              isForOne: record?.topic === topics.control,
              lane: /\.(high|normal|low)(\.ahead)?$/.exec(record?.topic ?? '')?.[1],
              sequence: transaction?.sequence ?? -1,
              isAhead: /\.ahead$/.test(record?.topic ?? '') || record?.topic === topics.control,
            },
          ]
    })
    .sort((left, right) => left.sequence - right.sequence || left.order - right.order)
}

export function dispatchProblems(log: MemoryLog, lives: Lives, { leadMsMax, mixedWorkers, pauses }: Facts): string[] {
  const problems: string[] = []
  const dispatches = dispatchesOf(log).map((dispatch) => {
    const { jobId, specOffset } = dispatch.execution
    const of = lives.get(jobId) ?? []
    const life = of.findIndex(({ definitions }) => definitions.some(({ offset }) => offset === specOffset))
    if (life < 0) problems.push(`${jobId} was dispatched from the offset ${specOffset}, where it was not defined`)
    return { ...dispatch, life: of[life], lifeNo: life }
  })
  const judged = dispatches.filter((dispatch): dispatch is Judged => dispatch.life !== undefined)
  checkNumbers(judged, mixedWorkers || pauses !== undefined, problems)
  checkTimes(judged, leadMsMax, pauses === undefined ? new Set() : pausedRunsOf(log), problems)
  checkPayloads(judged, problems)
  checkDeletions(log, judged, problems)
  checkOverlap(log, lives, problems)
  checkFollowUps(log, problems)
  return problems
}

interface Judged extends Dispatch {
  life: Life
  lifeNo: number
}

const nameOf = ({ execution: { jobId, runNo, attempt }, lifeNo }: Judged): string =>
  `${jobId}(life ${lifeNo})/${runNo}/${attempt}`

/** Runs of these definitions may be records in a user's topic, which no worker receives. */
const writesToTopic = ({ definitions }: Life): boolean => definitions.some(({ spec }) => spec?.target.topic)

/** Each attempt occurs once; runs and attempts have no gap and are in order. */
function checkNumbers(dispatches: Judged[], mayWait: boolean, problems: string[]): void {
  const runs = new Map<string, number>()
  const attempts = new Map<string, number>()
  for (const dispatch of dispatches) {
    const { jobId, runNo, attempt } = dispatch.execution
    const life = `${jobId}(life ${dispatch.lifeNo})`
    const run = `${life}/${runNo}`
    if (attempt === 1) {
      const before = runs.get(life) ?? 0
      // A run that waits for a limit or for a worker may be overtaken, or may never be dispatched.
      const loose = writesToTopic(dispatch.life) ? runNo <= before : runNo !== before + 1
      if (loose && !mayWait && !isLimited(dispatch)) problems.push(`${run} came after run ${before}`)
      runs.set(life, runNo)
    }
    if (attempt !== (attempts.get(run) ?? 0) + 1) problems.push(`${run}/${attempt} came after attempt ${attempts.get(run) ?? 0}`)
    attempts.set(run, attempt)
  }
}

/** Whether any definition in the life of the job had a limit. */
const isLimited = ({ life }: Judged): boolean => hasLimit(life)

/** Nominal times are those of the schedule, each once as long as the schedule stays. Nothing is dispatched before its lead. */
function checkTimes(dispatches: Judged[], leadMsMax: number, pausedRuns: ReadonlySet<string>, problems: string[]): void {
  const fired = new Set<string>()
  const dueTimes = new Map<string, number>()
  for (const dispatch of dispatches) {
    const { execution, life } = dispatch
    const { scheduledFor, trigger, attempt, specOffset, dueAt, dispatchedAt } = execution
    // A released attempt keeps its time, also if the clock of its owner is behind.
    const run = `${execution.jobId} ${dispatch.lifeNo} ${execution.runNo}`
    const released = dueTimes.get(run) === dueAt
    dueTimes.set(run, dueAt)
    // Checks by the owner's clock, which may be wrong, and by true time. A queued run was already due for the owner that queued
    // it, and may start under a later definition.
    const queued = life.definitions.some(({ offset, spec }) => offset <= specOffset && spec?.overlap === 'QUEUE_ONE')
    if (!released && !queued && Math.max(dispatchedAt, dispatch.at) < dueAt - (dispatch.isAhead ? leadMsMax : leadMs))
      problems.push(`${nameOf(dispatch)} was dispatched ${dueAt - dispatchedAt} ms early`)
    if (attempt > 1 || trigger !== 'SCHEDULE') continue
    const at = life.definitions.findIndex(({ offset }) => offset === specOffset)
    const definition = life.definitions[at]
    const { spec } = definition ?? {}
    if (definition === undefined || spec === undefined) {
      problems.push(`${nameOf(dispatch)} fired an invalid definition`)
      continue
    }
    // The schedule may have been in force since an earlier definition. Then the append time of that definition counts.
    let since = at
    for (let index = at - 1; index >= 0; index--) {
      const before = life.definitions[index]
      if (before?.spec === undefined) continue
      if (timesOf(before) !== timesOf(definition)) break
      since = index
    }
    // A run of a paused pool is due when its pool is resumed.
    const mayBeLater = queued || isLimited(dispatch) || pausedRuns.has(`${execution.jobId} ${specOffset} ${execution.runNo}`)
    if (dueAt < scheduledFor || (!mayBeLater && dueAt > scheduledFor + spec.jitterMs))
      problems.push(`${nameOf(dispatch)} was due ${dueAt - scheduledFor} ms after its nominal time`)
    const same = life.definitions.slice(since, at + 1)
    if (spec.schedule.from !== 'END') {
      const nominal = same.some(({ appendedAt }) => occurrenceAfter(spec, appendedAt, scheduledFor - 1) === scheduledFor)
      if (!nominal) problems.push(`${nameOf(dispatch)} fired at ${scheduledFor}, which is none of its times`)
    }
    const phase = spec.schedule.delayMs === null ? since : at
    const occurrence = `${execution.jobId} ${dispatch.lifeNo} ${phase} ${scheduledFor}`
    if (fired.has(occurrence)) problems.push(`${nameOf(dispatch)} fired ${scheduledFor} a second time`)
    fired.add(occurrence)
  }
}

/** Runs that have waited in a paused pool: job, definition and number. */
export function pausedRunsOf(log: MemoryLog): Set<string> {
  const found = new Set<string>()
  for (const { record } of shown(log, topics.state)) {
    if (!record?.key || keyOf(record.key).kind !== 'S' || !record.value) continue
    for (const { specOffset, runNo, poolPausedAt } of stateOf(record.value)?.active ?? [])
      if (poolPausedAt !== null) found.add(`${keyOf(record.key).subject} ${specOffset} ${runNo}`)
  }
  return found
}

/** The parts of a run that never change. */
const makingOf = ({ payload, handler, httpTarget, pinTo, priority, priorityLevel }: Execution): string =>
  JSON.stringify([markOf(payload), handler, httpTarget?.url, pinTo, priority, priorityLevel])

/** ADR 0110: 7 to 9 are dispatched in `high`, 3 to 6 in `normal`, 0 to 2 in `low`. */
const wordOfLevel = ['LOW', 'LOW', 'LOW', 'NORMAL', 'NORMAL', 'NORMAL', 'NORMAL', 'HIGH', 'HIGH', 'HIGH']

/** A run keeps its payload and all its other parts, whatever happens to its job. */
function checkPayloads(dispatches: Judged[], problems: string[]): void {
  const first = new Map<string, string>()
  for (const dispatch of dispatches) {
    const { execution, life, lifeNo } = dispatch
    const { jobId, runNo, attempt, trigger, specOffset } = execution
    const run = `${jobId} ${lifeNo} ${runNo}`
    const making = makingOf(execution)
    const { priority, priorityLevel } = execution
    if (priorityLevel !== null && wordOfLevel[priorityLevel] !== priority)
      problems.push(`${nameOf(dispatch)} has the priority ${priorityLevel} and the word ${priority}`)
    if (dispatch.lane !== undefined && dispatch.lane !== priority.toLowerCase())
      problems.push(`${nameOf(dispatch)} of the priority ${priority} is in the topic ${dispatch.lane}`)
    if (attempt === 1) {
      const spec = life.definitions.find(({ offset }) => offset === specOffset)?.spec
      const { handler, http } = spec?.target ?? {}
      const defined = [
        markOf(spec?.payload),
        handler ?? 'http',
        http?.url,
        spec?.pinTo ?? null,
        spec?.priority,
        spec?.priorityLevel,
      ]
      if (trigger === 'SCHEDULE' && making !== JSON.stringify(defined))
        problems.push(`${nameOf(dispatch)} is made from another definition: ${making} instead of ${JSON.stringify(defined)}`)
      first.set(run, making)
    } else if (first.get(run) !== making) problems.push(`${nameOf(dispatch)} is made otherwise than its first attempt`)
  }
}

/** Once a deletion was applied, or was in the log at a takeover, nothing that it deleted is dispatched. */
function checkDeletions(log: MemoryLog, dispatches: Judged[], problems: string[]): void {
  for (const { partition, log: changelog } of placesOf(log, topics.state)) {
    const mine = dispatches.filter(({ execution }) => partitionOfJob(execution.jobId, log.partitions) === partition)
    const specOffsets = new Map<string, number>()
    /** All states, and whether an occurrence or a backfill waited in them. */
    const states: { id: string; specOffset: number; sequence: number; waits: boolean }[] = []
    const claims: { sequence: number; order: number }[] = []
    for (const entry of changelog.archive.filter(isShown)) {
      const { key, value } = entry.record ?? {}
      if (!key) continue
      const sequence = entry.transaction?.sequence ?? -1
      const { kind, name: id } = keyOf(key)
      if (kind === 'M' && id === 'owner') claims.push({ sequence, order: orderOfCommit(changelog.archive, entry) })
      if (kind !== 'S') continue
      if (value) {
        const state = stateOf(value)
        specOffsets.set(id, Math.max(state?.specOffset ?? -1, specOffsets.get(id) ?? -1))
        const { specOffset = -1, queuedFor = null, backfill = null } = state ?? {}
        states.push({ id, specOffset, sequence, waits: queuedFor !== null || backfill !== null })
        continue
      }
      const gone = specOffsets.get(id) ?? -1
      for (const dispatch of mine) {
        const { execution } = dispatch
        if (execution.jobId === id && dispatch.sequence > sequence && execution.specOffset <= gone)
          problems.push(`${nameOf(dispatch)} was dispatched after its deletion was applied`)
      }
    }
    for (const dispatch of mine) {
      // A trigger and a deletion come from different topics. A trigger that was sent before the deletion may be read before it.
      const { trigger, jobId, specOffset } = dispatch.execution
      if (trigger !== 'SCHEDULE') continue
      const { endedBy } = dispatch.life
      const claim = claims.findLast(({ sequence }) => sequence < dispatch.sequence)
      // A definition that lets waiting work go on comes before the deletion in the same topic. The order of records counts.
      const before = claim && states.findLast(({ id, sequence }) => id === jobId && sequence < claim.sequence)
      if (before?.waits && before.specOffset < specOffset) continue
      if (endedBy !== undefined && claim !== undefined && endedBy.order < claim.order)
        problems.push(`${nameOf(dispatch)} was dispatched by an owner that took over after its deletion`)
    }
  }
}

/** When the control record of a transaction was appended: from then on it is committed. */
function orderOfCommit(archive: Entry[], { transaction }: Entry): number {
  return archive.find((entry) => entry.transaction === transaction && entry.record === undefined)?.order ?? 0
}

/** A scheduled run never begins while as many runs are active as its definition allows. */
function checkOverlap(log: MemoryLog, lives: Lives, problems: string[]): void {
  for (const { log: changelog } of placesOf(log, topics.state)) {
    for (const { record } of changelog.archive.filter(isShown)) {
      if (!record?.key || keyOf(record.key).kind !== 'S' || !record.value) continue
      const id = keyOf(record.key).subject
      const definitions = (lives.get(id) ?? []).flatMap((life) => life.definitions)
      const active = stateOf(record.value)?.active ?? []
      for (const run of active) {
        if (run.trigger !== 'SCHEDULE') continue
        const spec = definitions.find(({ offset }) => offset === run.specOffset)?.spec
        const older = active.filter(({ runNo }) => runNo < run.runNo).length
        const allowed = spec?.overlap === 'ALLOW' ? spec.maxConcurrentRuns : 1
        if (older >= allowed) problems.push(`${id}/${run.runNo} began beside ${older} other runs; ${allowed} are allowed`)
      }
    }
  }
}

/** The end of one run triggers another job at most once. */
function checkFollowUps(log: MemoryLog, problems: string[]): void {
  const made = new Map<string, number>()
  for (const { log: changelog } of placesOf(log, topics.state)) {
    for (const { record } of changelog.archive.filter(isShown)) {
      if (!record?.key || keyOf(record.key).kind !== 'S' || !record.value) continue
      for (const { trigger, commandId, runNo } of stateOf(record.value)?.active ?? []) {
        if (trigger !== 'FOLLOW_UP') continue
        const cause = `${keyOf(record.key).subject} ${commandId}`
        const known = made.get(cause) ?? runNo
        if (known !== runNo) problems.push(`${cause} made the runs ${known} and ${runNo}`)
        made.set(cause, runNo)
      }
    }
  }
}

const stateOf = (value: Buffer) => readable(read.state, value)?.state
