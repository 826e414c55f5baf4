/**
 * Carries out one operation. Before a page of changes is written, the record of progress says so. After a crash another process writes
 * the same page again: its commandIds are the same, so nothing happens twice, and the number of its changes is known.
 *
 *   announced, cut-off, total ──► page: progress, changes, applied ──► next page … ──► DONE
 *                                   └── dead runs whose jobs have no room: another round ──┘
 */
import type { OperationPart, OperationProgress } from '../../../schemas/index.ts'
import { waitFor } from '../../ground/clock/index.ts'
import { Semaphore } from '../../ground/concurrency/index.ts'
import { messageOf } from '../../ground/errors/index.ts'
import type { CutOff, Operation } from '../../ground/ports/index.ts'
import { Announcements } from './announcements.ts'
import { cutOffOf, noteRefusal, partOf, partRecord, progressFrom } from './operation-records.ts'
import type { Ask, OperationTools } from './options.ts'
import { changeAll, type PageTools } from './page-changes.ts'
import { againMs, againMsMax, repeated, settledEach } from './repeated.ts'
import { Selection, withRoom } from './target-pages.ts'

/** Delay before the next round of dead runs whose jobs had no room: it doubles up to the maximum while no run gets room. */
const roundMs = 500
const roundMsMax = 30_000
/** Rounds without a redrive, after which the rest is refused: about eight minutes. */
const idleRoundsMax = 20
/** Jobs of one call to an owner that changes them itself, so that progress and a cancellation need not wait for long. */
const bulkJobs = 2_000
/** An owner that changes the jobs itself is asked again within this time, because until then nothing goes on. */
const bulkAgainMsMax = 2_000

export class OperationRun {
  readonly id: string
  readonly #tools: OperationTools
  readonly #operation: Operation
  readonly #selection: Selection
  readonly #progress: OperationProgress
  readonly #announcements: Announcements
  readonly #ending = new AbortController()
  readonly #cancelling = new AbortController()
  /** Aborted by the end of this run, and by a cancellation. */
  readonly #signal: AbortSignal
  /** Beside the changes, the jobs of one partition after another are counted. */
  readonly #counts = new Semaphore(1)
  /** Changes of this round. */
  #changed = 0
  #isWritten = false
  #isEnding = false
  /** Partitions whose next jobs may be changed already, by a call whose answer is not in the progress. */
  readonly #repeats: Set<number>

  constructor(operation: Operation, tools: OperationTools) {
    this.id = operation.id
    this.#tools = tools
    this.#operation = operation
    this.#selection = new Selection(operation.id, operation.request, tools.partitions)
    this.#signal = AbortSignal.any([this.#ending.signal, this.#cancelling.signal])
    this.#progress = progressFrom(operation.progress, tools.clock.nowMs(), tools.instance)
    this.#announcements = new Announcements({
      operation: { ...this.#selection.announced, createdAt: operation.createdAt },
      ...{ partitions: tools.partitions, clock: tools.clock, caller: operation.id, signal: this.#signal },
      asking: (partition) => this.#asking(partition),
      onKnown: () => this.#allKnow(),
    })
    this.#repeats = new Set(this.#progress.parts.map(({ partition }) => partition))
    if (operation.cancel !== undefined) this.#cancelling.abort()
  }

  /** Ends it with the status CANCELLED. */
  cancel(): void {
    this.#cancelling.abort()
  }

  /** The last progress, once it has ended and that is written. */
  get outcome(): OperationProgress | undefined {
    return this.#isWritten ? this.#progress : undefined
  }

  /** Leaves it to another process. */
  leave(): void {
    this.#ending.abort()
  }

