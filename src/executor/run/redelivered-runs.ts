/**
 * Due runs that a worker that died may have started. One of them may have ended it, and ends this one too: before its owner knows of a start,
 * and before its offset is committed. Nothing would count that, and the run would go from worker to worker.
 *
 * So these start in waves, oldest first. The starts of a wave are reported, and its offsets committed, before its handlers are called. Then
 * nobody reads them again, and an attempt that vanishes is a lost lease. The first waves have one run each, which gets some time to end, so
 * that the one that ends its worker takes no other with it. Later ones are ever larger, so that a backlog does not wait for long.
 *
 * Nobody knows of an untracked run. Its starts since a worker died with it are told to the next reader with the offset of its lane. While one
 * is started for the last time, no other redelivered run is started.
 *
 * A worker that leaves says so with the last offset that it commits of each lane. What was before that in the log starts like any other run.
 */
import { type Clock, trustedMs } from '../../clock/index.ts'
import { withTimeout } from '../../concurrency/index.ts'
import type { Entry, Lane } from '../consume/index.ts'
import type { Attempt } from '../report/index.ts'

/** Starts of an untracked run since a worker died with it. */
export const restartsMax = 2
/** Waves of one run. */
export const wavesOfOne = 8
/** How long the next wave waits for the end of such a run. */
export const aloneMsMax = 1_000
/** Runs of one lane that start in waves. A death that comes later has moved the offset of the lane by as much. */
export const waveRunsPerLaneMax = 100
/** Runs of the largest wave. */
export const waveRunsMax = 256

const isLastStart = (entry: Entry | undefined): boolean => (entry?.restarts ?? 0) >= restartsMax

const isOrdinary = ({ isOrphaned, startsInWaves }: Lane): boolean => isOrphaned === false || startsInWaves >= waveRunsPerLaneMax

/** `ended` settles when its handler has returned. */
export interface StartedRun {
  attempt: Attempt
  ended: Promise<unknown>
}

export interface RedeliveredRunsOptions {
  clock: Clock
  /** Whether a slot is free. */
  hasRoom(): boolean
  /** Sets isOrphaned of these lanes. It must not reject. */
  lookForOrphans(lanes: readonly Lane[]): Promise<void>
  /** Starts a run whose handler is called when `known` resolves. Undefined: it does not start any more. */
  start(entry: Entry, known: Promise<void>): StartedRun | undefined
  /** The run starts like any other: its lane was closed by its last reader, or waves have passed enough of it. */
  onOrdinary(entry: Entry): void
  /** Commits the offsets of what is reported. It must not reject. */
  commit(): Promise<void>
  /** A wave has started, or there are ordinary runs. */
  onClosed(): void
}

export class RedeliveredRuns {
  readonly #options: RedeliveredRunsOptions
  #due: Entry[] = []
  #isSorted = true
  #isOpen = false
  /** Since none waited. */
  #waves = 0

  constructor(options: RedeliveredRunsOptions) {
    this.#options = options
  }

  add(entry: Entry): void {
    this.#due.push(entry)
    this.#isSorted = false
  }

  clear(): void {
    this.#due = []
  }

  /** Opens the next wave, unless one is open. */
  open(): void {
    const { clock, hasRoom, onClosed } = this.#options
    if (this.#isOpen || this.#due.length === 0 || !hasRoom() || trustedMs(clock) === undefined) return
    this.#isOpen = true
    void this.#wave().then((hasStarted) => {
      this.#isOpen = false
      if (this.#due.length === 0) this.#waves = 0
      if (hasStarted) onClosed()
    })
  }

  async #wave(): Promise<boolean> {
    const { commit, lookForOrphans } = this.#options
    const unknown = new Set(this.#due.map(({ lane }) => lane).filter(({ isOrphaned }) => isOrphaned === undefined))
    if (unknown.size > 0) await lookForOrphans([...unknown])
    const hasOrdinary = this.#passOrdinary()
    if (!this.#isSorted) this.#due.sort((a, b) => a.appendedAt - b.appendedAt || a.offset - b.offset)
    this.#isSorted = true
    const known = Promise.withResolvers<void>()
    const wave = this.#start(known.promise)
    if (wave.length === 0) return hasOrdinary
    await Promise.all(wave.map(({ attempt }) => attempt.reported()))
    await commit()
    known.resolve()
    // Handlers that end their worker at once have done so before the next wave.
    await new Promise((resolve) => setImmediate(resolve))
    await this.#alone(wave)
    this.#waves++
    return true
  }

  /** Gives the only run of a wave time to end: an untracked one that is not started again all that it needs, the first ones a while. */
  async #alone(wave: readonly StartedRun[]): Promise<void> {
    const [{ attempt, ended }] = wave as [StartedRun]
    const settled = ended.catch(() => undefined)
    if (isLastStart(attempt.entry)) await settled
    else if (wave.length === 1 && this.#waves < wavesOfOne) await withTimeout(this.#options.clock, aloneMsMax, settled)
  }

  #passOrdinary(): boolean {
    const ordinary = this.#due.filter(({ lane }) => isOrdinary(lane))
    if (ordinary.length === 0) return false
    this.#due = this.#due.filter(({ lane }) => !isOrdinary(lane))
    for (const entry of ordinary) {
      entry.redelivered = false
      this.#options.onOrdinary(entry)
    }
    return true
  }

  #start(known: Promise<void>): StartedRun[] {
    const { start, hasRoom } = this.#options
    const runsMax = Math.min(2 ** Math.max(this.#waves - wavesOfOne + 1, 0), waveRunsMax)
    const wave: StartedRun[] = []
    this.#due = this.#due.filter((entry) => {
      if (entry.state !== 'held') return false
      // One before it in its lane that is not due would hold its offset back.
      const isFull = wave.length >= runsMax || (wave.length > 0 && (entry.restarts > 0 || isLastStart(wave[0]?.attempt.entry)))
      const waits = isFull || isOrdinary(entry.lane) || entry.lane.hasHeldBefore(entry) || !hasRoom()
      const started = waits ? undefined : start(entry, known)
      if (!waits) entry.lane.startsInWaves++
      if (started !== undefined) wave.push(started)
      return waits
    })
    return wave
  }
}
