/** Applies a batch of timers and input records to their jobs with the pure step, and collects the effects. */
import type { JobCommand, Schedule } from '../../../schemas/index.ts'
import { type Answer, answerTo, invalidated, receiptRecord, step } from '../../../streams/jobs/index.ts'
import {
  type Context,
  type Decision,
  definitionValue,
  draftOf,
  type Input,
  type Job,
  type Timer,
  timerKind,
  timersOf,
} from '../../../streams/state/index.ts'
import { movedHeader, recordBytes } from '../../../streams/topics/index.ts'
import { messageOf } from '../../ground/errors/index.ts'
import type { RecordOut } from '../../ground/ports/index.ts'
import { CycleSpans } from '../../ground/tracing/index.ts'
import { type InputRecord, runOf, waiterName } from '../input/index.ts'
import { SearchBudget } from '../options/index.ts'
import { type AdmissionCandidates, loadAdmissionCandidates } from './admission-candidates.ts'
import { Effects, type ReportedTrace } from './batch-effects.ts'
import { loadBatch } from './batch-limits.ts'
import { type BatchResult, reportUnreadable, retriesIn, startLatenessMs } from './batch-result.ts'
import type { CommitContext } from './commit-context.ts'
import { culpritWaitMs, type Verdict } from './failure-isolation.ts'
import type { Decisions, HookedCycle } from './hooks.ts'

export interface BatchOptions {
  /** The time of the batch, in epoch ms. */
  now: number
  /** Whether the first input record has waited for a cycle with room for it. */
  inputRecordsFirst: boolean
  /** False: it stops before the first input record that needs a decision, because an unclaimed partition decides nothing. */
  mayLog: boolean
  /** Whether jobs that are defined in this batch and are due fire in it too. Only with `mayLog`. */
  firesDefined: boolean
  /** What the hooks of the partition do in it. Only with `mayLog`. Default: nothing. */
  hooked?: readonly HookedCycle[]
}

export async function applyBatch(
  context: CommitContext,
  timers: Timer[],
  inputRecords: InputRecord[],
  { now, inputRecordsFirst, mayLog, firesDefined, hooked = [] }: BatchOptions,
): Promise<BatchResult> {
  const {
    failureIsolation,
    partition,
    local: { store, heavyJobs, activeJobs },
  } = context
  const { codecs, leadMs, partitions, names, recordsRuns } = context.shared
  const hookedJobs = hooked.flatMap((one) => one.ids.map((id) => ({ one, id })))
  const batch = await loadBatch(
    { store, codecs, heavyJobs, activeJobs, share: failureIsolation.share },
    timers,
    inputRecords,
    inputRecordsFirst,
    hookedJobs.map(({ id }) => id),
  )
  const candidates = await loadAdmissionCandidates(context, batch, now)
  const effects = new Effects(
    partition,
    partitions,
    names,
    codecs,
    new CycleSpans(() => context.shared.clock.nowMs(), now),
    recordsRuns,
  )
  const batchResult: BatchResult = {
    effects,
    deferred: [],
    awaiting: [],
    inputRecordsApplied: 0,
    timersHandled: batch.timers.length,
    blocked: false,
    names: [],
    waitersTried: candidates.waiters.length,
    hookedJobs: batch.hookedJobs,
    notes: [],
    dispatched: [],
    topicRecords: [],
    receipts: [],
    startedLateMs: [],
    retries: 0,
    aheadUntil: 0,
  }
  const batchStep = new BatchStep(context, batch.jobs, candidates, batchResult, { now, hooked })
  const budget = new SearchBudget(cycleStepsMax)
  for (const timer of batch.timers) {
    if (mayEndAttempt(timer)) continue
    if (budget.isOver) batch.timersLeft.push(timer)
    else batchStep.timer(timer)
  }
  for (const inputRecord of batch.inputRecords) {
    // An input record that waited for the searches of timers waits for no further cycle. Otherwise it would wait for as long as
    // such timers are due.
    if (budget.isOver && batchResult.inputRecordsApplied > 0) break
    batchResult.blocked = !batchStep.inputRecord(inputRecord, mayLog)
    if (batchResult.blocked) break
    batchResult.inputRecordsApplied++
  }
  for (const { one, id } of hookedJobs.slice(0, batch.hookedJobs)) one.decide(id, batchStep)
  // Otherwise they fire in a later cycle by their timers, as when a cycle has failed or timers of this cycle have to wait.
  if (firesDefined && mayLog && failureIsolation.share === 1 && batch.timersLeft.length === 0) batchStep.fireDefined(budget)
  // Reports of workers come before timers that judge their absence.
  for (const timer of batch.timers) if (mayEndAttempt(timer)) batchStep.timer(timer)
  // Within one topic an earlier due time must not come after a later one: timers that were ahead of their time wait for the
  // usual lead.
  for (const timer of batch.timersLeft)
    batchResult.deferred.push({ timer, untilMs: Math.min(timer.dueAt, Math.max(now, timer.dueAt - leadMs)) })
  batchStep.waiters()
  return batchResult
}

