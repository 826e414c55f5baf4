/** Folds a batch of timers and mail into effects, job by job, through the pure step. */
import type { ExecutionEvent } from '../../../schemas/index.ts'
import { type Answer, answerTo, invalidated, receiptRecord, step } from '../../../streams/jobs/index.ts'
import { recordBytes } from '../../../streams/runs/index.ts'
import {
  type Decision,
  definitionValue,
  draftOf,
  type Input,
  type Job,
  type Timer,
  timerKind,
} from '../../../streams/state/index.ts'
import { messageOf } from '../../errors/index.ts'
import type { RecordOut } from '../../ports/index.ts'
import { type Mail, mailName, movedHeader, runOf, timerName, waiterName } from '../input/index.ts'
import { SearchPatience } from '../options/index.ts'
import { type Called, callHeads } from './admission-candidates.ts'
import { Effects } from './batch-effects.ts'
import { loadBatch } from './batch-limits.ts'
import { type FoldContext, type Folded, tellUnreadable } from './batch-result.ts'
import { culpritWaitMs, type Verdict } from './failure-isolation.ts'
import { isUnderWay, retriesIn, startLatenessMs } from './observed-inputs.ts'

/** With `mayLog` false the fold ends before the first mail that is not decided yet: a partition that is not claimed decides nothing. */
export async function fold(context: FoldContext, timers: Timer[], mails: Mail[], now: number, mayLog: boolean): Promise<Folded> {
  const { store, codecs, weights, narrowing, leadMs } = context
  const batch = await loadBatch({ store, codecs, weights, share: narrowing.share }, timers, mails, context.mailFirst)
  const called = await callHeads(context, batch, now)
  const effects = new Effects(context.partition, context.partitions, context.names, context.codecs)
  const folded: Folded = {
    effects,
    deferred: [],
    awaiting: [],
    mailFolded: 0,
    timersFolded: batch.timers.length,
    blocked: false,
    names: [],
    waitersAsked: called.waiters.length,
    notes: [],
    dispatched: [],
    written: [],
    receipts: [],
    startedLateMs: [],
    retries: 0,
    aheadUntil: 0,
  }
  const fold = new BatchFold(context, batch.jobs, called, folded, now)
  const patience = new SearchPatience(turnStepsMax)
  for (const timer of batch.timers) {
    if (judges(timer)) continue
    if (patience.isOver) batch.timersLeft.push(timer)
    else fold.timer(timer)
  }
  for (const mail of batch.mails) {
    // What has waited for the timers' searches waits no further turn, or it would for as long as they are due.
    if (patience.isOver && folded.mailFolded > 0) break
    folded.blocked = !fold.mail(mail, mayLog)
    if (folded.blocked) break
    folded.mailFolded++
  }
  // What a worker said comes before what its silence would say.
  for (const timer of batch.timers) if (judges(timer)) fold.timer(timer)
  // In one lane what is due earlier must not come after what is due later: what was ahead of its time waits for the usual lead.
  for (const timer of batch.timersLeft)
    folded.deferred.push({ timer, untilMs: Math.min(timer.dueAt, Math.max(now, timer.dueAt - leadMs)) })
  fold.waiters()
  return folded
}

/** What the searches of one turn may take, in steps, before the rest waits for the next: about a millisecond. Other partitions fire meanwhile. */
const turnStepsMax = 100_000

/** Whether the timer may end an attempt for want of a report. */
const judges = ({ kind }: Timer): boolean =>
  kind === timerKind.lease || kind === timerKind.attemptTimeout || kind === timerKind.startDeadline

/** A timer for which there is no room in memory is looked at again so much later. */
const rearmMs = 1_000

class BatchFold {
  readonly #context: FoldContext
  readonly #jobs: Map<string, Job>
  readonly #called: Called
  readonly #folded: Folded
  readonly #now: number

  constructor(context: FoldContext, jobs: Map<string, Job>, called: Called, folded: Folded, now: number) {
    this.#context = context
    this.#jobs = jobs
    this.#called = called
    this.#folded = folded
    this.#now = now
  }

