/** Applies a batch of timers and input records to their jobs with the pure step, and collects the effects. */
import type { ExecutionEvent, Schedule } from '../../../schemas/index.ts'
import { type Answer, answerTo, invalidated, receiptRecord, step } from '../../../streams/jobs/index.ts'
import {
  type Decision,
  definitionValue,
  draftOf,
  type Input,
  type Job,
  patchState,
  type Timer,
  timerKind,
  timersOf,
} from '../../../streams/state/index.ts'
import { movedHeader, recordBytes } from '../../../streams/topics/index.ts'
import { messageOf } from '../../errors/index.ts'
import type { RecordOut } from '../../ports/index.ts'
import { CycleSpans } from '../../tracing/index.ts'
import { poolOf } from '../activity/index.ts'
import { type InputRecord, inputRecordName, runOf, timerName, waiterName } from '../input/index.ts'
import { SearchBudget } from '../options/index.ts'
import { type AdmissionCandidates, loadAdmissionCandidates } from './admission-candidates.ts'
import type { AnnouncedChange } from './announced-changes.ts'
import { Effects, type ReportedTrace } from './batch-effects.ts'
import { loadBatch } from './batch-limits.ts'
import { type BatchResult, reportUnreadable } from './batch-result.ts'
import type { BulkCall, Slice } from './bulk-changes.ts'
import type { CommitContext } from './commit-context.ts'
import { isActive, retriesIn, startLatenessMs } from './commit-metrics.ts'
import { culpritWaitMs, type Verdict } from './failure-isolation.ts'

export interface BatchOptions {
  /** The time of the batch, in epoch ms. */
  now: number
  /** Whether the first input record has waited for a cycle with room for it. */
  inputRecordsFirst: boolean
  /** False: it stops before the first input record that needs a decision, because an unclaimed partition decides nothing. */
  mayLog: boolean
  /** Whether jobs that are defined in this batch and are due fire in it too. Only with `mayLog`. */
  firesDefined: boolean
  /** Jobs of a change of many. */
  slice?: Slice | undefined
}