/**
 * Maximum search cost of one commit cycle in steps, about one millisecond. The rest waits for the next cycle, and other
 * partitions fire in between.
 */
const cycleStepsMax = 100_000

/**
 * Dead runs of a partition. With as many, a job keeps no further ones beyond ten: if all jobs fail for a night, their runs must not make
 * the changelog so long that the next owner reads for minutes. A new owner counts them when it is first asked, and keeps them meanwhile.
 */
const deadRunsMax = 100_000

/** Whether the timer may end an attempt because no report came. */
const mayEndAttempt = ({ kind }: Timer): boolean =>
  kind === timerKind.lease || kind === timerKind.attemptTimeout || kind === timerKind.startDeadline

/** Jobs that may fire in the commit cycle that applies their definitions. Others fire by their timers in the next cycles. */
const firedWithDefinitionMax = 64

/** Whether the first time of a schedule is known without a search in a calendar. */
const isQuicklyTimed = (schedule: Schedule | undefined): boolean => schedule?.cron === null && schedule.rrule === null

/** Delay until a timer is checked again that has no room in memory. */
const rearmMs = 1_000

class BatchStep implements Decisions {
  readonly #context: CommitContext
  readonly #jobs: Map<string, Job>
  readonly #candidates: AdmissionCandidates
  readonly #batchResult: BatchResult
  readonly now: number
  readonly #hooked: readonly HookedCycle[]
  readonly #common: Context
  /** Jobs whose definition was accepted in this batch. */
  readonly #defined = new Set<string>()

  constructor(
    context: CommitContext,
    jobs: Map<string, Job>,
    candidates: AdmissionCandidates,
    batchResult: BatchResult,
    { now, hooked }: { now: number; hooked: readonly HookedCycle[] },
  ) {
    this.#context = context
    this.#jobs = jobs
    this.#candidates = candidates
    this.#batchResult = batchResult
    this.now = now
    this.#hooked = hooked
    this.#common = this.#commonContext()
  }

  jobOf(jobId: string): Job {
    return this.#jobs.get(jobId) ?? { id: jobId }
  }

  isCulprit(name: string): boolean {
    return this.#context.failureIsolation.verdictOn(name) !== undefined
  }

  decide(job: Job, command: JobCommand, name?: string): Decision {
    if (name !== undefined) this.#batchResult.names.push(name)
    const verdict = name === undefined ? undefined : this.#context.failureIsolation.verdictOn(name)
    return verdict === undefined ? this.#step(job, { kind: 'command', command }) : this.#decisionForCulprit(job, verdict, 0)
  }

  /** The job as an input finds it. */
  #before(job: Job): Job {
    let found = job
    for (const hooked of this.#hooked) found = hooked.before(found, this)
    return found
  }

  timer(timer: Timer): void {
    const verdict = this.#context.failureIsolation.verdictOn(timer)
    if (!verdict?.isPassedOver) this.#batchResult.names.push(timer)
    const loaded = this.jobOf(timer.jobId)
    const job = verdict === undefined ? this.#before(loaded) : loaded
    const decision =
      verdict === undefined ? this.#step(job, { kind: 'timer', timer }) : this.#decisionForCulprit(job, verdict, timer.runNo)
    if (decision.deferUntil !== undefined) {
      this.#batchResult.deferred.push({ timer, untilMs: decision.deferUntil })
      return
    }
    const { awaitsEventsUntil: untilMs } = decision
    if (untilMs !== undefined) {
      if (this.#batchResult.awaiting.length < this.#context.input.reports.room) {
        this.#batchResult.awaiting.push({ timer, untilMs })
        return
      }
      decision.extraTimers.push({ ...timer, dueAt: this.now + rearmMs })
    }
    if (verdict === undefined && !decision.failed) this.#batchResult.effects.timerTaken(timer)
    // The timer may still follow from the state. Then it is checked again, but not at once in an endless loop.
    else this.#batchResult.deferred.push({ timer, untilMs: this.now + culpritWaitMs })
    this.take(job, decision)
  }

