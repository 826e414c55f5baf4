/**
 * Handles a store that was built from another job-state than the present one: the topic was truncated, or deleted and recreated.
 * While no owner has continued in the new log, the store is the truth, and its owner logs all of it again. Otherwise the log is
 * the truth, and the store is rebuilt (ADR 0049).
 *
 *   store ends behind the log ──► the log is read, not applied ──┬─ a later claim has decided ──► theirs: the store is wiped
 *                                                                └─ none has, and we claim ─────► ours: the store is logged again
 */
import type { Owner, Position } from '../../../schemas/index.ts'
import { prefix } from '../../../streams/state/index.ts'
import { counted } from '../../../streams/text/index.ts'
import { DuelogError } from '../../errors/index.ts'
import type { PartitionStore, RecordIn, StoreOp } from '../../ports/index.ts'
import { type Range, rangeOf } from '../input/index.ts'
import {
  type Checkpoint,
  type Claimed,
  changelogOps,
  checkpointOp,
  entryOf,
  type ForeignChangelog,
  isBesideTheLog,
  ownerKey,
  positionKey,
} from '../state/index.ts'
import { entriesOf, logEntries, loggedAgainHeader } from './changelog-rewrite.ts'
import { reportReset } from './invalid-positions.ts'
import type { PartitionContext } from './partition-context.ts'

/** Kinds of entries in job-state, without its bookkeeping. */
const loggedKinds = [prefix.state, prefix.run, prefix.snapshot, prefix.followUps, prefix.slots, prefix.starts] as const
/** A commit cycle logs fewer entries and bytes. More entries without a position are an unfinished copy of a store. */
const pendingEntriesMax = 20_000
const pendingBytesMax = 64 * 1024 * 1024

export class ReplacedChangelog implements ForeignChangelog {
  readonly #context: PartitionContext
  readonly #store: PartitionStore
  /** Offset up to which the store had read its own log, and the range of the present log when that was noticed. */
  readonly #from: number
  readonly #found: Range
  /** The last claim and the last position of the store. */
  #claimedAt = 0
  #position: Position | null = null
  /** The last claim that was read in the log, and the records after it or after the last position. */
  #readClaim = 0
  #pending: RecordIn[] = []
  #pendingBytes = 0
  #isCut = false
  /** Keys that the log has and the store lacks. */
  readonly #gone = new Map<string, Buffer>()

  constructor(context: PartitionContext, from: number, found: Range) {
    this.#context = context
    this.#store = context.store
    this.#from = from
    this.#found = found
  }

  /** Resolves once the store itself records that it is from another log, in case the log grows past it. */
  async begin(local: Checkpoint, claim: Owner | undefined): Promise<void> {
    const { codecs } = this.#context.shared
    await this.#store.apply([checkpointOp({ ...local, otherLog: 'ours' })])
    this.#claimedAt = claim?.claimedAt ?? 0
    const [position] = await this.#store.get([positionKey])
    this.#position = (await entryOf(codecs, position))?.position ?? null
  }

  async receive(records: readonly RecordIn[]): Promise<void> {
    const { codecs } = this.#context.shared
    for (const record of records) {
      const { key, value } = record
      if (key === null) continue
      if (key.equals(ownerKey)) {
        this.#readClaim = (await entryOf(codecs, value))?.owner?.claimedAt ?? 0
        this.#forgetPending()
      } else if (key.equals(positionKey)) {
        const position = (await entryOf(codecs, value))?.position
        if (position && value !== null) await this.#follow(position, value)
      } else this.#hold(record)
    }
    await this.#note(records)
  }

