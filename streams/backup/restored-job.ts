/**
 * A job of a backup as it is written to other logs. Its definition has another offset there, and nothing that workers or delay topics hold
 * comes with it.
 */
import type { ActiveRun, Execution, ExecutionEvent, FinishedRun, JobState, KeyStarts } from '../../schemas/index.ts'
import {
  type Job,
  type KnownDefinition,
  observedOffsetHeader,
  onlyOverHeaders,
  onlyOverOf,
  pristineState,
  StartTimes,
  slotKeysOf,
  slotLimitOf,
  slotUse,
  startsEntry,
  startsOf,
  waitsForHandler,
  waitsForPool,
} from '../state/index.ts'

/** Least offset of a definition. The one before it says: a definition that is in force no more. */
export const firstOffset = 1

export interface BackedUpJob {
  id: string
  /** With its offset in the log that it comes from. */
  definition: KnownDefinition | undefined
  state: JobState | undefined
  runs: readonly FinishedRun[]
  /** Executions under key P, by run number. */
  snapshots: ReadonlyMap<number, Execution>
  /** Ends of dead runs. Default: none is known. */
  ends?: readonly FinishedRun[]
  events: readonly ExecutionEvent[]
}

/** Use of a concurrencyKey by one job. */
export interface KeyUse {
  key: string
  held: number
  waiting: number
  limit: number
}

export interface RestoredJob {
  state: JobState | undefined
  runs: FinishedRun[]
  snapshots: Map<number, Execution>
  ends: FinishedRun[]
  events: ExecutionEvent[]
  slots: KeyUse[]
}

/** `offset`: that of its definition in the new log, at least `firstOffset`. Without a definition it is not used. */
export function restoredJob(
  { id, definition, state, runs, snapshots, ends = [], events }: BackedUpJob,
  offset: number,
): RestoredJob {
  const job: Job = { id, definition, state }
  const known = state ?? (definition === undefined ? undefined : pristineState(job))
  const offsetOf = (specOffset: number): number => newOffset(specOffset, definition?.offset, offset)
  const after = known === undefined ? undefined : restoredState(known, events, definition === undefined ? -1 : offset, offsetOf)
  return {
    state: after,
    runs: runs.map((run) => withOffset(run, offsetOf)),
    snapshots: new Map(
      [...snapshots].map(([runNo, execution]) => [runNo, { ...execution, specOffset: offsetOf(execution.specOffset) }]),
    ),
    ends: ends.map((run) => withOffset(run, offsetOf)),
    events: events.map((event) => ({ ...event, specOffset: offsetOf(event.specOffset) })),
    slots: usesOf(after, definition),
  }
}

/** Runs of earlier definitions get an offset that no definition of this job has, nor will have. */
function newOffset(specOffset: number, inForce: number | undefined, offset: number): number {
  if (inForce === undefined) return firstOffset - 1
  return specOffset === inForce ? offset : offset - 1
}

/**
 * Headers of a pending record in the new log. `known`: new offsets of definitions of its job, by the old ones in their order. A condition
 * names one of them. An owner's tombstone names one too, or a later one that was dropped.
 */
export function restoredHeaders(
  headers: Record<string, Buffer>,
  known: ReadonlyMap<number, number> = new Map(),
): Record<string, Buffer | string> {
  const [condition, observed] = [onlyOverOf(headers), headers[observedOffsetHeader]]
  const newOf = (isNamed: (offset: number) => boolean): number =>
    [...known].findLast(([offset]) => isNamed(offset))?.[1] ?? firstOffset - 1
  return {
    ...headers,
    ...(typeof condition === 'number' && onlyOverHeaders(newOf((offset) => offset === condition))),
    ...(observed && { [observedOffsetHeader]: String(newOf((offset) => offset <= Number(observed.toString()))) }),
  }
}

function withOffset(run: FinishedRun, offsetOf: (specOffset: number) => number): FinishedRun {
  return { ...run, specOffset: offsetOf(run.specOffset) }
}

function restoredState(
  state: JobState,
  events: readonly ExecutionEvent[],
  specOffset: number,
  offsetOf: (specOffset: number) => number,
): JobState {
  const { active, lastRun } = state
  return {
    ...state,
    ...{ specOffset, droppedOffset: -1, definitionKept: false },
    active: active.map((run) => ({ ...restoredRun(run, events), specOffset: offsetOf(run.specOffset) })),
    lastRun: lastRun === null ? null : withOffset(lastRun, offsetOf),
  }
}

function restoredRun(run: ActiveRun, events: readonly ExecutionEvent[]): ActiveRun {
  switch (run.status) {
    case 'DISPATCHED': {
      const isReported = events.some(({ runNo, attempt }) => runNo === run.runNo && attempt === run.attempt)
      if (isReported) return run
      // No worker has it, so it is dispatched again as the same attempt. Until then it holds no slot.
      const nowhere = {
        routedTo: null,
        startedAt: null,
        worker: null,
        waitsFor: null,
        handlerMissingAt: null,
        poolPausedAt: null,
      }
      return { ...run, status: 'RETRY_WAIT', parked: true, tellAt: null, ...nowhere }
    }
    case 'RETRY_WAIT':
      // No delay topic has it.
      return waitsForHandler(run) || waitsForPool(run) ? run : { ...run, parked: true }
    default:
      return run
  }
}

function usesOf(state: JobState | undefined, definition: KnownDefinition | undefined): KeyUse[] {
  return [...slotKeysOf(state)].flatMap((key) => {
    const run = state?.active.find(({ limits }) => limits?.concurrencyKey === key)
    const use = slotUse(state, key)
    if (run === undefined || use.held + use.waiting === 0) return []
    return [{ key, ...use, limit: slotLimitOf(definition?.spec, run) }]
  })
}

/** Starts under one key from several partitions. A rate that all of them together have used up gives no start before its window is over. */
export function mergedStarts(all: readonly KeyStarts[]): KeyStarts {
  const each = all.map(startsOf)
  const times = each.flatMap((starts) => [...starts.times]).sort((a, b) => a - b)
  const limit = Math.max(...each.map((starts) => starts.limit))
  const perMs = Math.max(...each.map((starts) => starts.perMs))
  const givenAt = Math.max(...each.map((starts) => starts.givenAt))
  return startsEntry({ times: StartTimes.of(times.slice(-limit)), limit, perMs, givenAt })
}
