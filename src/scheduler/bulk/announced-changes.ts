/**
 * Changes of many jobs of which this owner knows (ADR 0098). The walk over the jobs takes its time (bulk-changes.ts). A job that comes up in
 * a commit cycle before the walk has come to it is changed first, so that no job of an operation fires once its owner knows of it.
 *
 *   announced ──► ahead of the walk: jobs that come up ──► the walk has ended, or the operation ──► forgotten a minute later
 */
import type { Job } from '../../../streams/state/index.ts'
import type { Clock } from '../../ground/clock/index.ts'
import { DuelogError } from '../../ground/errors/index.ts'
import type { Announced, AnnounceQuery, Asker, CutOff, TargetQuery, Targets } from '../../ground/ports/index.ts'
import { commandIdOf, isImmediate } from '../../ground/records/index.ts'
import { byBytes } from '../queries/index.ts'
import { ChangeRule } from './change-targets.ts'

/** Operations that one partition knows at once. The API accepts no more. Further ones are refused. */
const announcedMax = 100
/** An operation of which nothing was heard for this long is forgotten: longer than its driver needs a successor. */
const forgottenAfterMs = 60_000

/** An operation in one partition. */
export class AnnouncedChange {
  readonly commandId: string
  readonly cutOff: CutOff
  readonly createdAt: number
  readonly rule: ChangeRule
  /** Whether it changes jobs before the walk comes to them. */
  readonly isImmediate: boolean
  /** Whether the jobs that it changes are deleted next. */
  readonly isDeletion: boolean
  /** Jobs that were changed ahead of the walk, and that it has not counted. */
  ahead = 0
  /** The walk, or the operation, has ended: it concerns no further job. */
  isOver = false
  heardAtMs = 0
  /** The walk has done all jobs up to this one. */
  #after: string | undefined
  /** The targets of the last list: the walk counts them. */
  #listed: ReadonlySet<string> = new Set()
  /** Those of them that were changed ahead since. */
  readonly #changedSince = new Set<string>()
  /** Jobs that were changed ahead while lists are being made. */
  readonly #changedMeanwhile = new Set<Set<string>>()
  /** The walk has counted all jobs up to this one. */
  #countedTo: string | undefined

  constructor(query: AnnounceQuery, cutOff: CutOff, nowMs: number) {
    const { commandId, createdAt, action, filter } = query
    this.commandId = commandId
    this.cutOff = cutOff
    this.createdAt = createdAt
    this.rule = new ChangeRule({ action, filter, cutOff, commandId }, nowMs)
    this.isImmediate = isImmediate(action, filter)
    this.isDeletion = action === 'DELETE'
  }