  /** False: not applied, because it would have to be logged. */
  inputRecord(inputRecord: InputRecord, mayLog: boolean): boolean {
    const decided = inputRecord.source === 'jobs' && inputRecord.offset < this.#context.input.positions.logged.jobsOffset
    if (!decided && !mayLog) return false
    this.#batchResult.names.push(inputRecord)
    const verdict = this.#context.failureIsolation.verdictOn(inputRecord)
    if (inputRecord.moved !== undefined) {
      if (verdict !== undefined) this.#passOver(inputRecord, verdict)
      else if (!decided) this.#move(inputRecord)
      return true
    }
    if (inputRecord.heartbeat !== undefined) {
      const { event, heartbeat } = inputRecord.heartbeat
      this.#context.activity.heartbeat(this.jobOf(inputRecord.jobId), event, heartbeat, this.now)
    }
    if (inputRecord.input === undefined) {
      if (!decided && inputRecord.refusal !== undefined)
        this.#answer(inputRecord, { outcome: 'rejected', reason: inputRecord.refusal })
      return true
    }
    const loaded = this.jobOf(inputRecord.jobId)
    const comesAfter = verdict === undefined && (inputRecord.input.kind === 'event' || inputRecord.input.kind === 'command')
    const job = comesAfter ? this.#before(loaded) : loaded
    if (inputRecord.input.kind === 'event') this.#context.activity.reported(job, inputRecord.input.event, this.now)
    const lateMs = startLatenessMs(job, inputRecord.input)
    if (lateMs !== undefined) this.#batchResult.startedLateMs.push(lateMs)
    if (verdict !== undefined) this.#passOver(inputRecord, verdict)
    const decision =
      verdict === undefined
        ? this.#step(job, decided ? asDecided(inputRecord.input) : inputRecord.input, inputRecord)
        : this.#decisionForCulprit(job, verdict, runOf(inputRecord.input))
    const { input } = inputRecord
    // Only after its report is applied: until then only the lease protects the attempt.
    if (input.kind === 'event' && input.event.type !== 'STARTED')
      this.#context.activity.leases.ended(inputRecord.jobId, input.event)
    else if (input.kind === 'event') this.#context.activity.started(decision.job, input.event, this.now)
    if (inputRecord.input.kind === 'definition' && decision.job.definition === inputRecord.input.definition) {
      const value = definitionValue(inputRecord.input.definition)
      this.#batchResult.effects.definition(inputRecord.jobId, value)
      this.#context.local.heavyJobs.set(inputRecord.jobId, value.length)
      this.#context.shared.metrics.definitions.inc()
      if (!decided && isQuicklyTimed(inputRecord.input.definition.spec?.schedule)) this.#defined.add(inputRecord.jobId)
      if (!decided && inputRecord.input.definition.spec?.target.topic) this.#batchResult.effects.judged()
    } else if (decision.job.definition === undefined && job.definition !== undefined) {
      this.#batchResult.effects.definition(inputRecord.jobId, null)
    }
    const { traceparent } = inputRecord
    const reported = input.kind === 'event' && traceparent !== undefined ? { runNo: input.event.runNo, traceparent } : undefined
    this.take(job, decision, decided && !this.#context.local.isExact, reported)
    if (!decided && inputRecord.replyTo !== undefined) this.#answer(inputRecord, answerTo(job, inputRecord.input, decision))
    return true
  }

  /**
   * A job that is due when its definition is applied fires at once: one commit has both, and no timer is stored and read between
   * them. All input records of the batch were applied before, so a deletion among them counts. Jobs that have to wait are in the
   * time index like all others. A job that is due later waits there too, even if it could go ahead of its time: within one topic an
   * earlier due time must not come after a later one.
   */
  fireDefined(budget: SearchBudget): void {
    const {
      failureIsolation,
      local: { heavyJobs },
    } = this.#context
    let fired = 0
    for (const jobId of this.#defined) {
      if (budget.isOver || fired === firedWithDefinitionMax) return
      const job = this.#jobs.get(jobId)
      // The bytes of its Execution are not among those by which the batch was chosen.
      if (job === undefined || job.unreadable !== undefined || heavyJobs.of(jobId) > 0) continue
      const changed = this.#before(job)
      const timer = timersOf(changed).find(({ kind, dueAt }) => kind === timerKind.fire && dueAt <= this.now)
      if (timer === undefined || failureIsolation.verdictOn(timer) !== undefined) continue
      const decision = this.#step(changed, { kind: 'timer', timer })
      if (decision.deferUntil !== undefined || decision.awaitsEventsUntil !== undefined || decision.failed) continue
      this.#batchResult.names.push(timer)
      this.take(changed, decision)
      fired++
    }
  }

  /**
   * Runs that wait for a slot come last, when all slots that this batch releases are free. The first refusal of a key ends the
   * round of this key.
   */
  waiters(): void {
    const { limitCounters, waiters, outdated } = this.#candidates
    const { effects } = this.#batchResult
    const { admissionQueue } = this.#context
    const full = new Set<string>()
    for (const waiter of waiters) {
      if (full.has(waiter.key)) continue
      admissionQueue.passed(waiter)
      const name = waiterName(waiter)
      this.#batchResult.names.push(name)
      const verdict = this.#context.failureIsolation.verdictOn(name)
      const loaded = this.jobOf(waiter.jobId)
      const job = verdict === undefined ? this.#before(loaded) : loaded
      const decision =
        verdict === undefined ? this.#step(job, { kind: 'admit', waiter }) : this.#decisionForCulprit(job, verdict, waiter.runNo)
      // Nothing is known about it, so it stays in the queue, and its key is not tried again before something changes.
      if (verdict?.isPassedOver) decision.admission = 'refused'
      if (decision.admission === 'gone') effects.unqueued(waiter)
      if (decision.admission === 'admitted') admissionQueue.admitted(waiter)
      if (decision.admission === 'refused') {
        full.add(waiter.key)
        limitCounters.refused(waiter.key)
      }
      this.take(job, decision)
    }
    for (const key of outdated) limitCounters.forget(key)
    for (const { key, entry } of limitCounters.changes()) effects.limit(key, entry)
    admissionQueue.mark(limitCounters.pressing())
  }

  /**
   * Only for records that are not decided yet: the position that this transaction logs covers the input record, so it is never
   * answered again.
   */
  #answer(inputRecord: InputRecord, answer: Answer): void {
    const { replyTo, offset } = inputRecord
    if (replyTo === undefined) return
    const { partition, shared } = this.#context
    const { names, logger } = shared
    const place = replyTo.source ?? { topic: names[inputRecord.source], partition, offset }
    const record = receiptRecord(replyTo, { ...answer, jobId: inputRecord.jobId, ...place })
    const problem = this.#topicProblem({ name: record.topic, partition: null }, recordBytes(record))
    if (problem === undefined) {
      this.#batchResult.effects.topicRecord(record)
      this.#batchResult.receipts.push(answer.outcome)
      return
    }
    this.#context.shared.metrics.receiptsDropped.inc()
    logger.warn(
      { event: 'receipt-not-sent', topic: names[inputRecord.source], partition, offset },
      `A receipt that was asked for cannot be sent: ${problem}`,
    )
  }

