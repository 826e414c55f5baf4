/**
 * One partition of this process, from its assignment to its end.
 *
 *   restoring ──► warming ──► claiming ──► draining ──► active ──► closed
 *       ▲            (each of them, on any error: reopen)  │
 *       └──────────────────────────────────────────────────┘
 *
 *   restoring  the store is opened and job-state read from where it stands; the previous owner still fires
 *   warming    definitions are read as far as they need no commit
 *   claiming   the transactional id is taken, which fences the previous owner; a claim record is committed and read back, so that
 *              the state is the fold of all committed transactions
 *   draining   jobs and job-commands are folded up to their present end, so that a deletion acknowledged before the takeover is
 *              seen before any timer fires
 *   active     timers fire
 *
 * Any unexpected error has one remedy (invariant I6): forget everything in memory and begin at restoring, which fences our own
 * unknown transaction. Only a member whose heartbeat succeeded since may do so; otherwise two processes could fence each other for ever.
 */
import type { StateEntry } from '../../schemas/generated.ts'
import type { Timer } from '../../streams/keys.ts'
import { DuelogError, messageOf } from '../errors.ts'
import type { Batch, LogWriter, TransactionalWriter } from '../ports.ts'
import { type Feed, type FeedSource, feedSources } from './feed.ts'
import { Intake } from './intake.ts'
import { Leases } from './leases.ts'
import { localOp, ownerKey, positionKey, readLocal, unusable } from './local-record.ts'
import { Mailbox, type Source } from './mailbox.ts'
import type { Shared } from './options.ts'
import type { PartitionStore } from './ports.ts'
import { reconcile } from './reconcile.ts'
import { changelogOps } from './restore.ts'
import { Signal } from './signal.ts'
import type { Slots } from './slots.ts'
import { TimeIndex } from './time-index.ts'
import { TimerTaker } from './timer-taker.ts'
import { batchRecordsMax, type TurnContext, type TurnResult, turn } from './turn.ts'

export type Phase = 'restoring' | 'warming' | 'claiming' | 'draining' | 'active' | 'closed'

/** A partition so close to the end of a log claims; the rest is read behind the claim. */
const nearlyCaughtUp = 1_000
/** Reading that brings nothing for so long is at the end: what is left are control records and aborted ones, which no batch shows. */
const quietMs = 2_000
/** A member that lost the partition goes on firing at most so long while nobody fences it (design §4). */
export const handoffMs = 30_000

class Closed extends Error {}

/** What the partitions of one scheduler share besides its options. */
export interface PartitionShares {
  commits: Slots
  restores: Slots
  asides: LogWriter
  /** Told whenever a partition enters another phase. */
  phaseChanged: () => void
}

export class Partition {
  readonly number: number
  readonly #shared: Shared
  readonly #feed: Feed
  readonly #shares: PartitionShares
  readonly #signal: Signal
  readonly #mailbox = new Mailbox()
  readonly #leases = new Leases(0)
  readonly #intake: Intake
  readonly #waiting: { source: Source; offset: number; resolve: (applied: boolean) => void }[] = []
  #phase: Phase = 'restoring'
  #store: PartitionStore | undefined
  #writer: TransactionalWriter | undefined
  #applied: TurnContext['applied'] = { jobs: 0, commands: 0, events: 0, state: 0 }
  #touched = new Set<string>()
  #restoreEnd = 0
  #lastBatchAt = 0
  #closing = false
  #leavingAt = Number.POSITIVE_INFINITY
  readonly #closed = Promise.withResolvers<never>()
  readonly #ended: Promise<void>

  /** `after`: the end of an earlier ownership in this process, whose store has to be closed first. */
  constructor(number: number, shared: Shared, feed: Feed, shares: PartitionShares, after?: Promise<void>) {
    this.number = number
    this.#shared = shared
    this.#feed = feed
    this.#shares = shares
    this.#signal = new Signal(shared.clock)
    const { partitions, codecs, metrics, logger } = shared
    this.#intake = new Intake({ partition: number, partitions, codecs, leases: this.#leases, metrics, logger })
    this.#closed.promise.catch(() => undefined)
    this.#ended = Promise.resolve(after).then(() => this.#run())
  }