  timer(timer: Timer): void {
    const job = this.#jobs.get(timer.jobId) ?? { id: timer.jobId }
    const name = timerName(timer)
    const verdict = this.#context.narrowing.verdictOn(name)
    if (!verdict?.isPassedOver) this.#folded.names.push(name)
    const decision =
      verdict === undefined ? this.#step(job, { kind: 'timer', timer }) : this.#condemned(job, verdict, timer.runNo)
    if (decision.deferUntil !== undefined) {
      this.#folded.deferred.push({ timer, untilMs: decision.deferUntil })
      return
    }
    const { awaitsEventsUntil: untilMs } = decision
    if (untilMs !== undefined) {
      if (this.#folded.awaiting.length < this.#context.awaitingMax) {
        this.#folded.awaiting.push({ timer, untilMs })
        return
      }
      decision.extraTimers.push({ ...timer, dueAt: this.#now + rearmMs })
    }
    if (verdict === undefined && !decision.failed) this.#folded.effects.popped(timer)
    // It may still follow from the state: then it is looked at again, but not at once and for ever.
    else this.#folded.deferred.push({ timer, untilMs: this.#now + culpritWaitMs })
    this.#take(job, decision)
  }

  /** False: not folded, because it would have to be logged. */
  mail(mail: Mail, mayLog: boolean): boolean {
    const decided = mail.source === 'jobs' && mail.offset < this.#context.decidedBefore
    if (!decided && !mayLog) return false
    const name = mailName(mail)
    this.#folded.names.push(name)
    if (mail.moved !== undefined) {
      const verdict = this.#context.narrowing.verdictOn(name)
      if (verdict !== undefined) this.#passOver(mail, verdict)
      else if (!decided) this.#move(mail)
      return true
    }
    if (mail.heartbeat !== undefined) this.#heard(mail.jobId, mail.heartbeat)
    if (mail.input === undefined) {
      if (!decided && mail.refusal !== undefined) this.#answer(mail, { outcome: 'rejected', reason: mail.refusal })
      return true
    }
    const job = this.#jobs.get(mail.jobId) ?? { id: mail.jobId }
    if (mail.input.kind === 'event') this.#reported(job, mail.input.event, this.#now)
    const lateMs = startLatenessMs(job, mail.input)
    if (lateMs !== undefined) this.#folded.startedLateMs.push(lateMs)
    const verdict = this.#context.narrowing.verdictOn(name)
    if (verdict !== undefined) this.#passOver(mail, verdict)
    const decision =
      verdict === undefined
        ? this.#step(job, decided ? asDecided(mail.input) : mail.input, mail)
        : this.#condemned(job, verdict, runOf(mail.input))
    const { input } = mail
    // Not before its report is folded: until then the lease is all that speaks for the attempt.
    if (input.kind === 'event' && input.event.type !== 'STARTED') this.#context.leases.ended(mail.jobId, input.event)
    else if (input.kind === 'event') this.#begun(decision.job, input.event)
    if (mail.input.kind === 'definition' && decision.job.definition === mail.input.definition) {
      const value = definitionValue(mail.input.definition)
      this.#folded.effects.definition(mail.jobId, value)
      this.#context.weights.set(mail.jobId, value.length)
      this.#context.metrics.definitions.inc()
      if (!decided && mail.input.definition.spec?.target.topic) this.#folded.effects.judged()
    } else if (decision.job.definition === undefined && job.definition !== undefined) {
      this.#folded.effects.definition(mail.jobId, null)
    }
    this.#take(job, decision, decided && !this.#context.isExact)
    if (!decided && mail.replyTo !== undefined) this.#answer(mail, answerTo(job, mail.input, decision))
    return true
  }

  #heard(jobId: string, { event, heartbeat }: NonNullable<Mail['heartbeat']>): void {
    const job = this.#jobs.get(jobId) ?? { id: jobId }
    if (!isUnderWay(job, event)) return
    // A clock that was ahead when it was read lengthens no lease.
    const checkedAt = Math.min(heartbeat.checkedAt, this.#now)
    this.#context.leases.note(jobId, event, { ...heartbeat, checkedAt })
    this.#reported(job, event, checkedAt)
  }

  /** That it has begun is a word of its worker too, and may come long after the beginning. */
  #begun(job: Job, event: ExecutionEvent): void {
    const { leases } = this.#context
    const said = { progress: null, message: null, ...leases.last(job.id, event) }
    if (isUnderWay(job, event)) leases.note(job.id, event, { ...said, checkedAt: this.#now })
  }

  /** Of attempts that nobody runs no worker is remembered. */
  #reported(job: Job, event: ExecutionEvent, atMs: number): void {
    if (isUnderWay(job, event)) this.#context.workers.heard(event, atMs)
  }

  /** Those that waited for a slot come last, when all that this batch frees is free. The first of a key that is refused ends its turn. */
  waiters(): void {
    const { ledger, waiters, outdated } = this.#called
    const { effects } = this.#folded
    const { admissions } = this.#context
    const full = new Set<string>()
    for (const waiter of waiters) {
      if (full.has(waiter.key)) continue
      admissions.passed(waiter)
      const job = this.#jobs.get(waiter.jobId) ?? { id: waiter.jobId }
      const name = waiterName(waiter)
      this.#folded.names.push(name)
      const verdict = this.#context.narrowing.verdictOn(name)
      const decision =
        verdict === undefined ? this.#step(job, { kind: 'admit', waiter }) : this.#condemned(job, verdict, waiter.runNo)
      // Nothing can be said of it, so it stays where it is, and nobody of its key is asked before something changes.
      if (verdict?.isPassedOver) decision.admission = 'refused'
      if (decision.admission === 'gone') effects.unqueued(waiter)
      if (decision.admission === 'refused') {
        full.add(waiter.key)
        ledger.refused(waiter.key)
      }
      this.#take(job, decision)
    }
    for (const key of outdated) ledger.forget(key)
    for (const { key, entry } of ledger.changes()) effects.limit(key, entry)
    admissions.mark(ledger.pressing())
  }

  /** Only of what is not decided yet: the position that this transaction logs covers the mail, so nobody answers it again. */
  #answer(mail: Mail, answer: Answer): void {
    const { replyTo, offset } = mail
    if (replyTo === undefined) return
    const { names, partition, logger } = this.#context
    const place = replyTo.source ?? { topic: names[mail.source], partition, offset }
    const record = receiptRecord(replyTo, { ...answer, jobId: mail.jobId, ...place })
    const problem = this.#topicProblem({ name: record.topic, partition: null }, recordBytes(record))
    if (problem === undefined) {
      this.#folded.effects.written(record)
      this.#folded.receipts.push(answer.outcome)
      return
    }
    this.#context.metrics.receiptsDropped.inc()
    logger.warn({ topic: names[mail.source], partition, offset }, `A receipt that was asked for cannot be sent: ${problem}`)
  }

  #topicProblem(place: { name: string; partition: number | null }, bytes: number): string | undefined {
    const { targets } = this.#context
    return targets === undefined ? `Topic ${place.name} is not allowed; no topic is.` : targets.problem(place, bytes)
  }