  /** Resolves when the operation has ended, or was left. It never rejects. */
  async carryOut(): Promise<void> {
    const { logger, clock, limits } = this.#tools
    const deadline = this.#operation.createdAt + limits.operationMsMax
    const cancelDeadline = clock.at(deadline, () => void this.#end('FAILED', 'It did not end within its time limit.'))
    try {
      await this.#begin()
      await this.#rounds()
      await this.#end('DONE')
    } catch (error) {
      if (this.#ending.signal.aborted) return
      if (this.#cancelling.signal.aborted) return await this.#end('CANCELLED')
      logger.error({ event: 'operation-failed', err: error, operation: this.id }, 'An operation failed.')
      await this.#end('FAILED', messageOf(error).slice(0, 1_000))
    } finally {
      cancelDeadline()
    }
  }

  async #begin(): Promise<void> {
    const { partitions } = this.#tools
    const progress = this.#progress
    if (progress.parts.length === 0) {
      const cutOffs = await settledEach(partitions, (partition) => this.#again(() => this.#cutOff(partition)))
      progress.parts = cutOffs.map(partOf)
      await this.#save()
    }
    if (this.#selection.isAnnounced) for (const part of progress.parts) void this.#announcements.keep(part)
    if (progress.total !== null) return
    const counted = this.#count()
    // Jobs that are changed meanwhile are counted too; deleted ones are not.
    if (!this.#selection.isImmediate || this.#selection.deletesAhead) return await counted
    counted.catch(() => undefined)
  }

  async #cutOff(partition: number): Promise<CutOff> {
    if (this.#selection.isAnnounced) return this.#announcements.first(partition)
    return this.#asking(partition)((owner) => this.#selection.cutOff(owner, partition))
  }

  #allKnow(): void {
    if (!this.#selection.isImmediate || this.#progress.effectiveAt !== null) return
    this.#progress.effectiveAt = this.#tools.clock.nowMs()
    if (this.#progress.parts.length > 0) void this.#save().catch(() => {})
  }

  async #count(): Promise<void> {
    const { pages } = this.#tools
    const progress = this.#progress
    const asker = { caller: this.id, signal: this.#signal }
    const counts = await settledEach(progress.parts.length, (index) => {
      const part = progress.parts[index] as OperationPart
      const count = () => this.#selection.count(this.#asking(part.partition), part.partition, cutOffOf(part), asker)
      return this.#again(() => (this.#selection.isImmediate ? this.#counts : pages).run(count))
    })
    if (progress.endedAt !== null) return
    progress.total = counts.reduce((sum, count) => sum + count, 0)
    await this.#save()
  }

  /** Dead runs are redriven in rounds, because a job has room for some of its runs only. */
  async #rounds(): Promise<void> {
    const { parts } = this.#progress
    let waitMs = roundMs
    for (let idle = 0; ; idle++) {
      this.#changed = 0
      await settledEach(parts.length, (index) => this.#part(parts[index] as OperationPart))
      const left = parts.reduce((sum, part) => sum + part.left, 0)
      if (left === 0) return
      if (this.#changed > 0) {
        idle = 0
        waitMs = roundMs
      }
      if (idle >= idleRoundsMax) return this.#refuse(left)
      await waitFor(waitMs, this.#tools.clock, this.#signal)
      waitMs = Math.min(2 * waitMs, roundMsMax)
      for (const part of parts) {
        // Only partitions that still have some.
        if (part.left > 0) Object.assign(part, { after: null, ended: false, left: 0 })
      }
    }
  }

  async #part(part: OperationPart): Promise<void> {
    while (!part.ended && this.#selection.isBulk) {
      await this.#again(() => this.#tools.pages.run(() => this.#bulkPage(part)))
      await this.#again(() => this.#save())
    }
    while (!part.ended) await this.#again(() => this.#tools.pages.run(() => this.#page(part)))
  }

  /** The owner changes the next jobs itself. */
  async #bulkPage(part: OperationPart): Promise<void> {
    const { partition } = part
    const isRepeat = this.#repeats.has(partition)
    // An answer that does not arrive may have had an effect.
    this.#repeats.add(partition)
    const place = { cutOff: cutOffOf(part), isRepeat, limit: bulkJobs, ...(part.after !== null && { after: part.after }) }
    const query = { ...this.#selection.change, ...place }
    const asker = { caller: this.id, signal: this.#ending.signal }
    const found = await this.#asking(partition)((owner) => owner.change(partition, query, asker))
    const refused = found.refused.reduce((sum, { count }) => sum + count, 0)
    if (!isRepeat || found.changed + refused >= bulkJobs) this.#repeats.delete(partition)
    this.#progress.applied += found.changed
    this.#progress.refused += refused
    for (const { count, ...one } of found.refused) noteRefusal(this.#progress, one, count)
    part.after = found.next ?? part.after
    part.ended = found.next === undefined
  }

  async #page(part: OperationPart): Promise<void> {
    const { partition } = part
    const again = part.pendingTo !== null
    const place = { cutOff: cutOffOf(part), after: part.after ?? undefined, until: part.pendingTo ?? undefined }
    const page = withRoom(await this.#selection.page(this.#asking(partition), partition, place))
    const last = page.targets.at(-1)?.id
    if (!again && last !== undefined) {
      part.pendingTo = last
      part.pending = page.changes
      await this.#save()
    }
    const refused = await changeAll(this.#pageTools(partition), partition, page.targets)
    const isLast = !again && page.next === undefined
    const ahead = isLast && this.#selection.deletesAhead ? await this.#announcements.end(part) : 0
    const { pending } = part
    const end = part.pendingTo
    // From here to the end nothing fails, so that a page is counted once.
    this.#progress.applied += Math.max(0, pending - refused.length) + ahead
    this.#progress.refused += refused.length
    this.#changed += pending
    for (const one of refused) noteRefusal(this.#progress, one, 1)
    part.left += page.left
    Object.assign(part, { pendingTo: null, pending: 0 })
    if (again) part.after = end
    else if (isLast) part.ended = true
    else part.after = page.next ?? part.after
  }

  #pageTools(partition: number): PageTools {
    const { codecs, names, clock, writer } = this.#tools
    const { action, commandPrefix, payload } = this.#selection
    return {
      ...{ codecs, names, clock, writer, action, commandPrefix, payload },
      ask: this.#asking(partition),
      actor: this.#operation.request.actor,
      // A cancellation lets the pages that have begun end, so that their changes are counted.
      signal: this.#ending.signal,
      onWait: (problem) => this.#tell(problem ?? null),
    }
  }

  #asking(partition: number): Ask {
    return (question) => this.#tools.owners.ask(partition, question)
  }

  /** Repeats a step that fails for a while. */
  #again<Result>(step: () => Promise<Result>): Promise<Result> {
    return repeated(step, {
      ...{ clock: this.#tools.clock, signal: this.#signal },
      ...(this.#selection.isBulk && { waitMsMax: bulkAgainMsMax }),
      onResult: () => this.#tell(null),
      onFailure: (error) => {
        this.#tools.logger.debug({ event: 'operation-step-failed', err: error, operation: this.id }, 'A step failed.')
        this.#tell(messageOf(error).slice(0, 1_000))
      },
    })
  }

  #refuse(left: number): void {
    this.#progress.refused += left
    const reason = 'The job has as many active runs as its maxConcurrentRuns allows, and none of them ended for minutes.'
    noteRefusal(this.#progress, { code: 'max-concurrent-runs', reason, example: '' }, left)
  }

  /** A problem is shown as soon as it is there, and until it is over. */
  #tell(problem: string | null): void {
    if (this.#progress.problem === problem) return
    this.#progress.problem = problem
    void this.#save().catch(() => {})
  }

  async #end(status: 'DONE' | 'CANCELLED' | 'FAILED', problem: string | null = null): Promise<void> {
    if (this.#isEnding || this.#ending.signal.aborted) return
    this.#isEnding = true
    const { clock, logger } = this.#tools
    const progress = this.#progress
    if (status !== 'DONE' && this.#selection.isAnnounced) progress.applied += await this.#announcements.release(progress.parts)
    const endedAt = clock.nowMs()
    Object.assign(progress, { status, problem, endedAt })
    if (status === 'DONE') {
      progress.effectiveAt ??= endedAt
      // Jobs that were deleted after their change may not have been counted.
      progress.total = Math.max(progress.total ?? 0, progress.applied + progress.refused)
    }
    for (let waitMs = againMs; ; waitMs = Math.min(2 * waitMs, againMsMax)) {
      try {
        await this.#save()
        this.#isWritten = true
        return this.#ending.abort()
      } catch (error) {
        logger.warn({ event: 'operation-end-not-written', err: error, operation: this.id }, 'The end could not be written yet.')
        await waitFor(waitMs, clock, this.#ending.signal).catch(() => undefined)
        if (this.#ending.signal.aborted) return
      }
    }
  }

  async #save(): Promise<void> {
    const { codecs, names, partitions, writer, clock } = this.#tools
    const record = { id: this.id, at: clock.nowMs(), progress: this.#progress }
    await writer.write([partRecord({ codec: codecs.operation, names, partitions }, record)])
  }
}
