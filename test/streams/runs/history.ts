/**
 * The history of one job, for specifications of the decision core: define the job, let time pass, let workers report, and check
 * the decisions. It keeps timers, snapshots and the run history like an owner, and nothing else of an owner.
 *
 * The clock starts at 0, Thursday 1970-01-01, so that times are easy to read: an interval of 1000 fires at 1000, 2000, 3000.
 */
import type {
  Execution,
  ExecutionEvent,
  FinishedRun,
  FollowUp,
  JobCommand,
  JobDefinitionInput,
  JobState,
} from '../../../schemas/generated.ts'
import { completeDefinition } from '../../../streams/definitions/definition-json.ts'
import { validateDefinition } from '../../../streams/definitions/validate.ts'
import { step } from '../../../streams/jobs/step.ts'
import type { OnlyOver } from '../../../streams/state/condition.ts'
import type { Context, Decision, Input, Job, KnownDefinition, Output, PoolPause, Route } from '../../../streams/state/job.ts'
import { runHistorySize, type Timer, timerKey, timerKind } from '../../../streams/state/keys.ts'
import { slotUse, waitersOf } from '../../../streams/state/slots.ts'
import type { Starts } from '../../../streams/state/starts.ts'
import { timersOf } from '../../../streams/state/timers.ts'

export interface HistoryOptions {
  /** How long before its due time a fire timer is processed. Default: 0. */
  leadMs?: number
  /** The report of a worker about each attempt at the moment of its dispatch. Default: none. */
  worker?: Partial<ExecutionEvent>
  /** The reason why target topics cannot be written now. Default: they can. */
  topicProblem?: Context['topicProblem']
  poolProblem?: (pool: string) => string | undefined
  /** How long topics keep dispatched records, in ms. Default: forever. */
  keptMs?: number
  /** Attempts that are due earlier than this may not be written to an ahead topic. Default: 0. */
  aheadFrom?: number
}

const noRange = { trigger: 'MANUAL', runNo: null, from: null, to: null, chainDepth: 0, chainLeft: 5_000, cause: null } as const
/** The number of decisions after which a history counts as an endless loop. */
const decisionsMax = 3_000

export class JobHistory {
  readonly decisions: Decision[] = []
  readonly out: Output[] = []
  /** Every Execution that left the owner, to workers or to a delay topic. */
  readonly sent: Execution[] = []
  readonly endedRuns = new Map<number, FinishedRun>()
  /** The snapshots in the changelog, by run number. */
  readonly snapshots = new Map<number, Execution>()
  /** The pages of follow-ups in the changelog, by number. */
  readonly pages = new Map<number, readonly FollowUp[]>()
  /** The definition that the changelog retains because jobs may lose it. */
  kept: KnownDefinition | null = null
  /** The slots that other jobs hold, and their waiting runs, for any concurrencyKey. */
  others = { held: 0, waiting: 0 }
  /** The starts that were given, by key. */
  readonly starts = new Map<string, Starts>()
  /** Whether next times may come from other time zone rules than those in force. */
  zonesMayDiffer = false
  /** The workers of any pool and their handlers. Default: unknown. */
  workers: Record<string, string[]> | undefined
  /** The pause of all pools. */
  pause: PoolPause | undefined
  /** Workers that have left, and since when. */
  readonly gone = new Map<string, number>()
  /** Since when the workers of any name are as they are; null: there is none. Default: unknown. */
  namedSince: number | null | undefined
  /** All reports that were durable by this time are known. Default: all reports. */
  eventsReadUntil: number | undefined
  job: Job = { id: 'job' }
  now = 0
  /** Whether the partition has room for many dead runs. */
  mayKeepDead = true
  readonly #options: HistoryOptions
  readonly #timers = new Map<string, { timer: Timer; wakeAt: number }>()
  readonly #seenAt = new Map<string, number>()
  #jobsOffset = 0

  constructor(options: HistoryOptions = {}) {
    this.#options = options
  }

  /** Appends a definition now. Without a schedule the job is due at 1000. */
  define(input: Partial<JobDefinitionInput> = {}, decided = false, onlyOver?: OnlyOver): this {
    const spec = completeDefinition({ schedule: { at: 1_000 }, target: { handler: 'noop' }, ...input })
    for (const { message } of validateDefinition(spec)) throw new Error(message)
    return this.definition({ spec }, decided, onlyOver)
  }

