/**
 * Due runs that a worker that died may have started. One of them may have ended it, and ends this one too: before its owner knows of a start,
 * and before its offset is committed. Nothing would count that, and the run would go from worker to worker.
 *
 * So these start in waves. The starts of a wave are reported, and its offsets committed, before its handlers are called. Then nobody reads
 * them again, and an attempt that vanishes is a lost lease. The first waves have one run each, so that the one that ends its worker at once
 * takes no other with it. Later ones are ever larger, so that a backlog does not wait for long.
 *
 * A wave takes its turn among all due runs, with the rank of its first run. It begins with the best rank, and with the oldest of that.
 *
 * A worker that leaves says so with the last offset that it commits of each lane. Records before that offset start like any other run.
 */
import type { Clock } from '../../../ground/clock/index.ts'
import { withTimeout } from '../../../ground/concurrency/index.ts'
import type { Entry, Lane } from '../consume/index.ts'
import type { Attempt } from '../report/index.ts'
import { rankOfEntry } from './batch-collector.ts'

/** Waves of one run. */
export const wavesOfOne = 8
/** How long the next wave waits for the end of such a run, if it is not the first attempt. */
export const aloneMsMax = 1_000
/** Runs of one lane that start in waves. A death that comes later has moved the offset of the lane by as much. */
export const waveRunsPerLaneMax = 100
/** Runs of the largest wave. */
export const waveRunsMax = 256

const isOrdinary = ({ isOrphaned, startsInWaves }: Lane): boolean => isOrphaned === false || startsInWaves >= waveRunsPerLaneMax

/** False: that is not known yet, or it is ordinary. */
const isForWaves = ({ lane }: Entry): boolean => lane.isOrphaned === true && !isOrdinary(lane)

/** The next wave in the ready queue. */
export class WaveTurn {
  readonly level: number
  readonly dueAt: number

  constructor(level: number, dueAt: number) {
    this.level = level
    this.dueAt = dueAt
  }
}

/** `ended` settles when its handler has returned. */
export interface StartedRun {
  attempt: Attempt
  ended: Promise<unknown>
}

export interface RedeliveredRunsOptions {
  clock: Clock
  /** Whether a slot is free. */
  hasRoom(): boolean
  /** Sets isOrphaned of these lanes, or is called again. It must not reject. */
  lookForOrphans(lanes: readonly Lane[]): Promise<void>
  /** Starts a run whose handler is called when `known` resolves. Undefined: it does not start any more. */
  start(entry: Entry, known: Promise<void>): StartedRun | undefined
  /** It was taken, and starts like any other run now. */
  onOrdinary(entry: Entry): void
  /** Commits the offsets of what is reported. It must not reject. */
  commit(): Promise<void>
  /** A wave waits for its turn. */
  onTurn(turn: WaveTurn): void
  /** More may start: a wave has started, or it is known which runs are ordinary. */
  onClosed(): void
}

export class RedeliveredRuns {
  readonly #options: RedeliveredRunsOptions
  #due: Entry[] = []
  #isSorted = true
  #isOpen = false
  #turn: WaveTurn | undefined
  /** Lanes with an entry that waits until it is known whether its lane is orphaned. */
  #unknown = new Set<Lane>()
  #isLooking = false
  /** Since none waited. */
  #waves = 0

  constructor(options: RedeliveredRunsOptions) {
    this.#options = options
  }

  /** False: its lane was closed by its last reader, or waves have passed enough of it. So it starts like any other run. */
  takes(entry: Entry): boolean {
    if (!entry.redelivered || isOrdinary(entry.lane)) return false
    if (entry.lane.isOrphaned === undefined) this.#unknown.add(entry.lane)
    this.#due.push(entry)
    this.#isSorted = false
    return true
  }

  clear(): void {
    this.#due = []
    this.#turn = undefined
  }

  /** Takes a turn for the next wave, unless it has one or a wave is open. */
  offer(): void {
    this.#look()
    if (this.#isOpen || (this.#turn !== undefined && this.#isSorted)) return
    const first = this.#sorted().find(isForWaves)
    if (first === undefined) return
    const level = rankOfEntry(first)
    if (this.#turn !== undefined && this.#turn.level <= level) return
    this.#turn = new WaveTurn(level, first.dueAt)
    this.#options.onTurn(this.#turn)
  }

  /** The turn has come. A turn that a better one has replaced does nothing. */
  open(turn: WaveTurn): void {
    if (turn !== this.#turn) return
    this.#turn = undefined
    this.#isOpen = true
    void this.#wave().then((isNews) => {
      this.#isOpen = false
      if (this.#due.length === 0) this.#waves = 0
      if (isNews) this.#options.onClosed()
    })
  }

  #look(): void {
    if (this.#isLooking || this.#unknown.size === 0) return
    this.#isLooking = true
    const lanes = [...this.#unknown]
    this.#unknown.clear()
    void this.#options.lookForOrphans(lanes).then(() => {
      this.#isLooking = false
      for (const { lane, state } of this.#due) if (state === 'held' && lane.isOrphaned === undefined) this.#unknown.add(lane)
      this.#passOrdinary()
      // Those that were known before may be worse.
      this.#isSorted = false
      this.#options.onClosed()
    })
  }

  /** What still waits: the best rank first, and the oldest of each. */
  #sorted(): readonly Entry[] {
    this.#due = this.#due.filter(({ state }) => state === 'held')
    if (!this.#isSorted)
      this.#due.sort((a, b) => rankOfEntry(a) - rankOfEntry(b) || a.appendedAt - b.appendedAt || a.offset - b.offset)
    this.#isSorted = true
    return this.#due
  }

  async #wave(): Promise<boolean> {
    const { commit } = this.#options
    const known = Promise.withResolvers<void>()
    const wave = this.#start(known.promise)
    if (wave.length === 0) return this.#passOrdinary()
    await Promise.all(wave.map(({ attempt }) => attempt.reported()))
    await commit()
    known.resolve()
    await this.#alone(wave)
    this.#waves++
    this.#passOrdinary()
    return true
  }

  /**
   * The next wave calls its handlers when its own reports are acknowledged, so what ends its worker before that is alone. One that has failed
   * before may have been at work beside it, and would be again: their next attempts begin at the same time. It gets time to end.
   */
  async #alone(wave: readonly StartedRun[]): Promise<void> {
    const [{ attempt, ended }] = wave as [StartedRun]
    if (wave.length > 1 || this.#waves >= wavesOfOne || attempt.attempt === 1) return
    const settled = ended.catch(() => undefined)
    await withTimeout(this.#options.clock, aloneMsMax, settled)
  }

  #passOrdinary(): boolean {
    const ordinary = this.#due.filter(({ lane }) => isOrdinary(lane))
    if (ordinary.length === 0) return false
    this.#due = this.#due.filter(({ lane }) => !isOrdinary(lane))
    for (const entry of ordinary) this.#options.onOrdinary(entry)
    return true
  }

  #start(known: Promise<void>): StartedRun[] {
    const { start, hasRoom } = this.#options
    const runsMax = Math.min(2 ** Math.max(this.#waves - wavesOfOne + 1, 0), waveRunsMax)
    const wave: StartedRun[] = []
    this.#due = this.#sorted().filter((entry) => {
      // One before it in its lane that is not due would hold its offset back.
      const waits = wave.length >= runsMax || !isForWaves(entry) || entry.lane.entries.hasHeldBefore(entry.offset) || !hasRoom()
      const started = waits ? undefined : start(entry, known)
      if (!waits) entry.lane.startsInWaves++
      if (started !== undefined) wave.push(started)
      return waits
    })
    return wave
  }
}
