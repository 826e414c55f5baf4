/**
 * What the topic `pauses` says. Each process reads all of it in a group of its own and follows its end, so a change arrives after some
 * milliseconds. While the topic cannot be read, what was read last holds, and the book tries again.
 */
import type { Pause, PauseInput } from '../../../schemas/index.ts'
import type { PoolPause } from '../../../streams/state/index.ts'
import type { TopicNames } from '../../../streams/topics/index.ts'
import { type Clock, waitFor } from '../../ground/clock/index.ts'
import { BoundedMap, type PartitionEnd, ReadPositions, RejoinTimer, withTimeout } from '../../ground/concurrency/index.ts'
import { DuelogError } from '../../ground/errors/index.ts'
import type { Logger } from '../../ground/logging/index.ts'
import type { Metrics } from '../../ground/metrics/index.ts'
import type {
  Batch,
  Codec,
  GroupReader,
  KnownPause,
  Log,
  LogAdmin,
  LogWriter,
  PauseControl,
  Pauses,
  RecordIn,
} from '../../ground/ports/index.ts'

/** Pauses that are kept. Any client may write to the topic; the oldest go first. */
export const pausesMax = 2_000
/** The start of a process waits no longer than this for the pauses. */
const startMsMax = 5_000
/** A change waits no longer than this until this process has read it. */
const ownReadMsMax = 5_000
/** Before the topic is read again after a failure, growing. */
const againMsMin = 1_000
const againMsMax = 60_000

export interface PauseBookOptions {
  log: Pick<Log, 'reader' | 'admin'>
  codec: Codec<Pause, PauseInput>
  names: TopicNames
  /** name@host:pid:boot of this process. */
  instance: string
  clock: Clock
  metrics: Metrics
  logger: Logger
  /** Owned by the caller. Absent: this process changes nothing. */
  writer?: LogWriter | undefined
}

export class PauseBook implements Pauses, PauseControl {
  readonly #options: PauseBookOptions
  readonly #known = new BoundedMap<string, KnownPause>(pausesMax)
  readonly #pools = new Map<string, PoolPause>()
  readonly #listeners = new Set<() => void>()
  readonly #positions: ReadPositions
  readonly #again: RejoinTimer
  /** The pauses that stood at the start. */
  #begin: PartitionEnd[] | undefined
  #admin: LogAdmin | undefined
  #reader: GroupReader | undefined
  #version = 0
  /** Readers that were made. Only the last one counts. */
  #readers = 0
  #hasFailed = false
  #stopped = false

  constructor(options: PauseBookOptions) {
    this.#options = options
    this.#positions = new ReadPositions(options.clock)
    this.#again = new RejoinTimer(options.clock, againMsMin, againMsMax)
  }