  /** Appends a record that is not a usable definition. */
  garble(problem = 'Not a definition.'): this {
    return this.definition({ problem })
  }

  definition(known: Partial<KnownDefinition>, decided = false, onlyOver?: OnlyOver): this {
    const definition = { offset: this.#jobsOffset++, appendedAt: this.now, bytes: Buffer.alloc(0), ...known }
    return this.step({ kind: 'definition', definition, ...(decided && { decided }), ...(onlyOver !== undefined && { onlyOver }) })
  }

  /** Appends a tombstone now. */
  remove(more: { observedOffset?: number; observedDeleteAt?: number; decided?: boolean; onlyOver?: OnlyOver } = {}): this {
    return this.step({ kind: 'deletion', offset: this.#jobsOffset++, ...more })
  }

  command(type: JobCommand['type'], more: Partial<JobCommand> = {}): this {
    return this.step({
      kind: 'command',
      command: {
        type,
        commandId: `c${this.decisions.length}`,
        at: this.now,
        payload: null,
        actor: null,
        discard: false,
        ...noRange,
        ...more,
      },
    })
  }

  /** A report about the attempt that was sent last, or about the last one of a run. `more` may name another attempt. */
  report(type: ExecutionEvent['type'], more: Partial<ExecutionEvent> = {}): this {
    const { runNo, attempt, specOffset } =
      this.sent.findLast((execution) => more.runNo === undefined || execution.runNo === more.runNo) ?? this.#nothingSent()
    const event = { type, jobId: 'job', runNo, attempt, specOffset, at: this.now, worker: 'w', startedAt: null }
    return this.step({ kind: 'event', event: { ...event, result: null, error: null, progress: null, message: null, ...more } })
  }

  fail(type = 'Error', more: Partial<NonNullable<ExecutionEvent['error']>> = {}, of: Partial<ExecutionEvent> = {}): this {
    const error = { type, message: `It failed at ${this.now}.`, stack: null, retryable: true, retryAfterMs: null, ...more }
    return this.report('FAILED', { error, ...of })
  }

  /** Asks the first of the job's runs that wait for a slot. */
  admit(): this {
    const [waiter] = waitersOf('job', this.job.state)
    if (waiter === undefined) throw new Error('No run waits for a slot.')
    return this.step({ kind: 'admit', waiter })
  }

  /** The worker of the last attempt sends a heartbeat now. */
  heartbeat(): this {
    const { runNo, attempt } = this.sent.at(-1) ?? this.#nothingSent()
    this.#seenAt.set(`${runNo}/${attempt}`, this.now)
    return this
  }

  /** Time passes, and each timer is processed when it is due. */
  until(time: number): this {
    for (let next = this.#nextTimer(); next !== undefined && next.wakeAt <= time; next = this.#nextTimer()) {
      this.now = Math.max(this.now, next.wakeAt)
      this.step({ kind: 'timer', timer: next.timer })
    }
    this.now = Math.max(this.now, time)
    return this
  }

  /** Time passes while nobody owns the partition. Then all timers that are due are processed. */
  downUntil(time: number): this {
    this.now = Math.max(this.now, time)
    return this.until(time)
  }

  /**
   * Forgets everything that was not logged, like an owner that starts with an empty store. Only timers that follow from the state
   * remain.
   */
  restore(): this {
    this.#timers.clear()
    this.#seenAt.clear()
    for (const timer of timersOf(this.job)) this.#timers.set(idOf(timer), { timer, wakeAt: timer.dueAt })
    return this
  }

  /** Processes the next occurrence now, however early it is, as in a burst. */
  fireAhead(): this {
    const next = [...this.#timers.values()].find(({ timer }) => timer.kind === timerKind.fire)
    if (next === undefined) throw new Error('The job has nothing ahead.')
    return this.step({ kind: 'timer', timer: next.timer })
  }

  /** The owner checks the job after the time zone rules have changed. */
  lookAtZone(): this {
    return this.step({ kind: 'timer', timer: { dueAt: this.now, kind: timerKind.zone, jobId: 'job', runNo: 0 } })
  }

  /** The owner has learnt that the workers have changed. */
  followWorkers(runNo = 1): this {
    return this.step({ kind: 'timer', timer: { dueAt: this.now, kind: timerKind.workers, jobId: 'job', runNo } })
  }

  /** The owner has learnt that a topic or a pool exists now that was missing. */
  followTargets(): this {
    return this.step({ kind: 'timer', timer: { dueAt: this.now, kind: timerKind.target, jobId: 'job', runNo: 0 } })
  }

  /** The worker of the last attempt, or of that of a run, reports that it lacks the handler. */
  missHandler(of: Partial<ExecutionEvent> = {}): this {
    return this.fail('handler-missing', {}, of)
  }

  #routeTo(handler: string, except: string | null): Route {
    const all = Object.entries(this.workers ?? {})
    const having = all.filter(([, handlers]) => handlers.includes(handler)).map(([name]) => name)
    if (having.length === all.length) return 'any'
    const workers = having.filter((name) => name !== except)
    return workers.length === 0 ? 'none' : { workers }
  }

  step(input: Input): this {
    if (this.decisions.length > decisionsMax) throw new Error('The history does not end.')
    const before = this.#load(input)
    const decision = step(before, input, {
      now: this.now,
      leadMs: this.#options.leadMs ?? 0,
      aheadFrom: this.#options.aheadFrom ?? 0,
      zonesMayDiffer: this.zonesMayDiffer,
      eventsReadUntil: this.eventsReadUntil ?? this.now,
      mayKeepDead: this.mayKeepDead,
      topicProblem: this.#options.topicProblem ?? (() => undefined),
      poolProblem: this.#options.poolProblem ?? (() => undefined),
      keptMs: () => this.#options.keptMs ?? Number.POSITIVE_INFINITY,
      routeTo: (_, handler, except) => this.#routeTo(handler, except),
      goneAt: (_, worker, sinceMs) => (this.gone.has(worker) ? Math.max(this.gone.get(worker) ?? 0, sinceMs) : undefined),
      namedSince: () => this.namedSince,
      pauseOf: () => this.pause,
      limits: {
        slots: (key) => {
          const own = slotUse(before.state, key)
          return { held: this.others.held + own.held, waiting: this.others.waiting + own.waiting }
        },
        starts: (key) => this.starts.get(key),
      },
      seenAt: (_, { runNo, attempt }) => this.#seenAt.get(`${runNo}/${attempt}`) ?? 0,
    })
    this.decisions.push(decision)
    this.#keep(before, decision, input.kind === 'timer' ? input.timer : undefined)
    this.#send(decision)
    return this
  }

  /** The state of the job. There is none before the first decision. */
  get state(): JobState {
    if (this.job.state === undefined) throw new Error('Nothing was decided about the job yet.')
    return this.job.state
  }

  get last(): Decision {
    return this.decisions.at(-1) ?? this.#nothingSent()
  }

  /** Executions handed to workers, in order. */
  get dispatched(): Execution[] {
    return this.out.flatMap((output) => (output.kind === 'dispatch' ? [output.execution] : []))
  }

  /** Nominal times that became a run, in order. */
  get fired(): number[] {
    return this.dispatched
      .filter(({ attempt, trigger }) => attempt === 1 && trigger === 'SCHEDULE')
      .map(({ scheduledFor }) => scheduledFor)
  }

  /** The next time of the schedule, as its timer says; null if it has none. */
  get next(): number | null {
    return timersOf(this.job).find(({ kind }) => kind === timerKind.fire)?.dueAt ?? null
  }

  /** When the next timer is processed; null if there is none. */
  get nextTimerAt(): number | null {
    return this.#nextTimer()?.wakeAt ?? null
  }

  /** Skips by reason, as the state counts them. */
  get skips(): Record<string, number> {
    const counts: Record<string, number> = {}
    for (const { notes } of this.decisions)
      for (const note of notes) if (note.kind === 'skipped') counts[note.reason] = (counts[note.reason] ?? 0) + note.count
    return counts
  }

  /** Notes of the last decision. */
  get notes(): string[] {
    return this.last.notes.map(({ kind }) => kind)
  }

  #nothingSent(): never {
    throw new Error('The job was not dispatched yet.')
  }

  #nextTimer(): { timer: Timer; wakeAt: number } | undefined {
    return [...this.#timers.values()].sort(
      (left, right) => left.wakeAt - right.wakeAt || Buffer.compare(timerKey(left.timer), timerKey(right.timer)),
    )[0]
  }

  /** The job as a store returns it. It is frozen, because a rule must not change its input. */
  #load(input: Input): Job {
    const { snapshots: _, followUpPages: __, ...stored } = this.job
    const job: Job = stored
    const { followUps } = job.state ?? {}
    if (followUps && readsFollowUps(input)) {
      const pages = [followUps.firstPage, followUps.lastPage]
      job.followUpPages = new Map(pages.map((page) => [page, this.pages.get(page) ?? []]))
    }
    // An owner loads only the snapshot of the run that the input names.
    const runNo = namedBy(input)
    const run = job.state?.active.find((active) => active.runNo === runNo)
    const keptAt = run?.snapshotRunNo ?? runNo
    const kept = this.snapshots.get(keptAt)
    freeze(job.state)
    freeze(job.definition)
    return Object.freeze(kept === undefined ? job : { ...job, snapshots: new Map([[keptAt, kept]]) })
  }