  /**
   * Writes the whole store to the log, which was read up to our claim. The position comes last, so a crash in between repeats
   * all of it.
   */
  async log({ claimOffset, claimedAt, value }: Claimed): Promise<void> {
    const context = this.#context
    const { names, admin, codecs, logger, clock } = context.shared
    const store = this.#store
    // The claims of the old log tell whether a former owner applied definitions.
    const isSound = !isBesideTheLog(
      { jobsOffset: context.positions.applied.jobs, claimOffset: context.claimOffset },
      this.#position,
    )
    const headers = { [loggedAgainHeader]: String(claimedAt) }
    const entries = await logEntries(context, entriesOf(store, loggedKinds), headers)
    await logEntries(context, this.#tombstones(), headers)
    const ops: StoreOp[] = [{ key: ownerKey, value }]
    if (this.#position !== null) {
      const position = codecs.state.encode({
        position: { ...this.#position, claimOffset, claimedAt, committedAt: clock.nowMs() },
      })
      await logEntries(context, one({ key: positionKey, value: position }))
      ops.push({ key: positionKey, value: position })
    }
    const { next } = await rangeOf(admin, names.state, context.partition)
    context.positions.stateApplied(next)
    if (isSound) context.claimOffset = claimOffset
    context.otherLog = undefined
    const { claimOffset: appliedUnder, savedAtMs, zones } = context
    const offsets = { jobsOffset: context.positions.applied.jobs, stateOffset: next, claimOffset: appliedUnder }
    await store.apply([
      ...ops,
      checkpointOp({
        clusterId: context.shared.clusterId,
        prefix: context.shared.prefix,
        ...offsets,
        savedAtMs,
        zoneRules: zones.store,
      }),
    ])
    reportReset(context, 'state', this.#from, this.#found, 'beyond-end')
    logger.error(
      { event: 'states-logged-again', topic: names.state, partition: context.partition, entries },
      `${names.state}/${context.partition} was truncated, or deleted and created again. Nothing that was decided is lost: ${counted(entries, 'entry of the local store was', 'entries of the local store were')} logged again.`,
    )
  }

  /** Handles records that were committed after the log was replaced and are not part of the store, as after a crash. */
  async #follow(position: Position, value: Buffer): Promise<void> {
    const claimedAt = position.claimedAt || this.#readClaim
    if (claimedAt > this.#claimedAt) throw await leaveLog(this.#context, 'theirs', this.#from)
    const isLater = this.#position === null || position.committedAt > this.#position.committedAt
    if (claimedAt === this.#claimedAt && isLater && !this.#isCut) {
      await this.#store.apply([...(await changelogOps(this.#context.shared.codecs, this.#pending)), { key: positionKey, value }])
      this.#position = position
    }
    this.#forgetPending()
  }

  #hold(record: RecordIn): void {
    if (this.#isCut) return
    this.#pending.push(record)
    this.#pendingBytes += (record.key?.length ?? 0) + (record.value?.length ?? 0)
    if (this.#pending.length <= pendingEntriesMax && this.#pendingBytes <= pendingBytesMax) return
    this.#forgetPending()
    this.#isCut = true
  }

  #forgetPending(): void {
    this.#pending = []
    this.#pendingBytes = 0
    this.#isCut = false
  }

  async #note(records: readonly RecordIn[]): Promise<void> {
    const last = new Map<string, RecordIn>()
    for (const record of records) {
      const { key } = record
      if (key !== null && loggedKinds.some((kind) => kind === key[0])) last.set(key.toString('hex'), record)
    }
    const kept: Buffer[] = []
    for (const [name, { key, value }] of last) {
      if (value === null) this.#gone.delete(name)
      else if (key !== null) kept.push(key)
    }
    const known = await this.#store.get(kept)
    for (const [at, key] of kept.entries()) if (!known[at]) this.#gone.set(key.toString('hex'), key)
  }

  /** Keys that the lost part of the log had deleted must not come back with the rest of it. */
  async *#tombstones(): AsyncGenerator<StoreOp> {
    for (const key of this.#gone.values()) {
      const [value] = await this.#store.get([key])
      if (!value) yield { key, value: null }
    }
  }
}

async function* one(op: StoreOp): AsyncGenerator<StoreOp> {
  yield op
}

/**
 * Whether a position that was read proves that the log is not the one the store was built from: its claim is before what the
 * store has read, and is not the claim that the store knows there.
 */
export const isOfReplacedChangelog = (position: Position, known: { stateOffset: number; claimedAt: number }): boolean =>
  position.claimOffset < known.stateOffset && position.claimedAt > 0 && position.claimedAt !== known.claimedAt

/**
 * Handles a log that is another one. `theirs`: an owner has continued in it, so the store is rebuilt at its next open. Resolves
 * with the error to throw.
 */
export async function leaveLog(context: PartitionContext, otherLog: 'ours' | 'theirs', from: number): Promise<DuelogError> {
  const { names, prefix, clusterId } = context.shared
  const offsets = { jobsOffset: context.positions.applied.jobs, stateOffset: from, claimOffset: context.claimOffset }
  const mark = { clusterId, prefix, ...offsets, savedAtMs: context.savedAtMs, zoneRules: context.zones.store, otherLog }
  await context.store.apply([checkpointOp(mark)])
  const then = otherLog === 'theirs' ? ', and another owner has continued in it' : ''
  const message = `${names.state}/${context.partition} is not the log that the local store had read up to ${from}: it was truncated, or deleted and created again${then}.`
  return new DuelogError('log-shrunk', message)
}
