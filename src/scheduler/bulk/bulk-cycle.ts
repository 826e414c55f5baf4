/** Changes of many jobs in one commit cycle: the next jobs of a walk, and those that come up ahead of their walks (ADR 0098). */
import { commandRefusalText } from '../../../streams/jobs/index.ts'
import { type Job, patchState } from '../../../streams/state/index.ts'
import type { ChangeQuery, Changes } from '../../ground/ports/index.ts'
import type { Decisions, HookedCycle } from '../commit/index.ts'
import { type Walk, walkOf } from '../queries/index.ts'
import type { AnnouncedChange } from './announced-changes.ts'
import { ChangeRule } from './change-targets.ts'

/** What a slice did to its jobs. */
export interface SliceOutcome {
  changed: number
  refused: { jobId: string; code: string }[]
  /** Those of both that had taken the change before. */
  before: number
}

/** Jobs of one call that a commit cycle looks at. */
export interface Slice {
  call: BulkCall
  ids: string[]
  /** No jobs follow. */
  isLast: boolean
}

/** One call, and how far it is. */
export class BulkCall {
  readonly query: ChangeQuery
  readonly rule: ChangeRule
  readonly changes: Changes = { changed: 0, refused: [] }
  readonly walk: Walk
  cursor: string | undefined

  constructor(query: ChangeQuery, nowMs: number) {
    const { after, isRepeat, filter } = query
    this.query = query
    this.rule = new ChangeRule(query, nowMs)
    this.cursor = after
    // Jobs that are changed already may no longer have the status that was asked for.
    const { status: _, ...lasting } = filter
    this.walk = walkOf(isRepeat ? lasting : filter)
  }

  /** Counts what a committed slice did. */
  count({ changed, refused }: SliceOutcome): void {
    this.changes.changed += changed
    for (const { jobId, code } of refused) {
      const known = this.changes.refused.find((one) => one.code === code)
      if (known !== undefined) known.count++
      else this.changes.refused.push({ code, reason: commandRefusalText(code), count: 1, example: jobId })
    }
  }

  get isFull(): boolean {
    const { changed, refused } = this.changes
    return refused.reduce((sum, { count }) => sum + count, changed) >= this.query.limit
  }
}

/** The walks of a partition, and the operations of which it knows. */
interface Walks {
  readonly announced: { readonly inForce: readonly AnnouncedChange[] }
  committed(slice: Slice, count: number, outcome: SliceOutcome): void
}

export class BulkCycle implements HookedCycle {
  readonly #walks: Walks
  readonly #slice: Slice | undefined
  readonly #outcome: SliceOutcome = { changed: 0, refused: [], before: 0 }
  /** Jobs of the slice that were looked at. */
  #looked = 0
  /** Changes that reached a job ahead of their walk, once for each job. */
  readonly #ahead: { change: AnnouncedChange; jobId: string }[] = []
  /** Changes that hold already, in their order. Undefined until the first decision: those that are announced before it count. */
  #known: readonly AnnouncedChange[] | undefined

  constructor(walks: Walks, slice: Slice | undefined) {
    this.#walks = walks
    this.#slice = slice
  }

  get ids(): readonly string[] {
    return this.#slice?.ids ?? []
  }

  nameOf(jobId: string): string {
    return `bulk ${this.#slice?.call.query.commandId} ${jobId}`
  }

  /** The job after the changes that concern it and whose walks have not come to it. */
  before(job: Job, decisions: Decisions): Job {
    return this.#changed(job, decisions, this.#announced.length)
  }

  /**
   * After all input records: a command to the job that came before counts. Operations change a job in the order in which they were asked for,
   * whichever walk comes to it first.
   */
  decide(jobId: string, decisions: Decisions): void {
    if (this.#slice === undefined) return
    this.#looked++
    const { rule, query } = this.#slice.call
    const outcome = this.#outcome
    const loaded = decisions.jobOf(jobId)
    const judged = rule.judge(loaded)
    if (judged.kind === 'done' || judged.kind === 'refused') {
      outcome.before++
      if (judged.kind === 'done') outcome.changed++
      else outcome.refused.push({ jobId, code: judged.code })
      return
    }
    const name = this.nameOf(jobId)
    const isCulprit = decisions.isCulprit(name)
    const at = this.#announced.findIndex(({ commandId }) => commandId === query.commandId)
    const job = at > 0 && !isCulprit ? this.#changed(loaded, decisions, at) : loaded
    const { kind } = job === loaded ? judged : rule.judge(job)
    if (kind !== 'wanted' || (at >= 0 && this.#isOvertaken(job, at))) return
    const decision = decisions.decide(job, rule.command, name)
    const code = isCulprit ? 'refused-by-log' : decision.refusal
    if (code === undefined) outcome.changed++
    else outcome.refused.push({ jobId, code })
    decisions.take(job, decision)
    // Their walks may have passed the job when it was not to be changed.
    let changed = decision.job
    for (const change of at < 0 ? [] : this.#announced.slice(at + 1)) {
      if (change.isImmediate && change.rule.judge(changed).kind === 'wanted') changed = this.#change(changed, change, decisions)
    }
  }

  committed(): void {
    for (const { change, jobId } of this.#ahead) change.changedAhead(jobId)
    if (this.#slice !== undefined) this.#walks.committed(this.#slice, this.#looked, this.#outcome)
  }

  get #announced(): readonly AnnouncedChange[] {
    this.#known ??= this.#walks.announced.inForce
    return this.#known
  }

  #changed(job: Job, decisions: Decisions, end: number): Job {
    let changed = job
    for (let at = 0; at < end; at++) {
      const change = this.#announced[at]
      if (change?.concerns(changed) && !this.#isOvertaken(changed, at)) changed = this.#change(changed, change, decisions)
    }
    return changed
  }

  /** Whether a later change has reached the job: then the result of that one stays. */
  #isOvertaken(job: Job, at: number): boolean {
    return this.#announced.some(({ rule }, other) => other > at && rule.hasReached(job))
  }

  #change(job: Job, change: AnnouncedChange, decisions: Decisions): Job {
    const decision = decisions.decide(job, change.rule.command)
    // As after its retention: the owner writes the tombstone, and a definition that comes first outlives it.
    if (change.isDeletion && decision.job.state?.status === 'COMPLETED') patchState(decision, { deleteAt: decisions.now })
    this.#ahead.push({ change, jobId: job.id })
    decisions.take(job, decision)
    return decision.job
  }
}