export async function applyBatch(
  context: CommitContext,
  timers: Timer[],
  inputRecords: InputRecord[],
  { now, inputRecordsFirst, mayLog, firesDefined, slice }: BatchOptions,
): Promise<BatchResult> {
  const { store, heavyJobs, failureIsolation, partition } = context
  const { codecs, leadMs, partitions, names, recordsRuns } = context.shared
  const batch = await loadBatch(
    { store, codecs, heavyJobs, share: failureIsolation.share },
    timers,
    inputRecords,
    inputRecordsFirst,
    slice?.ids,
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
    bulkLooked: batch.bulkIds.length,
    bulk: { changed: 0, refused: [], before: 0 },
    ahead: [],
    notes: [],
    dispatched: [],
    topicRecords: [],
    receipts: [],
    startedLateMs: [],
    retries: 0,
    aheadUntil: 0,
  }
  const announced = mayLog ? context.bulk.announced.inForce : []
  const batchStep = new BatchStep(context, batch.jobs, candidates, batchResult, { now, announced })
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
  if (slice !== undefined) for (const jobId of batch.bulkIds) batchStep.bulkChange(jobId, slice.call)
  // Otherwise they fire in a later cycle by their timers, as when a cycle has failed or timers of this cycle have to wait.
  if (firesDefined && mayLog && failureIsolation.share === 1 && batch.timersLeft.length === 0) batchStep.fireDefined(budget)
  // Reports of workers come before timers that judge their absence.
  for (const timer of batch.timers) if (mayEndAttempt(timer)) batchStep.timer(timer)
  // Within one lane an earlier due time must not come after a later one: timers that were ahead of their time wait for the
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

class BatchStep {
  readonly #context: CommitContext
  readonly #jobs: Map<string, Job>
  readonly #candidates: AdmissionCandidates
  readonly #batchResult: BatchResult
  readonly #now: number
  /** Changes of many jobs that hold already, in their order. */
  readonly #announced: readonly AnnouncedChange[]
  /** Jobs whose definition was accepted in this batch. */
  readonly #defined = new Set<string>()

  constructor(
    context: CommitContext,
    jobs: Map<string, Job>,
    candidates: AdmissionCandidates,
    batchResult: BatchResult,
    { now, announced }: { now: number; announced: readonly AnnouncedChange[] },
  ) {
    this.#context = context
    this.#jobs = jobs
    this.#candidates = candidates
    this.#batchResult = batchResult
    this.#now = now
    this.#announced = announced
  }

  /** The job after the changes of many that concern it and whose walks have not come to it (ADR 0098). */
  #changed(job: Job, end = this.#announced.length): Job {
    let changed = job
    for (let at = 0; at < end; at++) {
      const change = this.#announced[at]
      if (change?.concerns(changed) && !this.#isOvertaken(changed, at)) changed = this.#change(changed, change)
    }
    return changed
  }

  /** Whether a change that was asked for later has reached the job: what that did stays. */
  #isOvertaken(job: Job, at: number): boolean {
    return this.#announced.some(({ rule }, other) => other > at && rule.hasReached(job))
  }

  #change(job: Job, change: AnnouncedChange): Job {
    const decision = this.#step(job, { kind: 'command', command: change.rule.command })
    // As after its retention: the owner writes the tombstone, and a definition that comes first outlives it.
    if (change.isDeletion && decision.job.state?.status === 'COMPLETED') patchState(decision, { deleteAt: this.#now })
    this.#batchResult.ahead.push({ change, jobId: job.id })
    this.#take(job, decision)
    return decision.job
  }

  timer(timer: Timer): void {
    const name = timerName(timer)
    const verdict = this.#context.failureIsolation.verdictOn(name)
    if (!verdict?.isPassedOver) this.#batchResult.names.push(name)
    const loaded = this.#jobs.get(timer.jobId) ?? { id: timer.jobId }
    const job = verdict === undefined ? this.#changed(loaded) : loaded
    const decision =
      verdict === undefined ? this.#step(job, { kind: 'timer', timer }) : this.#decisionForCulprit(job, verdict, timer.runNo)
    if (decision.deferUntil !== undefined) {
      this.#batchResult.deferred.push({ timer, untilMs: decision.deferUntil })
      return
    }
    const { awaitsEventsUntil: untilMs } = decision
    if (untilMs !== undefined) {
      if (this.#batchResult.awaiting.length < this.#context.reports.room) {
        this.#batchResult.awaiting.push({ timer, untilMs })
        return
      }
      decision.extraTimers.push({ ...timer, dueAt: this.#now + rearmMs })
    }
    if (verdict === undefined && !decision.failed) this.#batchResult.effects.timerTaken(timer)
    // The timer may still follow from the state. Then it is checked again, but not at once in an endless loop.
    else this.#batchResult.deferred.push({ timer, untilMs: this.#now + culpritWaitMs })
    this.#take(job, decision)
  }

  /** False: not applied, because it would have to be logged. */
  inputRecord(inputRecord: InputRecord, mayLog: boolean): boolean {
    const decided = inputRecord.source === 'jobs' && inputRecord.offset < this.#context.positions.logged.jobsOffset
    if (!decided && !mayLog) return false
    const name = inputRecordName(inputRecord)
    this.#batchResult.names.push(name)
    if (inputRecord.moved !== undefined) {
      const verdict = this.#context.failureIsolation.verdictOn(name)
      if (verdict !== undefined) this.#passOver(inputRecord, verdict)
      else if (!decided) this.#move(inputRecord)
      return true
    }
    if (inputRecord.heartbeat !== undefined) this.#heartbeat(inputRecord.jobId, inputRecord.heartbeat)
    if (inputRecord.input === undefined) {
      if (!decided && inputRecord.refusal !== undefined)
        this.#answer(inputRecord, { outcome: 'rejected', reason: inputRecord.refusal })
      return true
    }
    const verdict = this.#context.failureIsolation.verdictOn(name)
    const loaded = this.#jobs.get(inputRecord.jobId) ?? { id: inputRecord.jobId }
    const comesAfter = verdict === undefined && (inputRecord.input.kind === 'event' || inputRecord.input.kind === 'command')
    const job = comesAfter ? this.#changed(loaded) : loaded
    if (inputRecord.input.kind === 'event') this.#reported(job, inputRecord.input.event, this.#now)
    const lateMs = startLatenessMs(job, inputRecord.input)
    if (lateMs !== undefined) this.#batchResult.startedLateMs.push(lateMs)
    if (verdict !== undefined) this.#passOver(inputRecord, verdict)
    const decision =
      verdict === undefined
        ? this.#step(job, decided ? asDecided(inputRecord.input) : inputRecord.input, inputRecord)
        : this.#decisionForCulprit(job, verdict, runOf(inputRecord.input))
    const { input } = inputRecord
    // Only after its report is applied: until then only the lease protects the attempt.
    if (input.kind === 'event' && input.event.type !== 'STARTED') this.#context.leases.ended(inputRecord.jobId, input.event)
    else if (input.kind === 'event') this.#started(decision.job, input.event)
    if (inputRecord.input.kind === 'definition' && decision.job.definition === inputRecord.input.definition) {
      const value = definitionValue(inputRecord.input.definition)
      this.#batchResult.effects.definition(inputRecord.jobId, value)
      this.#context.heavyJobs.set(inputRecord.jobId, value.length)
      this.#context.shared.metrics.definitions.inc()
      if (!decided && isQuicklyTimed(inputRecord.input.definition.spec?.schedule)) this.#defined.add(inputRecord.jobId)
      if (!decided && inputRecord.input.definition.spec?.target.topic) this.#batchResult.effects.judged()
    } else if (decision.job.definition === undefined && job.definition !== undefined) {
      this.#batchResult.effects.definition(inputRecord.jobId, null)
    }
    const { traceparent } = inputRecord
    const reported = input.kind === 'event' && traceparent !== undefined ? { runNo: input.event.runNo, traceparent } : undefined
    this.#take(job, decision, decided && !this.#context.isExact, reported)
    if (!decided && inputRecord.replyTo !== undefined) this.#answer(inputRecord, answerTo(job, inputRecord.input, decision))
    return true
  }

  /**
   * A job that is due when its definition is applied fires at once: one commit has both, and no timer is stored and read between
   * them. All input records of the batch were applied before, so a deletion among them counts. Jobs that have to wait are in the
   * time index like all others. A job that is due later waits there too, even if it could go ahead of its time: within one lane an
   * earlier due time must not come after a later one.
   */
  fireDefined(budget: SearchBudget): void {
    const { failureIsolation, heavyJobs } = this.#context
    let fired = 0
    for (const jobId of this.#defined) {
      if (budget.isOver || fired === firedWithDefinitionMax) return
      const job = this.#jobs.get(jobId)
      // The bytes of its Execution are not among those by which the batch was chosen.
      if (job === undefined || job.unreadable !== undefined || heavyJobs.of(jobId) > 0) continue
      const changed = this.#changed(job)
      const timer = timersOf(changed).find(({ kind, dueAt }) => kind === timerKind.fire && dueAt <= this.#now)
      if (timer === undefined || failureIsolation.verdictOn(timerName(timer)) !== undefined) continue
      const decision = this.#step(changed, { kind: 'timer', timer })
      if (decision.deferUntil !== undefined || decision.awaitsEventsUntil !== undefined || decision.failed) continue
      this.#batchResult.names.push(timerName(timer))
      this.#take(changed, decision)
      fired++
    }
  }

  /**
   * One job of a change of many, after all input records: a command to it that came before counts. Operations change a job in the order in
   * which they were asked for, whichever walk comes to it first.
   */
  bulkChange(jobId: string, call: BulkCall): void {
    const { bulk } = this.#batchResult
    const loaded = this.#jobs.get(jobId) ?? { id: jobId }
    const judged = call.rule.judge(loaded)
    if (judged.kind === 'done' || judged.kind === 'refused') {
      bulk.before++
      if (judged.kind === 'done') bulk.changed++
      else bulk.refused.push({ jobId, code: judged.code })
      return
    }
    const name = call.nameOf(jobId)
    const verdict = this.#context.failureIsolation.verdictOn(name)
    const at = this.#announced.findIndex(({ commandId }) => commandId === call.query.commandId)
    const job = at > 0 && verdict === undefined ? this.#changed(loaded, at) : loaded
    const { kind } = job === loaded ? judged : call.rule.judge(job)
    if (kind !== 'wanted' || (at >= 0 && this.#isOvertaken(job, at))) return
    this.#batchResult.names.push(name)
    const decision =
      verdict === undefined
        ? this.#step(job, { kind: 'command', command: call.rule.command })
        : this.#decisionForCulprit(job, verdict, 0)
    const code = verdict === undefined ? decision.refusal : 'refused-by-log'
    if (code === undefined) bulk.changed++
    else bulk.refused.push({ jobId, code })
    this.#take(job, decision)
    // Their walks may have passed the job when it was not to be changed.
    let changed = decision.job
    for (const change of at < 0 ? [] : this.#announced.slice(at + 1)) {
      if (change.isImmediate && change.rule.judge(changed).kind === 'wanted') changed = this.#change(changed, change)
    }
  }

  #heartbeat(jobId: string, { event, heartbeat }: NonNullable<InputRecord['heartbeat']>): void {
    const job = this.#jobs.get(jobId) ?? { id: jobId }
    if (!isActive(job, event)) return
    // A clock that was ahead at reading must not extend a lease.
    const checkedAt = Math.min(heartbeat.checkedAt, this.#now)
    this.#context.leases.note(jobId, event, { ...heartbeat, checkedAt })
    this.#reported(job, event, checkedAt)
  }

  /** STARTED is a report of the worker too, and may arrive long after the start. */
  #started(job: Job, event: ExecutionEvent): void {
    const { leases } = this.#context
    const { progress, message } = event
    const said = { progress, message, ...leases.last(job.id, event) }
    if (isActive(job, event)) leases.note(job.id, event, { ...said, checkedAt: this.#now })
  }

  /** Attempts that no worker runs leave no worker in memory. */
  #reported(job: Job, event: ExecutionEvent, atMs: number): void {
    if (isActive(job, event)) this.#context.workers.reported(event, atMs)
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
      const loaded = this.#jobs.get(waiter.jobId) ?? { id: waiter.jobId }
      const job = verdict === undefined ? this.#changed(loaded) : loaded
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
      this.#take(job, decision)
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
    return isPassedOver ? draftOf(job) : invalidated(job, reason, this.#now, runNo, hasDeadLetter)
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
    const { leases, zones, reports, positions, shared, standing } = this.#context
    const { leadMs, logger, targets, poolWorkers, pauses } = shared
    const topicProblem = this.#topicProblem.bind(this)
    const context = {
      now: this.#now,
      leadMs,
      // Records that this batch put into the lane count as well.
      aheadFrom: Math.max(positions.logged.aheadUntil, this.#batchResult.aheadUntil),
      eventsReadUntil: reports.readUntil,
      zonesMayDiffer: zones?.mayDiffer ?? false,
      topicProblem,
      poolProblem: (pool: string) => targets?.poolProblem(pool),
      keptMs: (pool: string) => targets?.keptMs?.(pool) ?? Number.POSITIVE_INFINITY,
      ...(poolWorkers && {
        routeTo: poolWorkers.routeTo.bind(poolWorkers),
        goneAt: poolWorkers.goneAt.bind(poolWorkers),
        namedSince: poolWorkers.namedSince.bind(poolWorkers),
      }),
      mayKeepDead: standing.deadRuns < deadRunsMax,
      ...(pauses && { pauseOf: pauses.ofPool.bind(pauses) }),
      limits: this.#candidates.limitCounters,
      seenAt: leases.seenAt.bind(leases),
    }
    if (job.unreadable !== undefined) reportUnreadable(this.#context, job, input)
    try {
      return step(job, input, context)
    } catch (error) {
      // A fault of ours affects only this job; its neighbors keep firing.
      const { partition } = this.#context
      const { names } = shared
      const place = inputRecord === undefined ? {} : { topic: names[inputRecord.source], partition, offset: inputRecord.offset }
      logger.error(
        { event: 'rule-failed', err: error, jobId: job.id, input: input.kind, ...place },
        'A rule failed; the job is INVALID until it is defined again.',
      )
      return invalidated(job, `A rule failed on ${input.kind}: ${messageOf(error)}`, this.#now, runOf(input))
    }
  }

  #take(before: Job, decision: Decision, restored = false, reported?: ReportedTrace): void {
    this.#jobs.set(before.id, decision.job)
    const [then, now] = [before.state?.active ?? [], decision.job.state?.active ?? []]
    const { activeRuns } = this.#context
    if (then === now && now.length > 0 && !activeRuns.has(before.id)) activeRuns.set(before.id, now, poolOf(decision.job))
    if (then !== now) {
      activeRuns.set(before.id, now, poolOf(decision.job))
      this.#batchResult.retries += retriesIn(then, now)
    }
    this.#context.standing.changed(before, decision.job)
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
