/**
 * Finds the timer or input record that fails every commit cycle it is part of. A failed cycle is retried with half of its inputs,
 * until one is alone. Its job then becomes INVALID without the run concerned, and other jobs continue. This memory survives the
 * reopen after each failure, and ends with the process.
 *
 *   all ──fails──► half ──fails──► … ──► one ──fails──► its job is made INVALID ──fails──► without a dead letter ──fails──► skipped
 *    ▲──────────────done─────────────────────┘
 */
import { BoundedMap } from '../../ground/concurrency/index.ts'
import { DuelogError, type ErrorCode, messageOf } from '../../ground/errors/index.ts'
import { type Named, nameOf } from '../input/index.ts'
import type { AdmissionQueue } from '../limits/index.ts'

/**
 * Cycles that may succeed without a suspect, for each suspect and once more: a single one takes a timer, a heavy timer, an
 * input record, or a waiting run.
 */
const cyclesWithoutSuspectMax = 8
/**
 * Slow or unreachable brokers reduce a cycle to this fraction of the largest at least: each doubling back costs a commit, and
 * everything waits for it.
 */
const circumstancesShareMin = 8
/** Maximum number of culprits in memory. */
const culpritsMax = 1_000
/** Delay until a timer that cannot be processed is checked again. */
export const culpritWaitMs = 60_000

/** Errors by which a broker or the writer refuses a record for its content: every attempt fails. */
const refusals: ReadonlySet<ErrorCode> = new Set(['payload-too-large', 'record-refused', 'encode-failed'])
/** Errors that do not depend on the records: a single input is not the culprit then. */
const circumstances: ReadonlySet<ErrorCode> = new Set([
  'fenced',
  'broker-unavailable',
  'registry-unavailable',
  'not-ready',
  'bad-config',
  'unsafe-topic',
  'log-shrunk',
])

/** How to treat an input that failed a cycle alone. */
export interface Verdict {
  reason: string
  /** The INVALID state could not be written together with the dead letter of the ended run: it is tried without the letter. */
  hasDeadLetter: boolean
  /** The INVALID state could not be written either: nothing is decided. */
  isPassedOver: boolean
}

export class FailureIsolation {
  readonly #most: number
  #max: number
  /** Inputs of the last failed cycle that no cycle has applied since. Later inputs are not among them. */
  #suspects: ReadonlySet<string> = new Set()
  /** Consecutive cycles that succeeded without any of them. */
  #unmet = 0
  #cycles = 0
  #progress = false
  readonly #culprits = new BoundedMap<string, Verdict>(culpritsMax)
  /** The last unexpected failure of a single input. One failure may be an accident. */
  #last: { name: string; message: string } | undefined

  constructor(most: number) {
    this.#most = most
    this.#max = most
  }

  /** Maximum inputs of the next cycle. */
  get max(): number {
    return this.#max
  }

  /** With a limit of 1: whether a timer goes first although input records wait. */
  get timerNext(): boolean {
    return this.#cycles % 2 === 0
  }

  /** With a limit of 1: whether the timer of a heavy job goes before light ones, because a light one may always be due. */
  get heavyNext(): boolean {
    return this.#cycles % 4 < 2
  }

  /** With a limit of 1: whether it is a run that waits for a slot. */
  isForWaiters(admissionQueue: Pick<AdmissionQueue, 'isPressing'>, now: number): boolean {
    return this.#max === 1 && this.#cycles % 4 === 3 && admissionQueue.isPressing(now)
  }

  /** Whether the last failure reduced the next cycle, which then need not wait. Resets when read. */
  takeProgress(): boolean {
    const progress = this.#progress
    this.#progress = false
    return progress
  }

  /** Share of the usual bytes that the next cycle may take. */
  get share(): number {
    return this.#max / this.#most
  }

  /** How many of `wanted` inputs fit into the next cycle beside `others`. While it searches, each of them counts; it may be none. */
  fitting(wanted: number, others: number): number {
    return this.#max < this.#most ? Math.min(wanted, this.#max - others) : wanted
  }

  verdictOn(input: Named): Verdict | undefined {
    return this.#culprits.size === 0 ? undefined : this.#culprits.get(nameOf(input))
  }

  /** A cycle with these inputs failed. */
  failed(inputs: readonly Named[], error: unknown): void {
    this.#cycles++
    this.#progress = this.#narrow(inputs.map(nameOf), error)
  }

  /** True: the next cycle is smaller, or skips the culprit. */
  #narrow(names: readonly string[], error: unknown): boolean {
    const code = error instanceof DuelogError ? error.code : 'internal'
    const [name] = names
    if (code === 'fenced' || name === undefined) return false
    if (circumstances.has(code)) {
      // A smaller cycle may succeed with slow brokers, but no input is suspected: the limit grows again with the first success.
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
    this.#culprits.set(name, {
      reason: message,
      hasDeadLetter: before === undefined,
      isPassedOver: before?.hasDeadLetter === false,
    })
    return true
  }

  /** A cycle with these inputs succeeded. */
  succeeded(inputs: readonly Named[]): void {
    this.#cycles++
    this.#last = undefined
    if (this.#suspects.size > 0) {
      const done = new Set(inputs.map(nameOf))
      const left = new Set([...this.#suspects].filter((name) => !done.has(name)))
      this.#unmet = left.size < this.#suspects.size ? 0 : this.#unmet + 1
      // The suspects were due before all later inputs. A suspect that does not appear any more was applied elsewhere or
      // deleted.
      this.#suspects = this.#unmet > cyclesWithoutSuspectMax + cyclesWithoutSuspectMax * left.size ? new Set() : left
    }
    // While the culprit is among the remaining suspects, a larger cycle would fail too.
    const { size } = this.#suspects
    this.#max = size > 0 ? Math.max(1, Math.min(this.#max, size >> 1)) : Math.min(this.#most, this.#max * 2)
  }
}