  /** Resolves when everything is read that was there, or after some seconds: a topic that cannot be read must not keep jobs from running. */
  async start(): Promise<void> {
    const { clock, logger } = this.#options
    const opened = this.#open()
    opened.catch((error) => this.#failed(error))
    const caughtUp = opened.then(() => this.#positions.reached(this.#begin ?? [], startMsMax))
    await withTimeout(clock, startMsMax, caughtUp)
    if (!this.#isCaughtUp)
      logger.warn(
        { event: 'pauses-not-read-yet' },
        'The topic pauses has not been read yet. Until it is, no pool and no worker counts as paused.',
      )
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#again.cancel()
    await this.#reader?.stop()
    await this.#admin?.close()
  }

  ofPool(pool: string): PoolPause | undefined {
    return this.#pools.get(pool)
  }

  isWorkerPaused(instance: string): boolean {
    return this.#known.has(`worker/${instance}`)
  }

  get version(): number {
    return this.#version
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  all(): KnownPause[] {
    return [...this.#known.values()]
  }

  async pause(pause: Omit<KnownPause, 'at'>): Promise<void> {
    const { codec, clock } = this.#options
    const key = `${pause.kind}/${pause.name}`
    if (!this.#known.has(key) && this.#known.size >= pausesMax)
      throw new DuelogError('overloaded', `${pausesMax} pools and workers are paused, and no more may be; resume some first.`)
    const { name, mode, actor, pools } = pause
    await this.#write(key, codec.encode({ name, mode, actor, pools, at: clock.nowMs() }))
  }

  async resume(kind: KnownPause['kind'], name: string): Promise<void> {
    const key = `${kind}/${name}`
    if (this.#known.has(key)) await this.#write(key, null)
  }

  async #write(key: string, value: Buffer | null): Promise<void> {
    const { writer, names } = this.#options
    if (writer === undefined) throw new DuelogError('not-ready', 'This process changes no pauses.')
    const offsets = await writer.write([{ topic: names.pauses, key, value }])
    const ends = Array.from(offsets, ([place, offset]) => {
      return { partition: Number(place.slice(place.lastIndexOf('/') + 1)), earliest: 0, next: offset + 1 }
    })
    await this.#positions.reached(ends, ownReadMsMax)
  }

  async #open(): Promise<void> {
    const { log, names, instance } = this.#options
    if (this.#stopped) return
    this.#admin ??= await log.admin()
    const ends = await this.#admin.offsets(names.pauses)
    for (const { partition, earliest } of ends) this.#positions.advance(partition, earliest)
    this.#begin ??= ends
    const number = ++this.#readers
    const isLast = (): boolean => number === this.#readers
    this.#reader = log.reader({
      groupId: names.group(`control.pauses:${instance}`),
      topics: [names.pauses],
      instance,
      onAssigned: () => ({ positions: this.#positions.of(names.pauses) }),
      onBatch: (batch) => this.#take(batch, isLast),
      onPassed: ({ partition, offset }) => {
        if (!isLast()) return
        this.#positions.advance(partition, offset)
        this.#positions.wake()
      },
      onCrash: (error) => this.#failed(error),
    })
    await this.#reader.start()
    this.#again.reset()
    this.#hasFailed = false
  }

  /** Logged once until it works again. */
  #failed(error: unknown): void {
    if (this.#stopped) return
    const { logger, names } = this.#options
    const text = `${names.pauses} cannot be read, so pools and workers stay paused or not as they were; it is tried again.`
    if (!this.#hasFailed) logger.warn({ event: 'pauses-not-readable', err: error, topic: names.pauses }, text)
    this.#hasFailed = true
    this.#again.start(
      () => this.#open(),
      (again) => this.#failed(again),
    )
  }

  /** A reader may be lost while its batch waits for the registry. The next reader reads these records again, and goes further. */
  async #take({ partition, records, highWatermark }: Batch, isLast: () => boolean): Promise<void> {
    if (!isLast()) return
    // The topic was created again, or has lost its end.
    if (highWatermark < (this.#positions.get(partition) ?? 0)) this.#positions.set(partition, 0)
    for (const record of records) {
      if (this.#positions.isRead(record)) continue
      const pause = record.value === null ? undefined : await this.#decoded(record.value)
      if (!isLast()) return
      this.#apply(record, pause)
      this.#positions.advance(partition, record.offset + 1)
    }
    this.#positions.wake()
  }

  #apply({ partition, offset, key, value }: RecordIn, pause: Pause | undefined): void {
    const [, kind, name = ''] = /^(pool|worker)\/(.{1,512})$/s.exec(key?.toString() ?? '') ?? []
    if (kind !== 'pool' && kind !== 'worker') return this.#refuse({ partition, offset }, 'its key is neither pool/… nor worker/…')
    if (value === null) return this.#changed({ kind, name }, undefined)
    if (pause === undefined) return this.#refuse({ partition, offset }, 'its value cannot be decoded')
    if (pause.name !== name) return this.#refuse({ partition, offset }, 'its key and its value name different ones')
    const { at, actor, pools } = pause
    this.#changed({ kind, name }, { kind, name, mode: pause.mode === 'DRAIN' ? 'DRAIN' : 'PAUSE', at, actor, pools })
  }

  /** Undefined for a value that no schema explains. A registry that does not answer is asked again. */
  async #decoded(value: Buffer): Promise<Pause | undefined> {
    const { codec, clock } = this.#options
    while (!this.#stopped) {
      try {
        return await codec.decode(value)
      } catch (error) {
        if (!(error instanceof DuelogError && error.code === 'registry-unavailable')) return undefined
        await waitFor(againMsMin, clock)
      }
    }
    return undefined
  }

  #refuse(place: { partition: number; offset: number }, why: string): void {
    const { metrics, logger, names } = this.#options
    metrics.invalid.inc({ reason: 'undecodable-pause' })
    logger.error(
      { event: 'pause-record-skipped', topic: names.pauses, ...place },
      `A record of ${names.pauses} is skipped: ${why}.`,
    )
  }

  #changed({ kind, name }: Pick<KnownPause, 'kind' | 'name'>, pause: KnownPause | undefined): void {
    const { metrics, logger } = this.#options
    const key = `${kind}/${name}`
    if (pause === undefined && !this.#known.has(key)) return
    if (pause === undefined) this.#known.delete(key)
    else this.#known.set(key, pause)
    if (kind === 'pool') {
      if (pause === undefined) this.#pools.delete(name)
      else this.#pools.set(name, { at: pause.at, isDrained: pause.mode === 'DRAIN' })
      metrics.poolPaused.set({ pool: name }, pause === undefined ? 0 : 1)
    }
    const verb = pause === undefined ? 'resumed' : pause.mode === 'DRAIN' ? 'drained' : 'paused'
    logger.info({ event: 'pause-changed', [kind]: name, actor: pause?.actor }, `The ${kind} ${name} is ${verb}.`)
    this.#version++
    for (const listener of this.#listeners) listener()
  }

  get #isCaughtUp(): boolean {
    return this.#begin !== undefined && this.#positions.hasReached(this.#begin)
  }
}