  get phase(): Phase {
    return this.#phase
  }
  get closing(): boolean {
    return this.#closing
  }
  get feed(): Feed {
    return this.#feed
  }
  get store(): PartitionStore | undefined {
    return this.#phase === 'active' ? this.#store : undefined
  }
  get mailboxDepth(): number {
    return this.#mailbox.depth
  }
  get jobsOffset(): number {
    return this.#applied.jobs
  }
  get restoreRemaining(): number {
    if (this.#phase === 'active' || this.#phase === 'closed') return 0
    return Math.max(0, this.#restoreEnd - (this.#phase === 'restoring' ? this.#applied.state : this.#applied.jobs))
  }

  /** Takes records that were read. Resolves when the next ones may come. */
  async receive(source: FeedSource, batch: Batch): Promise<void> {
    const records = batch.records.filter((record) => record.offset >= this.#feed.next(source))
    const last = records.at(-1)
    if (last === undefined || this.#closing || !this.#feed.isOpen(source)) return
    this.#lastBatchAt = this.#shared.clock.nowMs()
    if (source === 'state') await this.#receiveState(records)
    else {
      const openings = this.#feed.openings(source)
      for (const record of records) {
        const now = this.#intakeOf(source, record)
        const mail = now instanceof Promise ? await now : now
        if (mail === undefined || openings !== this.#feed.openings(source)) return
        this.#mailbox.put(mail)
        this.#feed.received(source, record.offset + 1)
      }
      this.#flow()
    }
    this.#signal.wake()
  }

  /** Resolves true once the record at `offset` is part of the store, false when the partition ends first. */
  applied(source: Source, offset: number): Promise<boolean> {
    if (this.#applied[source] > offset) return Promise.resolve(true)
    return new Promise((resolve) => this.#waiting.push({ source, offset, resolve }))
  }

  /** The group gave the partition to another member: it goes on firing until that one has fenced it. */
  leave(): void {
    if (this.#phase !== 'active') void this.close()
    this.#leavingAt = this.#shared.clock.nowMs() + handoffMs
    this.#signal.wake()
  }

  /** The group gave the partition back. */
  stay(): void {
    this.#leavingAt = Number.POSITIVE_INFINITY
  }

  /** Finishes the turn at hand and closes. */
  close(): Promise<void> {
    this.#closing = true
    this.#closed.reject(new Closed())
    this.#signal.wake()
    return this.#ended
  }

  async #run(): Promise<void> {
    while (!this.#closing) {
      try {
        await this.#live()
      } catch (error) {
        if (!(error instanceof Closed)) await this.#beforeReopen(error)
      }
      await this.#letGo()
    }
    this.#enter('closed')
    for (const { resolve } of this.#waiting.splice(0)) resolve(false)
  }

  #enter(phase: Phase): void {
    this.#phase = phase
    this.#shared.metrics.restoreRemaining.set({ partition: this.number }, this.restoreRemaining)
    this.#shares.phaseChanged()
  }

  async #beforeReopen(error: unknown): Promise<void> {
    const { metrics, logger } = this.#shared
    const fenced = error instanceof DuelogError && error.code === 'fenced'
    if (fenced) metrics.fenced.inc()
    if (this.#closing || this.#leavingAt !== Number.POSITIVE_INFINITY) {
      if (!fenced)
        logger.warn({ err: error, partition: this.number }, 'A partition that was being handed over ended with an error.')
      this.#closing = true
      return
    }
    metrics.reopens.inc({ reason: error instanceof DuelogError ? error.code : 'internal' })
    logger.warn({ err: error, partition: this.number }, `Partition ${this.number} is reopened: ${messageOf(error)}`)
    // Only a live member may fence. Should the group take the partition away meanwhile, leave() closes it.
    await this.#orClosed(this.#feed.nextHeartbeat()).catch(() => undefined)
  }

  async #letGo(): Promise<void> {
    const [writer, store] = [this.#writer, this.#store]
    this.#writer = undefined
    this.#store = undefined
    if (!this.#closing) this.#enter('restoring')
    for (const source of feedSources) this.#feed.close(source)
    this.#mailbox.clear()
    this.#touched.clear()
    await writer?.close().catch(() => undefined)
    await store
      ?.close()
      .catch((error) => this.#shared.logger.warn({ err: error, partition: this.number }, 'A local store did not close cleanly.'))
  }

  async #live(): Promise<void> {
    const store = await this.#shares.restores.run(() => this.#restore())
    const epoch = await this.#claim(store)
    const index = new TimeIndex(store)
    this.#mailbox.putBack(await reconcile(this.#shared.codecs, store, this.#touched, this.#applied.jobs))
    await this.#drain(this.#turnContext(store, index, epoch))
    this.#leases.grant(this.#shared.clock.nowMs())
    this.#enter('active')
    this.#shared.logger.info({ partition: this.number, epoch }, `Partition ${this.number} is active.`)
    await this.#fire(this.#turnContext(store, index, epoch))
  }

  /** restoring and warming: up to here the previous owner is not disturbed. */
  async #restore(): Promise<PartitionStore> {
    this.#enter('restoring')
    const { admin, names, clock } = this.#shared
    const store = await this.#openStore()
    const local = await readLocal(store)
    const [state, jobs] = [await endOf(admin, names.state, this.number), await endOf(admin, names.jobs, this.number)]
    this.#applied = { jobs: local?.jobsOffset ?? 0, state: local?.stateOffset ?? 0, commands: 0, events: 0 }
    this.#lastBatchAt = clock.nowMs()
    this.#restoreEnd = state
    this.#feed.open('state', this.#applied.state)
    await this.#caughtUp(() => this.#applied.state, state)
    this.#enter('warming')
    this.#restoreEnd = jobs
    this.#touched.clear()
    this.#feed.open('jobs', this.#applied.jobs)
    const context = this.#turnContext(store, new TimeIndex(store), 0)
    let blocked = false
    this.#lastBatchAt = clock.nowMs()
    while (!blocked && jobs - this.#applied.jobs > nearlyCaughtUp) {
      const result = await this.#turn(context, [])
      blocked = result.blocked
      if (result.folded > 0) this.#lastBatchAt = clock.nowMs()
      else if (!blocked) await this.#nap(this.#lastBatchAt + quietMs)
      if (clock.nowMs() - this.#lastBatchAt >= quietMs) break
    }
    return store
  }

  /** claiming: takes the transactional id, and reads the changelog up to the record that says so. */
  async #claim(store: PartitionStore): Promise<number> {
    this.#enter('claiming')
    const { log, prefix, names, codecs, instance, clock } = this.#shared
    await this.#orClosed(this.#feed.nextHeartbeat())
    const writer = await log.transactionalWriter(`${prefix}scheduler-${this.number}`)
    this.#writer = writer
    const epoch = ((await entryOf(this.#shared, store, ownerKey))?.owner?.epoch ?? 0) + 1
    const value = codecs.state.encode({ owner: { instance, epoch, claimedAt: clock.nowMs() } })
    const offsets = await writer.commit([{ topic: names.state, partition: this.number, key: ownerKey, value }])
    const claimedAt = offsets.get(`${names.state}/${this.number}`) ?? 0
    await this.#until(() => this.#applied.state > claimedAt)
    this.#feed.close('state')
    return epoch
  }

  /** draining: what was sent before the takeover is folded before any timer fires. */
  async #drain(context: TurnContext): Promise<void> {
    this.#enter('draining')
    const { admin, names, clock } = this.#shared
    const position = (await entryOf(this.#shared, context.store, positionKey))?.position
    this.#applied.commands = position?.commandsOffset ?? 0
    this.#applied.events = position?.eventsOffset ?? 0
    const [jobs, commands] = [await endOf(admin, names.jobs, this.number), await endOf(admin, names.commands, this.number)]
    this.#restoreEnd = jobs
    this.#feed.open('commands', this.#applied.commands)
    this.#feed.open('events', this.#applied.events)
    this.#lastBatchAt = clock.nowMs()
    const behind = (): boolean => this.#applied.jobs < jobs || this.#applied.commands < commands
    while (behind() || this.#mailbox.depth > 0) {
      const { folded } = await this.#turn(context, [])
      if (folded > 0) this.#lastBatchAt = clock.nowMs()
      else if (clock.nowMs() - this.#lastBatchAt >= quietMs) break
      else await this.#nap(this.#lastBatchAt + quietMs)
    }
  }

  /** active: the loop that fires. */
  async #fire(context: TurnContext): Promise<void> {
    const { clock, lingerMs } = this.#shared
    const taker = new TimerTaker(context.index, context.store, this.#shared)
    let lingerUntil = 0
    for (;;) {
      const now = clock.nowMs()
      if (now >= this.#leavingAt) {
        this.#closing = true
        throw new Closed()
      }
      this.#measure(taker.overdue(now))
      const hurry = taker.overdue(now) || this.#mailbox.urgent || this.#mailbox.depth >= batchRecordsMax
      const timers = now >= lingerUntil || hurry ? await taker.take(this.#mailbox.depth > 0) : undefined
      if (timers === undefined) {
        await this.#nap(lingerUntil)
        continue
      }
      const result = await this.#turn(context, timers, (timer) => taker.written(timer))
      taker.defer(result.deferred)
      if (result.committed) lingerUntil = clock.nowMs() + lingerMs
      if (result.folded > 0) continue
      await context.index.compactPassed()
      await this.#nap(Math.min(taker.wakeAt(clock.nowMs()), this.#leavingAt))
    }
  }

  #measure(overdue: boolean): void {
    const { metrics } = this.#shared
    metrics.timersOverdue.set({ partition: this.number }, overdue ? 1 : 0)
    metrics.mailboxDepth.set({ partition: this.number }, this.#mailbox.depth)
  }

  async #turn(context: TurnContext, timers: Timer[], written?: (timer: Timer) => void): Promise<TurnResult> {
    if (this.#closing) throw new Closed()
    const result = await turn({ ...context, writer: this.#writer, applied: this.#applied }, timers, written)
    this.#flow()
    this.#settleWaiting()
    return result
  }

  #turnContext(store: PartitionStore, index: TimeIndex, epoch: number): TurnContext {
    return {
      shared: this.#shared,
      partition: this.number,
      epoch,
      store,
      index,
      mailbox: this.#mailbox,
      leases: this.#leases,
      writer: this.#writer,
      asides: this.#shares.asides,
      slots: this.#shares.commits,
      applied: this.#applied,
    }
  }

  async #openStore(): Promise<PartitionStore> {
    const { stores, admin, names, clusterId, clock, tombstoneRetentionMs, logger } = this.#shared
    const opened = await stores.open(this.number)
    this.#store = opened.store
    const local = await readLocal(opened.store)
    if (opened.wiped !== undefined)
      logger.warn({ partition: this.number }, `The local store was unreadable and is built anew: ${opened.wiped}`)
    if (local === undefined) return opened.store
    const log = {
      clusterId,
      jobs: await rangeOf(admin, names.jobs, this.number),
      state: await rangeOf(admin, names.state, this.number),
    }
    const reason = unusable(local, log, clock.nowMs(), tombstoneRetentionMs)
    if (reason === undefined) return opened.store
    logger.warn({ partition: this.number }, `The local store of partition ${this.number} is built anew: ${reason}.`)
    await opened.store.close()
    await stores.wipe(this.number)
    this.#store = (await stores.open(this.number)).store
    return this.#store
  }

  async #receiveState(records: Batch['records']): Promise<void> {
    const store = this.#store
    const last = records.at(-1)
    if (store === undefined || last === undefined) return
    const ops = await changelogOps(this.#shared.codecs, records, (jobId) => {
      if (this.#phase !== 'restoring') this.#touched.add(jobId)
    })
    const { clusterId, clock } = this.#shared
    const next = last.offset + 1
    ops.push(localOp({ clusterId, jobsOffset: this.#applied.jobs, stateOffset: next, savedAtMs: clock.nowMs() }))
    await store.apply(ops)
    this.#applied.state = next
    this.#shared.metrics.restoreRemaining.set({ partition: this.number }, this.restoreRemaining)
    this.#feed.received('state', next)
  }

  /** At once wherever that is possible: this runs for every record. */
  #intakeOf(source: Source, record: Batch['records'][number]) {
    try {
      const mail = this.#intake.mail(source, record, this.#shared.clock.nowMs())
      return mail instanceof Promise ? mail.catch(() => this.#mailOf(source, record)) : mail
    } catch {
      return this.#mailOf(source, record)
    }
  }

  /** Waits for the registry as long as it takes: the record may be good. */
  async #mailOf(source: Source, record: Batch['records'][number]) {
    for (;;) {
      try {
        return await this.#intake.mail(source, record, this.#shared.clock.nowMs())
      } catch (error) {
        if (this.#closing) return undefined
        this.#shared.logger.warn(
          { err: error, partition: this.number },
          'A record waits for the schema registry; firing goes on.',
        )
        await new Promise<void>((resolve) => this.#shared.clock.at(this.#shared.clock.nowMs() + registryRetryMs, resolve))
      }
    }
  }

  #flow(): void {
    const change = this.#mailbox.flow()
    if (change === undefined) return
    for (const source of ['jobs', 'commands', 'events'] as const) {
      if (change === 'pause') this.#feed.hold(source)
      else this.#feed.release(source)
    }
  }

  #settleWaiting(): void {
    if (this.#waiting.length === 0) return
    for (const waiter of this.#waiting.splice(0)) {
      if (this.#applied[waiter.source] > waiter.offset) waiter.resolve(true)
      else this.#waiting.push(waiter)
    }
  }

  async #caughtUp(at: () => number, end: number): Promise<void> {
    const { clock } = this.#shared
    while (end - at() > nearlyCaughtUp && clock.nowMs() - this.#lastBatchAt < quietMs)
      await this.#nap(this.#lastBatchAt + quietMs)
  }

  async #until(condition: () => boolean): Promise<void> {
    while (!condition()) await this.#nap(Number.POSITIVE_INFINITY)
  }

  async #nap(untilMs: number): Promise<void> {
    if (this.#closing) throw new Closed()
    await this.#signal.wait(untilMs)
    if (this.#closing) throw new Closed()
  }

  /** The promise's value, unless the partition closes first. */
  #orClosed<T>(promise: Promise<T>): Promise<T> {
    return Promise.race([promise, this.#closed.promise])
  }
}

/** How long a record whose schema is unknown waits before the registry is asked again. */
const registryRetryMs = 1_000

async function rangeOf(admin: Shared['admin'], topic: string, partition: number): Promise<{ earliest: number; next: number }> {
  const found = (await admin.offsets(topic)).find((entry) => entry.partition === partition)
  if (found === undefined)
    throw new DuelogError(
      'unsafe-topic',
      `Topic ${topic} has no partition ${partition}; it has fewer than when Duelog began to use it.`,
    )
  return found
}

const endOf = async (admin: Shared['admin'], topic: string, partition: number): Promise<number> =>
  (await rangeOf(admin, topic, partition)).next

async function entryOf(shared: Shared, store: PartitionStore, key: Buffer): Promise<StateEntry | undefined> {
  const [value] = await store.get([key])
  return value ? shared.codecs.state.decode(value) : undefined
}
