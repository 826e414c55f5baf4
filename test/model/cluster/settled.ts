/** What must be true of a store once everything has come to rest. */
import type { JobState } from '../../../schemas/generated.ts'
import { knownDefinition } from '../../../src/scheduler/job-loader.ts'
import { ownerKey } from '../../../src/scheduler/local-record.ts'
import type { Job, KnownDefinition } from '../../../streams/job.ts'
import {
  jobIdOfKey,
  prefix,
  slotsKey,
  storedDefinition,
  type Timer,
  timerKind,
  timerOfKey,
  waiterKey,
} from '../../../streams/keys.ts'
import { waitersOf } from '../../../streams/limits/slots.ts'
import { countFires } from '../../../streams/schedules/next-fire.ts'
import { timersOf } from '../../../streams/timers.ts'
import type { MemoryStore } from '../../tools/memory-store.ts'
import { codecs, leadMs } from '../world.ts'
import type { Life } from './oracle.ts'

const durable = new Set<number>([prefix.definition, prefix.state, prefix.run, prefix.snapshot, prefix.slots, prefix.starts])

/** The keys and values that the logs alone decide, as text that a test can compare; without those of some jobs. */
export function durableOf(store: MemoryStore, without: ReadonlySet<string>): string[] {
  return store
    .dump()
    .filter(([key]) => durable.has(Number.parseInt(key.slice(0, 2), 16)) && !without.has(subjectOf(Buffer.from(key, 'hex'))))
    .map(([key, value]) => `${readable(key)} ${value}`)
}

/** What a key of the changelog is about: a job, or a limit. */
export const subjectOf = (key: Buffer): string =>
  key[0] === prefix.slots || key[0] === prefix.starts ? key.toString() : jobIdOfKey(key)

const readable = (key: string): string => JSON.stringify(Buffer.from(key, 'hex').toString('latin1'))

export function jobsOf(store: MemoryStore): Map<string, Job> {
  const jobs = new Map<string, Job>()
  for (const [hexKey, hexValue] of store.dump()) {
    const [key, value] = [Buffer.from(hexKey, 'hex'), Buffer.from(hexValue, 'hex')]
    if (key[0] !== prefix.definition && key[0] !== prefix.state) continue
    const job: Job = jobs.get(jobIdOfKey(key)) ?? { id: jobIdOfKey(key) }
    if (key[0] === prefix.definition) job.definition = knownDefinition(codecs, storedDefinition(value)) as KnownDefinition
    else job.state = stateOf(value) ?? undefined
    jobs.set(job.id, job)
  }
  return jobs
}

function stateOf(value: Buffer): JobState | null {
  const entry = codecs.state.decode(value)
  if (entry instanceof Promise) throw new Error('An unknown schema.')
  return entry.state
}

const timersIn = (store: MemoryStore): Timer[] =>
  store
    .dump()
    .map(([key]) => Buffer.from(key, 'hex'))
    .filter((key) => key[0] === prefix.timer)
    .map(timerOfKey)

/** `cancelled`: jobs that a command ended at some time. `lives`: those of the oracle. `exact`: no stretch of time was so long that skipped occurrences are only estimated. */
export function unsettled(
  store: MemoryStore,
  nowMs: number,
  lives: Map<string, Life[]>,
  exact: boolean,
  cancelled: ReadonlySet<string>,
): string[] {
  const problems: string[] = []
  const timers = timersIn(store)
  for (const job of jobsOf(store).values()) {
    checkTimers(job, timers, problems)
    checkQueue(job, store, problems)
    const life = lives.get(job.id)?.at(-1)
    checkJob(job, nowMs, life?.definitions.some(({ spec }) => spec?.trackRuns === false) ?? false, problems)
    if (life?.endedBy !== undefined) problems.push(`${job.id} was deleted and is still there`)
    else if (life !== undefined && exact) checkCounts(job, life, cancelled, problems)
  }
  for (const [id, of] of lives) {
    if (of.at(-1)?.endedBy === undefined && !jobsOf(store).has(id) && store.dump().length > 0) problems.push(`${id} is missing`)
  }
  if (store.getNow([ownerKey])[0] === null) problems.push('Nobody has claimed the partition.')
  return problems
}

