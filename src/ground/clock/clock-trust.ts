/**
 * Trust in a wall clock: a pure judgement from readings of the wall clock and the steady clock, and from append times of brokers.
 *
 *   unproven ──brokers agree──► trusted ──step, or brokers say otherwise──► stopped ──brokers agree──► trusted
 *
 * A record that was sent at `sentMs` and acknowledged at `heardMs`, both by the steady clock, was appended between these times. So the
 * difference between the broker's time and the steady clock has two bounds. The wall clock is right as long as it is within these bounds,
 * plus or minus `stepMsMax`.
 */

/** An append, as its sender saw it. */
export interface Append {
  /** Name of the broker, if it is known. */
  source: string
  /** Steady clock before it was sent and after it was acknowledged. */
  sentMs: number
  receivedMs: number
  /** The broker's time, epoch ms. */
  brokerMs: number
}

export interface TrustOptions {
  /** How far wall clock, steady clock and brokers may be apart, in ms. 0: nothing is compared. */
  stepMsMax: number
  /** Whether brokers must have agreed before the clock is trusted at all. Else it is trusted from the beginning. */
  needsProof: boolean
}

/** `step`: the clock was set, or the machine slept. `brokers`: they have another time. `unproven`: no broker has given its time yet. */
export type Distrust = 'step' | 'brokers' | 'unproven'

/** An append is forgotten after this time. */
const keptMs = 900_000
/** How fast a steady clock and the clock of a broker may drift apart. */
const driftShare = 0.000_5
/** How fast a time service may move the wall clock against the steady clock. The fastest correction of chrony is 83,333 ppm. */
const slewShare = 0.1
/** A pause between two readings counts as no longer than this for slewing. */
const slewedMs = 10_000
/** An answer within this time is exact enough, however small `stepMsMax` is. */
const widthMsMin = 1_000
/** If no broker has given its time and none is needed, a clock that ran evenly for this time is trusted again. */
export const evenMs = 30_000
const sourcesMax = 64

interface Bounds {
  lowMs: number
  highMs: number
  sentMs: number
  atMs: number
}

export class ClockTrust {
  readonly #options: TrustOptions
  readonly #brokers = new Map<string, Bounds>()
  /** Wall clock minus steady clock at the last trusted reading, and the time of that reading. */
  #line: { offsetMs: number; atMs: number } | undefined
  #distrust: Distrust | undefined
  /** The clock drifted away from the brokers. Then a smaller bound is used, so that a difference near the bound does not switch the state again and again. */
  #hasDrifted = false
  #sinceMs = 0
  #offsetMs: number | undefined
  #disagreeing: string[] = []

  constructor(options: TrustOptions) {
    this.#options = options
    if (options.needsProof && options.stepMsMax > 0) this.#distrust = 'unproven'
  }

  /** Why the clock was not trusted at the last reading. */
  get distrust(): Distrust | undefined {
    return this.#distrust
  }
  /** Time by the steady clock when the trust last changed. */
  get sinceMs(): number {
    return this.#sinceMs
  }
  /** Wall clock minus broker time at the last reading, by the latest append. Undefined: no append is known. */
  get offsetMs(): number | undefined {
    return this.#offsetMs
  }
  /** Brokers whose time differs, whether the clock is trusted or not. */
  get disagreeing(): readonly string[] {
    return this.#disagreeing
  }

  appended({ source, sentMs, receivedMs, brokerMs }: Append): void {
    this.#brokers.delete(source)
    // Brokers give whole milliseconds.
    this.#brokers.set(source, { lowMs: brokerMs - receivedMs, highMs: brokerMs + 1 - sentMs, sentMs, atMs: receivedMs })
    if (this.#brokers.size <= sourcesMax) return
    for (const oldest of this.#brokers.keys()) {
      this.#brokers.delete(oldest)
      return
    }
  }

  /**
   * Whether the wall clock is trusted, read together with the steady clock just now. `mayTrust`: whether it may be trusted again. It must
   * not while a query to the brokers is open, because the first broker to answer may be as wrong as this machine.
   */
  check(wallMs: number, steadyMs: number, mayTrust = true): boolean {
    const { stepMsMax } = this.#options
    const offsetMs = wallMs - steadyMs
    const votes = this.#countVotes(offsetMs, steadyMs)
    if (stepMsMax === 0) return true
    const line = this.#line
    if (line === undefined) {
      this.#line = { offsetMs, atMs: steadyMs }
      this.#sinceMs = steadyMs
    }
    if (this.#distrust === undefined) {
      if (line !== undefined && Math.abs(offsetMs - line.offsetMs) > stepMsMax) this.#setDistrust('step', offsetMs, steadyMs)
      else if (votes.against > votes.notAgainst) this.#setDistrust('brokers', offsetMs, steadyMs)
      else this.#follow(offsetMs, steadyMs, votes.exact)
    } else if (mayTrust && this.#isRight(votes, offsetMs, steadyMs)) {
      if (votes.asked) this.#forget()
      this.#setDistrust(undefined, offsetMs, steadyMs)
    } else if (votes.against > votes.notAgainst) this.#distrust = 'brokers'
    return this.#distrust === undefined
  }

  #setDistrust(distrust: Distrust | undefined, offsetMs: number, steadyMs: number): void {
    this.#hasDrifted = distrust === 'brokers'
    this.#distrust = distrust
    this.#sinceMs = steadyMs
    this.#line = { offsetMs, atMs: steadyMs }
  }