  /** The walk has done all jobs up to this one. It never goes back: a repeat changes none of them. */
  walkedTo(jobId: string | undefined): void {
    if (jobId !== undefined && (this.#after === undefined || byBytes(jobId, this.#after) > 0)) this.#after = jobId
  }

  /** The walk has counted all jobs up to this one. */
  countedTo(jobId: string | undefined): void {
    if (jobId !== undefined && (this.#countedTo === undefined || byBytes(jobId, this.#countedTo) > 0)) this.#countedTo = jobId
  }

  /** A job was changed ahead of the walk. It counts once: here, or as a target of the walk. */
  changedAhead(jobId: string): void {
    if (this.#listed.has(jobId)) {
      this.#changedSince.add(jobId)
      return
    }
    if (this.#countedTo !== undefined && byBytes(jobId, this.#countedTo) <= 0) return
    this.ahead++
    for (const changed of this.#changedMeanwhile) changed.add(jobId)
  }

  /** Makes a list of targets. Those that were changed ahead meanwhile are none any more, and are counted already. */
  async list({ after, until }: Pick<TargetQuery, 'after' | 'until'>, make: () => Promise<Targets>): Promise<Targets> {
    // A repeated list: the first one was counted.
    if (until !== undefined) {
      this.countedTo(until)
      return make()
    }
    // If the last list did not arrive, this one begins where that began, and does not have these.
    for (const jobId of this.#changedSince) if (after === undefined || byBytes(jobId, after) > 0) this.ahead++
    this.#changedSince.clear()
    this.#listed = new Set()
    const changed = new Set<string>()
    this.#changedMeanwhile.add(changed)
    try {
      const found = await make()
      const targets = found.targets.filter(({ id }) => !changed.has(id))
      this.#listed = new Set(targets.map(({ id }) => id))
      return { ...found, targets, count: targets.length }
    } finally {
      this.#changedMeanwhile.delete(changed)
    }
  }

  /** Whether the job is to be changed now. */
  concerns(job: Job): boolean {
    if (this.isOver || !this.isImmediate) return false
    if (this.#after !== undefined && byBytes(job.id, this.#after) <= 0) return false
    return this.rule.judge(job).kind === 'wanted'
  }
}

const none: readonly AnnouncedChange[] = []

export class AnnouncedChanges {
  readonly #clock: Clock
  /** In the order in which they change a job. */
  #known: AnnouncedChange[] = []
  readonly #waiting = new Set<(error: DuelogError) => void>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Those that concern the jobs of a commit cycle, in the order in which they change a job. */
  get inForce(): readonly AnnouncedChange[] {
    if (this.#known.length === 0) return none
    const heardSinceMs = this.#clock.steadyMs() - forgottenAfterMs
    this.#known = this.#known.filter(({ heardAtMs }) => heardAtMs > heardSinceMs)
    return this.#known
  }

  /** `cutOff`: what exists now. Undefined: the query has it. */
  async announce(
    query: AnnounceQuery,
    cutOff: CutOff | undefined,
    { signal }: Pick<Asker, 'signal'> = {},
  ): Promise<Omit<Announced, 'isActive'>> {
    signal?.throwIfAborted()
    const change = this.#take(query, cutOff)
    if (query.waitMs > 0) await this.#wait(query.waitMs, signal)
    return { cutOff: change.cutOff, ahead: change.ahead }
  }

  /** The walk of an operation was asked for, or has come to this job. Returns how many it has not counted of those that were changed ahead. */
  walked(commandId: string, jobId: string | undefined, { isOver, counted }: { isOver: boolean; counted: number }): number {
    const change = this.#known.find((known) => known.commandId === commandId)
    if (change === undefined) return 0
    change.heardAtMs = this.#clock.steadyMs()
    change.walkedTo(jobId)
    change.isOver ||= isOver
    // A repeated walk counts jobs once more.
    change.ahead = Math.max(0, change.ahead - counted)
    return change.ahead
  }

  /** Makes a list of targets of a DELETE. */
  list(query: TargetQuery, make: () => Promise<Targets>): Promise<Targets> {
    const commandId = commandIdOf(query)
    const change = this.#known.find((known) => known.commandId === commandId)
    return change === undefined ? make() : change.list(query, make)
  }

  /** The partition leaves this process: who waits asks the next owner. */
  leave(): void {
    const moved = 'The partition moves to another process; its next owner has to know the operation.'
    for (const reject of [...this.#waiting]) reject(new DuelogError('not-ready', moved))
  }

  #take(query: AnnounceQuery, cutOff: CutOff | undefined): AnnouncedChange {
    const { commandId, createdAt, after, listed, isOver } = query
    const place = query.cutOff ?? cutOff
    let change = this.inForce.find((known) => known.commandId === commandId)
    if (change === undefined) {
      if (place === undefined)
        throw new DuelogError('not-ready', 'The partition is not active here yet, so it cannot tell what exists now.')
      if (this.#known.length >= announcedMax)
        throw new DuelogError('overloaded', `This partition knows ${announcedMax} operations already; ask again later.`)
      change = new AnnouncedChange(query, place, this.#clock.nowMs())
      const at = this.#known.findIndex((known) => isBefore({ createdAt, commandId }, known))
      this.#known = this.#known.toSpliced(at < 0 ? this.#known.length : at, 0, change)
    }
    change.heardAtMs = this.#clock.steadyMs()
    change.walkedTo(after)
    change.countedTo(listed)
    change.isOver ||= isOver
    return change
  }

  #wait(waitMs: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (): void => {
        this.#waiting.delete(leave)
        cancelTimer()
        signal?.removeEventListener('abort', onAbort)
      }
      const leave = (error: DuelogError): void => {
        end()
        reject(error)
      }
      const onAbort = (): void => {
        end()
        reject(signal?.reason)
      }
      const cancelTimer = this.#clock.at(this.#clock.nowMs() + waitMs, () => {
        end()
        resolve()
      })
      this.#waiting.add(leave)
      signal?.addEventListener('abort', onAbort)
    })
  }
}

interface Place {
  createdAt: number
  commandId: string
}

/** Two drivers at once must not disagree about the order. */
const isBefore = (one: Place, other: Place): boolean =>
  one.createdAt < other.createdAt || (one.createdAt === other.createdAt && one.commandId < other.commandId)