  /** The job as it goes on without what makes every turn fail. */
  #condemned(job: Job, { reason, hasLetter, isPassedOver }: Verdict, runNo: number): Decision {
    return isPassedOver ? draftOf(job) : invalidated(job, reason, this.#now, runNo, hasLetter)
  }

  #passOver({ source, offset, jobId }: Mail, { reason }: Verdict): void {
    const { names, partition, logger, metrics } = this.#context
    metrics.invalid.inc({ reason: 'refused-by-log' })
    logger.error(
      { topic: names[source], partition, offset, jobId },
      `A record cannot be carried out and is passed over; its job is INVALID until it is defined anew: ${reason}`,
    )
  }

  #step(job: Job, input: Input, mail?: Mail): Decision {
    const { leases, leadMs, aheadFrom, eventsReadUntil, zonesMayDiffer, logger } = this.#context
    const topicProblem = this.#topicProblem.bind(this)
    const context = {
      now: this.#now,
      leadMs,
      // What this very batch has put into the lane counts as well.
      aheadFrom: Math.max(aheadFrom, this.#folded.aheadUntil),
      ...{ eventsReadUntil, zonesMayDiffer, topicProblem },
      poolProblem: (pool: string) => this.#context.targets?.poolProblem(pool),
      keptMs: (pool: string) => this.#context.targets?.keptMs?.(pool) ?? Number.POSITIVE_INFINITY,
      limits: this.#called.ledger,
      seenAt: leases.seenAt.bind(leases),
    }
    if (job.unreadable !== undefined) tellUnreadable(this.#context, job, input)
    try {
      return step(job, input, context)
    } catch (error) {
      // A fault of ours stays with this job; its neighbours fire on.
      const { names, partition } = this.#context
      const place = mail === undefined ? {} : { topic: names[mail.source], partition, offset: mail.offset }
      logger.error(
        { err: error, jobId: job.id, input: input.kind, ...place },
        'A rule failed; the job is INVALID until it is defined anew.',
      )
      return invalidated(job, `A rule failed on ${input.kind}: ${messageOf(error)}`, this.#now, runOf(input))
    }
  }

  #take(before: Job, decision: Decision, restored = false): void {
    this.#jobs.set(before.id, decision.job)
    const [then, now] = [before.state?.active ?? [], decision.job.state?.active ?? []]
    if (then !== now) {
      this.#context.underWay.set(before.id, now)
      this.#folded.retries += retriesIn(then, now)
    }
    this.#called.ledger.took(before.state, decision)
    for (const output of decision.out) {
      if (output.kind === 'record') this.#folded.written.push({ topic: output.record.topic, scheduledFor: output.scheduledFor })
      if (output.kind !== 'dispatch') continue
      this.#folded.dispatched.push(output.execution)
      if (output.ahead) this.#folded.aheadUntil = Math.max(this.#folded.aheadUntil, output.execution.dueAt)
    }
    this.#folded.notes.push(...decision.notes)
    this.#folded.effects.add(before, decision, restored)
  }

  #move({ source, moved }: Mail): void {
    if (moved === undefined) return
    const { names, partition } = this.#context
    const { key, value, headers, to } = moved
    const records: RecordOut[] = [{ topic: names[source], partition: to, key, value, headers }]
    // Of a definition nothing must be left behind; commands and events are not compacted, and go with time.
    if (source === 'jobs')
      records.push({ topic: names.jobs, partition, key, value: null, headers: { [movedHeader]: String(to) } })
    this.#folded.effects.moved(records)
  }
}

const asDecided = (input: Input): Input =>
  input.kind === 'definition' || input.kind === 'deletion' ? { ...input, decided: true } : input