function checkTimers(job: Job, timers: Timer[], problems: string[]): void {
  for (const timer of timersOf(job)) {
    const same = timers.filter(({ jobId, kind, runNo }) => jobId === timer.jobId && kind === timer.kind && runNo === timer.runNo)
    // A lease that was renewed has its timer later than the state says.
    if (timer.kind === timerKind.lease ? same.length > 0 : same.some(({ dueAt }) => dueAt === timer.dueAt)) continue
    problems.push(`${job.id} has lost its timer of kind ${timer.kind} at ${timer.dueAt}`)
  }
}

/** Who waits for a slot is in the queue, and somebody holds one. */
function checkQueue(job: Job, store: MemoryStore, problems: string[]): void {
  for (const waiter of waitersOf(job.id, job.state)) {
    if (store.getNow([waiterKey(waiter)])[0] === null)
      problems.push(`${job.id}/${waiter.runNo} is not in the queue of ${waiter.key}`)
    const value = store.getNow([slotsKey(waiter.key)])[0]
    const entry = value ? codecs.state.decode(value) : undefined
    if (entry instanceof Promise) throw new Error('An unknown schema.')
    if ((entry?.slots?.held ?? 0) === 0)
      problems.push(`${job.id}/${waiter.runNo} waits for ${waiter.key}, of which nobody holds a slot`)
  }
}

function checkJob({ id, definition, state }: Job, nowMs: number, mayHandOver: boolean, problems: string[]): void {
  if (definition === undefined) return void problems.push(`${id} has a state and no definition`)
  if (state === undefined) return
  if (state.specOffset !== definition.offset)
    problems.push(`${id} stands at the definition ${definition.offset}, its state at ${state.specOffset}`)
  const { succeeded, failed, cancelled, active, runNo, queuedFor, backfill } = state
  const ended = succeeded + failed + cancelled
  // Those that are not tracked leave no count.
  if (ended + active.length > runNo || (!mayHandOver && ended + active.length !== runNo))
    problems.push(`${id} has ${runNo} runs, ${ended} ended`)
  const dueAt = state.nextDueAt ?? state.nextFireAt
  if (state.status === 'ACTIVE' && dueAt !== null && !state.waiting && dueAt < nowMs - leadMs)
    problems.push(`${id} is overdue by ${nowMs - dueAt} ms`)
  if (queuedFor !== null && state.status === 'ACTIVE' && active.length === 0) problems.push(`${id} starts nothing of its queue`)
  if (backfill !== null && state.status === 'ACTIVE' && active.length === 0) problems.push(`${id} goes on with no backfill`)
  if (state.status === 'ACTIVE' && state.nextFireAt === null && active.length === 0) problems.push(`${id} waits for nothing`)
  for (const run of active) {
    const latest = Math.max(run.startDeadlineAt, (run.startedAt ?? 0) + run.attemptTimeoutMs + 5_000, run.dueAt) + 3_000
    if (latest < nowMs) problems.push(`${id}/${run.runNo} is ${run.status} for ever`)
  }
}

/** With one schedule in a whole life, every occurrence up to now was run or counted as skipped. */
function checkCounts({ id, state }: Job, { definitions }: Life, cancelled: ReadonlySet<string>, problems: string[]): void {
  const usable = definitions.filter(({ spec }) => spec !== undefined)
  const [first] = usable
  if (state === undefined || first?.spec === undefined || usable.length < definitions.length) return
  const { schedule, maxRuns } = first.spec
  const timesOf = ({ spec }: KnownDefinition): string => JSON.stringify([spec?.schedule, spec?.startAt, spec?.endAt])
  if (usable.some((other) => timesOf(other) !== timesOf(first)) || usable.some(({ spec }) => spec?.maxRuns !== null)) return
  // A cancelled or expired job counts no further.
  if (first.spec.expireAt !== null || (state.nextFireAt === null && first.spec.endAt === null) || cancelled.has(id)) return
  if (schedule.from === 'END' || schedule.delayMs !== null || maxRuns !== null) return
  const until = state.nextFireAt === null ? Number.MAX_SAFE_INTEGER : state.nextFireAt - 1
  const due = countFires(first.spec, first.appendedAt, Number.NEGATIVE_INFINITY, until)
  const queued = state.queuedFor === null ? 0 : 1
  if (state.scheduledRuns + state.skipped + queued !== due)
    problems.push(`${id} ran ${state.scheduledRuns} and skipped ${state.skipped} of ${due} occurrences`)
  const all = usable.every(({ spec }) => spec?.catchUp === 'ALL' && spec.catchUpMax > due && spec.overlap === 'ALLOW')
  if (all && state.skipped > 0) problems.push(`${id} skipped ${state.skipped} occurrences, and all of them had to run`)
}