  #keep(before: Job, decision: Decision, popped: Timer | undefined): void {
    // As an owner does (src/scheduler/commit/apply-batch.ts): a step that defers its timer decides nothing.
    if (decision.deferUntil !== undefined) return this.#keepTimers(before, { ...decision, job: before }, popped)
    this.job = decision.job
    for (const [key, given] of decision.starts) this.starts.set(key, given)
    for (const execution of decision.snapshotPuts) this.snapshots.set(execution.runNo, execution)
    for (const runNo of decision.snapshotDeletes) this.snapshots.delete(runNo)
    for (const [page, items] of decision.followUpPages) items === null ? this.pages.delete(page) : this.pages.set(page, items)
    if (decision.deletesHistory) this.endedRuns.clear()
    for (const run of decision.historyPuts) this.endedRuns.set(run.runNo % runHistorySize, run)
    if (decision.keptDefinition !== undefined) this.kept = decision.keptDefinition
    this.#keepTimers(before, decision, popped)
  }

  /** Does with timers what src/scheduler/commit/batch-effects.ts does. */
  #keepTimers(before: Job, decision: Decision, popped: Timer | undefined): void {
    const known = new Set(timersOf(before).map(idOf))
    const wanted = timersOf(decision.job)
    for (const id of known) if (!wanted.some((timer) => idOf(timer) === id)) this.#timers.delete(id)
    if (popped !== undefined && decision.deferUntil !== undefined) {
      this.#timers.set(idOf(popped), { timer: popped, wakeAt: decision.deferUntil })
    } else if (popped !== undefined) {
      this.#timers.delete(idOf(popped))
      // A changed state may need the timer again. An unchanged state waits for something else.
      if (decision.job.state !== before.state) known.delete(idOf(popped))
    }
    for (const timer of [...wanted.filter((timer) => !known.has(idOf(timer))), ...decision.extraTimers]) {
      const early = [timerKind.fire, timerKind.retry, timerKind.start].some((kind) => kind === timer.kind)
      this.#timers.set(idOf(timer), { timer, wakeAt: timer.dueAt - (early ? (this.#options.leadMs ?? 0) : 0) })
    }
  }

  #send({ out }: Decision): void {
    for (const output of out) {
      this.out.push(output)
      // The owner reads its own tombstone like any other.
      if (output.kind === 'tombstone') {
        const { kind: _, ...observed } = output
        this.remove(observed)
      }
      if (output.kind === 'dispatch' || output.kind === 'retry') this.sent.push(output.execution)
      if (output.kind !== 'dispatch' || this.#options.worker === undefined) continue
      const { type = 'SUCCEEDED', ...more } = this.#options.worker
      this.report(type, { runNo: output.execution.runNo, ...more })
    }
  }
}

function namedBy(input: Input): number {
  if (input.kind === 'timer') return input.timer.runNo
  if (input.kind === 'event') return input.event.runNo
  if (input.kind === 'command') return input.command.runNo ?? 0
  return input.kind === 'admit' ? input.waiter.runNo : 0
}

const readsFollowUps = (input: Input): boolean =>
  (input.kind === 'timer' && input.timer.kind === timerKind.followUps) ||
  (input.kind === 'command' && input.command.trigger === 'FOLLOW_UP')

const idOf = (timer: Timer): string => `${timer.kind}/${timer.runNo}/${timer.dueAt}`

function freeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array || Object.isFrozen(value)) return
  Object.freeze(value)
  for (const part of Object.values(value)) freeze(part)
}
