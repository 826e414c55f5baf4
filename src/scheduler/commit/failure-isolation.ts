/**
 * Finds the one timer or record that makes a turn fail whenever it is part of it. A turn that failed is tried again with half as much,
 * until it is alone; then its job is INVALID, without the run that it is about, and its neighbours go on. It outlives the reopening that
 * every failure ends with, and is forgotten with the process.
 *
 *   all ──fails──► half ──fails──► … ──► one ──fails──► its job is made INVALID ──fails──► without a dead letter ──fails──► passed over
 *    ▲──────────────done─────────────────────┘
 */
import { BoundedMap } from '../../concurrency/index.ts'
import { DuelogError, type ErrorCode, messageOf } from '../../errors/index.ts'
import type { AdmissionQueue } from '../limits/index.ts'

/** Turns that may be done without a suspect, for each suspect and once more: one alone is a timer, a heavy one, a mail, or one that waits. */
const turnsUnmetMax = 8
/** Brokers that are slow or lost make a turn no smaller than this share of the largest: each doubling back costs a commit, with all that waits behind it. */
const circumstancesShareMin = 8
/** Culprits that are remembered. */
const culpritsMax = 1_000
/** A timer that cannot be acted on is looked at again so much later. */
export const culpritWaitMs = 60_000

/** What a broker, or the writer itself, refuses because of what it holds: it fails however often it is tried. */
const refusals: ReadonlySet<ErrorCode> = new Set(['payload-too-large', 'record-refused', 'encode-failed'])
/** What has nothing to do with the records: whoever is alone then is not to blame. */
const circumstances: ReadonlySet<ErrorCode> = new Set([
  'fenced',
  'broker-unavailable',
  'registry-unavailable',
  'not-ready',
  'bad-config',
  'unsafe-topic',
  'log-shrunk',
])

/** What is done with an input that a turn failed with alone. */
export interface Verdict {
  reason: string
  /** The state that says so could not be written together with the dead letter of the run that ends: it is tried without. */
  hasLetter: boolean
  /** Also the state that says so could not be written: nothing is decided. */
  isPassedOver: boolean
}

export class FailureIsolation {
  readonly #most: number
  #max: number
  /** Inputs of the turn that failed last which no turn has done since. What came meanwhile is not among them. */
  #suspects: ReadonlySet<string> = new Set()
  /** Turns in a row that were done without any of them. */
  #unmet = 0
  #turns = 0
  #progress = false
  readonly #culprits = new BoundedMap<string, Verdict>(culpritsMax)
  /** An unexpected failure of one alone may be an accident. */
  #last: { name: string; message: string } | undefined

  constructor(most: number) {
    this.#most = most
    this.#max = most
  }

  /** Timers and mails that the next turn may take. */
  get max(): number {
    return this.#max
  }

  /** Of one alone: whether a timer goes first this time, where mail waits too. */
  get timerNext(): boolean {
    return this.#turns % 2 === 0
  }

  /** Of one alone: whether a timer of a heavy job goes before those of light ones, of which there may always be one. */
  get heavyNext(): boolean {
    return this.#turns % 4 < 2
  }

  /** Of one alone: whether it is one of those that wait for a slot. */
  isForWaiters(admissionQueue: Pick<AdmissionQueue, 'isPressing'>, now: number): boolean {
    return this.#max === 1 && this.#turns % 4 === 3 && admissionQueue.isPressing(now)
  }

  /** Whether the last failure has made the next turn smaller: then it need not wait. Asked once. */
  takeProgress(): boolean {
    const progress = this.#progress
    this.#progress = false
    return progress
  }

  /** Share of a turn's usual bytes that the next one may take. */
  get share(): number {
    return this.#max / this.#most
  }

  verdictOn(name: string): Verdict | undefined {
    return this.#culprits.size === 0 ? undefined : this.#culprits.get(name)
  }

  /** A turn with these inputs failed. */
  failed(names: readonly string[], error: unknown): void {
    this.#turns++
    this.#progress = this.#narrow(names, error)
  }

  /** True: the next turn is smaller, or passes its culprit over. */
  #narrow(names: readonly string[], error: unknown): boolean {
    const code = error instanceof DuelogError ? error.code : 'internal'
    const [name] = names
    if (code === 'fenced' || name === undefined) return false
    if (circumstances.has(code)) {
      // A smaller turn may get through where brokers are slow, but nobody is suspected: it grows again with the first that does.
      this.#max = Math.min(this.#max, Math.max(this.#most / circumstancesShareMin, names.length >> 1))
      return false
    }
    if (names.length > 1) {
      this.#max = Math.max(1, Math.min(this.#max, names.length) >> 1)
      const both = names.filter((each) => this.#suspects.has(each))
      this.#suspects = new Set(both.length > 0 ? both : names)
      this.#unmet = 0
      return true
    }
    this.#max = 1
    const message = messageOf(error)
    const again = this.#last?.name === name && this.#last.message === message
    this.#last = { name, message }
    if (!refusals.has(code) && !again) return true
    const before = this.#culprits.get(name)
    if (before?.isPassedOver) return false
    this.#suspects = new Set()
    this.#culprits.set(name, { reason: message, hasLetter: before === undefined, isPassedOver: before?.hasLetter === false })
    return true
  }

  /** A turn with these inputs was done. */
  succeeded(names: readonly string[]): void {
    this.#turns++
    this.#last = undefined
    if (this.#suspects.size > 0) {
      const done = new Set(names)
      const left = new Set([...this.#suspects].filter((name) => !done.has(name)))
      this.#unmet = left.size < this.#suspects.size ? 0 : this.#unmet + 1
      // They were due before all that came since: who does not come any more was done elsewhere, or deleted.
      this.#suspects = this.#unmet > turnsUnmetMax + turnsUnmetMax * left.size ? new Set() : left
    }
    // As long as the culprit stands among what is left of the turn that failed, a larger one would fail too.
    const { size } = this.#suspects
    this.#max = size > 0 ? Math.max(1, Math.min(this.#max, size >> 1)) : Math.min(this.#most, this.#max * 2)
  }
}
