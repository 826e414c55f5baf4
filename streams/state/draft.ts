/**
 * Draft of a decision. Rules write into it. The original job does not change, so a rule that throws has no effect.
 */
import type { ActiveRun, JobDefinition, JobState } from '../../schemas/index.ts'
import { dueAtOf, firstFire } from '../schedules/index.ts'
import { fnv } from '../text/index.ts'
import { type Decision, type Job, type KnownDefinition, lifeOf } from './job.ts'

/** Errors of failed attempts that a run keeps. */
export const runErrorsMax = 5

/** Most decisions have nothing in these maps, and each would be larger than all other fields. */
const none = new Map<never, never>()

export function draftOf(job: Job): Decision {
  return {
    job: { ...job },
    before: job.state,
    out: [],
    historyPuts: [],
    endedRuns: [],
    deletesHistory: false,
    snapshotPuts: [],
    deadEnds: [],
    snapshotDeletes: [],
    followUpPages: none,
    keptDefinition: undefined,
    refusal: undefined,
    endingRuns: [],
    starts: none,
    slotLimits: none,
    admission: undefined,
    extraTimers: [],
    deferUntil: undefined,
    awaitsEventsUntil: undefined,
    notes: [],
    failed: false,
  }
}

/** The last pristine state: the same decision asks for it several times, and its hash takes longer than the rest of a pause. */
let lastPristine: { id: string; definition: KnownDefinition; state: JobState } | undefined

/** The state of a job before the first decision about it: a pure function of its definition. */
export function pristineState(job: Job): JobState {
  const { id, definition } = job
  if (definition === undefined) return pristineOf(job)
  if (lastPristine?.definition !== definition || lastPristine.id !== id) {
    lastPristine = { id, definition, state: pristineOf(job) }
  }
  return lastPristine.state
}

function pristineOf(job: Job): JobState {
  const definition = job.definition
  const spec = definition?.spec
  const nextFireAt = definition !== undefined && spec !== undefined ? firstFire(spec, definition.appendedAt) : null
  return {
    status: spec === undefined ? 'INVALID' : spec.paused ? 'PAUSED' : 'ACTIVE',
    specOffset: definition?.offset ?? -1,
    life: lifeOf(definition),
    anchorAt: definition?.appendedAt ?? 0,
    timesHash: spec === undefined ? 0 : timesHash(spec),
    nextFireAt,
    nextDueAt: nextDueOf(job, definition?.appendedAt ?? 0, nextFireAt),
    latestFiredFor: null,
    decidedFor: null,
    runNo: 0,
    scheduledRuns: 0,
    succeeded: 0,
    failed: 0,
    cancelled: 0,
    skipped: 0,
    finishedAt: null,
    deleteAt: null,
    reason: definition?.problem ?? null,
    recheckAt: null,
    queuedFor: null,
    backfill: null,
    followUps: null,
    deadRuns: [],
    deadRunsDropped: 0,
    decisions: [],
    waiting: false,
    pausedByCommand: false,
    recentCommands: [],
    definitionKept: false,
    droppedOffset: -1,
    active: [],
    lastRun: null,
  }
}

/** Due time of an occurrence with jitter; null if it is due at its nominal time. */
function nextDueOf({ id, definition }: Job, anchorAt: number, nominal: number | null): number | null {
  const spec = definition?.spec
  if (spec === undefined || spec.jitterMs === 0 || nominal === null) return null
  return dueAtOf(spec, anchorAt, id, nominal)
}

/** Changes fields of the drafted state. Without a state it starts from the pristine one. nextDueAt follows from nextFireAt. */
export function patchState(draft: Decision, patch: Partial<Omit<JobState, 'nextDueAt'>>): JobState {
  const state = { ...(draft.job.state ?? pristineState(draft.job)), ...patch }
  if (patch.nextFireAt !== undefined) state.nextDueAt = nextDueOf(draft.job, state.anchorAt, state.nextFireAt)
  draft.job.state = state
  return state
}

/** Changes fields of one active run and returns the changed run. */
export function patchRun(draft: Decision, run: ActiveRun, patch: Partial<ActiveRun>): ActiveRun {
  const changed = { ...run, ...patch }
  const state = draft.job.state ?? pristineState(draft.job)
  patchState(draft, { active: state.active.map((other) => (other.runNo === run.runNo ? changed : other)) })
  return changed
}

/** A hash of the schedule and its window: equal times give equal hashes. */
export const timesHash = (spec: JobDefinition): number => fnv(JSON.stringify([spec.schedule, spec.startAt, spec.endAt]))