  /** Forgets the appends from before the clock stopped. They would stop it again until they are old. */
  #forget(): void {
    for (const [source, { sentMs }] of this.#brokers) if (sentMs < this.#sinceMs) this.#brokers.delete(source)
  }

  /** Small differences are accepted slowly, so that many in a row are still a step, unless a broker has just confirmed the clock. */
  #follow(offsetMs: number, steadyMs: number, isExact: boolean): void {
    const line = this.#line
    if (line === undefined) return
    const room = isExact ? Number.POSITIVE_INFINITY : Math.min(Math.max(steadyMs - line.atMs, 0), slewedMs) * slewShare
    const by = Math.min(Math.max(offsetMs - line.offsetMs, -room), room)
    this.#line = { offsetMs: line.offsetMs + by, atMs: steadyMs }
  }

  #isRight({ against, notAgainst, sure }: Votes, offsetMs: number, steadyMs: number): boolean {
    if (against + notAgainst > 0) return sure && notAgainst >= against
    if (this.#options.needsProof) return false
    const line = this.#line
    if (line !== undefined && Math.abs(offsetMs - line.offsetMs) <= this.#options.stepMsMax)
      return steadyMs - this.#sinceMs >= evenMs
    this.#line = { offsetMs, atMs: steadyMs }
    this.#sinceMs = steadyMs
    return false
  }

  /** How many brokers contradict the wall clock, how many do not, and whether one of the latter is exact enough. */
  #countVotes(offsetMs: number, steadyMs: number): Votes {
    const { stepMsMax } = this.#options
    // An answer that took long is inexact. The longer the clock is not trusted, the more inexact answers are accepted.
    const widthMs = Math.max(2 * stepMsMax, widthMsMin, this.#distrust === undefined ? 0 : steadyMs - this.#sinceMs)
    // Either clock may have jumped since the earlier answers. Once there are later answers, only these count.
    const asked = this.#distrust !== undefined && [...this.#brokers.values()].some(({ sentMs }) => sentMs >= this.#sinceMs)
    const votes: Votes = { against: 0, notAgainst: 0, sure: false, exact: false, asked }
    this.#disagreeing = []
    this.#offsetMs = undefined
    for (const [source, { lowMs, highMs, sentMs, atMs }] of this.#brokers) {
      const ageMs = Math.max(steadyMs - atMs, 0)
      if (ageMs > keptMs) {
        this.#brokers.delete(source)
        continue
      }
      if (asked && sentMs < this.#sinceMs) continue
      const driftMs = ageMs * driftShare
      const apartMs = Math.max(offsetMs - highMs, lowMs - offsetMs, 0) - driftMs
      this.#offsetMs = offsetMs - (lowMs + highMs) / 2
      if (apartMs > (this.#hasDrifted ? stepMsMax / 2 : stepMsMax)) {
        votes.against++
        this.#disagreeing.push(source)
      } else {
        votes.notAgainst++
        const isSure = highMs - lowMs <= widthMs
        votes.sure ||= isSure
        votes.exact ||= isSure && apartMs <= 0 && ageMs <= slewedMs
      }
    }
    return votes
  }
}

interface Votes {
  against: number
  notAgainst: number
  sure: boolean
  /** One of these answered a moment ago, and the wall clock is within its bounds. */
  exact: boolean
  /** Only answers since the clock stopped were counted. */
  asked: boolean
}