  #topicProblem(place: { name: string; partition: number | null }, bytes: number): string | undefined {
    const { targets } = this.#context.shared
    return targets === undefined ? `Topic ${place.name} is not allowed; no topic is.` : targets.problem(place, bytes)
  }

  /** The job without the input that makes every cycle fail. */
  #decisionForCulprit(job: Job, { reason, hasDeadLetter, isPassedOver }: Verdict, runNo: number): Decision {
    return isPassedOver ? draftOf(job) : invalidated(job, reason, this.now, runNo, hasDeadLetter)
  }

  #passOver({ source, offset, jobId }: InputRecord, { reason }: Verdict): void {
    const { partition, shared } = this.#context
    const { names, logger, metrics } = shared
    metrics.invalid.inc({ reason: 'refused-by-log' })
    logger.error(
      { event: 'record-refused-by-log', topic: names[source], partition, offset, jobId },
      `A record cannot be applied and is skipped; its job is INVALID until it is defined again: ${reason}`,
    )
  }

  #step(job: Job, input: Input, inputRecord?: InputRecord): Decision {
    const { input: read, shared, activity, partition } = this.#context
    const context: Context = {
      ...this.#common,
      // Records that this batch put into the topic count as well.
      aheadFrom: Math.max(read.positions.logged.aheadUntil, this.#batchResult.aheadUntil),
      mayKeepDead: activity.standing.deadRuns < deadRunsMax,
    }
    if (job.unreadable !== undefined) reportUnreadable(this.#context, job, input)
    try {
      return step(job, input, context)
    } catch (error) {
      // A fault of ours affects only this job; its neighbors keep firing.
      const { names, logger } = shared
      const place = inputRecord === undefined ? {} : { topic: names[inputRecord.source], partition, offset: inputRecord.offset }
      logger.error(
        { event: 'rule-failed', err: error, jobId: job.id, input: input.kind, ...place },
        'A rule failed; the job is INVALID until it is defined again.',
      )
      return invalidated(job, `A rule failed on ${input.kind}: ${messageOf(error)}`, this.now, runOf(input))
    }
  }

  /** What is the same for all steps of the batch. */
  #commonContext(): Context {
    const { input, shared, local, activity } = this.#context
    const { leadMs, targets, poolWorkers, pauses } = shared
    const kept = new Map<string, number>()
    const keptMs = (pool: string): number => {
      const known = kept.get(pool) ?? targets?.keptMs?.(pool) ?? Number.POSITIVE_INFINITY
      kept.set(pool, known)
      return known
    }
    return {
      now: this.now,
      leadMs,
      aheadFrom: 0,
      eventsReadUntil: input.reports.readUntil,
      zonesMayDiffer: local.zones?.mayDiffer ?? false,
      topicProblem: this.#topicProblem.bind(this),
      poolProblem: (pool: string) => targets?.poolProblem(pool),
      keptMs,
      ...(poolWorkers && {
        routeTo: poolWorkers.routeTo.bind(poolWorkers),
        goneAt: poolWorkers.goneAt.bind(poolWorkers),
        namedSince: poolWorkers.namedSince.bind(poolWorkers),
      }),
      ...(pauses && { pauseOf: pauses.ofPool.bind(pauses) }),
      limits: this.#candidates.limitCounters,
      seenAt: activity.leases.seenAt.bind(activity.leases),
    }
  }

  take(before: Job, decision: Decision, restored = false, reported?: ReportedTrace): void {
    this.#jobs.set(before.id, decision.job)
    const [then, now] = [before.state?.active ?? [], decision.job.state?.active ?? []]
    if (then !== now) this.#batchResult.retries += retriesIn(then, now)
    this.#context.activity.decided(before, decision.job)
    this.#candidates.limitCounters.took(before.state, decision)
    for (const output of decision.out) {
      if (output.kind === 'record')
        this.#batchResult.topicRecords.push({ topic: output.record.topic, scheduledFor: output.scheduledFor })
      if (output.kind !== 'dispatch') continue
      this.#batchResult.dispatched.push(output.execution)
      if (output.ahead) this.#batchResult.aheadUntil = Math.max(this.#batchResult.aheadUntil, output.execution.dueAt)
    }
    this.#batchResult.notes.push(...decision.notes)
    this.#batchResult.effects.add(before, decision, restored, reported)
  }

  #move({ source, moved }: InputRecord): void {
    if (moved === undefined) return
    const { partition, shared } = this.#context
    const { names } = shared
    const { key, value, headers, to } = moved
    const records: RecordOut[] = [{ topic: names[source], partition: to, key, value, headers }]
    // No record of a misrouted definition may stay behind. Commands and events are not compacted and expire.
    if (source === 'jobs')
      records.push({ topic: names.jobs, partition, key, value: null, headers: { [movedHeader]: String(to) } })
    this.#batchResult.effects.moved(records)
  }
}

const asDecided = (input: Input): Input =>
  input.kind === 'definition' || input.kind === 'deletion' ? { ...input, decided: true } : input
