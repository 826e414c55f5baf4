/**
 * Whether a wall clock may be decided by: a pure judgement over readings of it and of the steady clock, and over times at which brokers
 * appended records.
 *
 *   unproven ──brokers agree──► trusted ──step, or brokers say otherwise──► stopped ──brokers agree──► trusted
 *
 * A record that was sent at `sentMs` and acknowledged at `heardMs`, both by the steady clock, was appended in between. So the broker's
 * time runs along the steady clock within two bounds, and the wall clock is right as long as it runs within them, give or take `stepMsMax`.
 */

/** An append, as whoever sent it saw it. */
export interface Append {
  /** Which broker did it, as far as that is known. */
  source: string
  /** Steady clock before it was sent and after it was acknowledged. */
  sentMs: number
  heardMs: number
  /** The broker's time, epoch ms. */
  brokerMs: number
}

export interface TrustOptions {
  /** How far wall clock, steady clock and brokers may be apart, in ms. 0: nothing is compared. */
  stepMsMax: number
  /** Whether brokers must have agreed before the clock is trusted at all. Else it is trusted from the beginning. */
  needsProof: boolean
}

/** `step`: it was set, or the machine slept. `brokers`: they say another time. `unproven`: no broker has said a time yet. */
export type Distrust = 'step' | 'brokers' | 'unproven'

/** What an append says is forgotten after so long, in ms. */
const keptMs = 900_000
/** How fast a steady clock and that of a broker may run apart. */
const driftShare = 0.000_5
/** How fast the wall clock may be moved along the steady one; chrony's fastest correction is 83,333 ppm. */
const slewShare = 0.1
/** A pause between two readings counts as no longer than this for slewing. */
const slewedMs = 10_000
/** An answer that took so long says enough, however small `stepMsMax` is. */
const widthMsMin = 1_000
/** Without any word of a broker, and where none is needed, a clock that ran evenly for so long is trusted again. */
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
  /** Wall minus steady clock as it was last in order, and when. */
  #line: { offsetMs: number; atMs: number } | undefined
  #distrust: Distrust | undefined
  /** It drifted away from the brokers: a difference at the bound would end and begin that again and again. */
  #hasDrifted = false
  #sinceMs = 0
  #offsetMs: number | undefined
  #disagreeing: string[] = []

  constructor(options: TrustOptions) {
    this.#options = options
    if (options.needsProof && options.stepMsMax > 0) this.#distrust = 'unproven'
  }

  /** Why nothing may be decided, as of the last reading. */
  get distrust(): Distrust | undefined {
    return this.#distrust
  }
  /** Steady clock when that began or ended. */
  get sinceMs(): number {
    return this.#sinceMs
  }
  /** Wall clock minus the brokers', as of the last reading, by the latest append; undefined where none is known. */
  get offsetMs(): number | undefined {
    return this.#offsetMs
  }
  /** Brokers whose time is not ours, although the clock is trusted or not. */
  get disagreeing(): readonly string[] {
    return this.#disagreeing
  }

  appended({ source, sentMs, heardMs, brokerMs }: Append): void {
    this.#brokers.delete(source)
    // Brokers say whole milliseconds.
    this.#brokers.set(source, { lowMs: brokerMs - heardMs, highMs: brokerMs + 1 - sentMs, sentMs, atMs: heardMs })
    if (this.#brokers.size <= sourcesMax) return
    for (const oldest of this.#brokers.keys()) {
      this.#brokers.delete(oldest)
      return
    }
  }

  /**
   * Whether the wall clock, read together with the steady one just now, may be decided by. `mayTrust`: whether it may be trusted again; not
   * while brokers are still asked, of which the first to answer may be the one that is as wrong as we are.
   */
  look(wallMs: number, steadyMs: number, mayTrust = true): boolean {
    const { stepMsMax } = this.#options
    const offsetMs = wallMs - steadyMs
    const heard = this.#hear(offsetMs, steadyMs)
    if (stepMsMax === 0) return true
    const line = this.#line
    if (line === undefined) {
      this.#line = { offsetMs, atMs: steadyMs }
      this.#sinceMs = steadyMs
    }
    if (this.#distrust === undefined) {
      if (line !== undefined && Math.abs(offsetMs - line.offsetMs) > stepMsMax) this.#turn('step', offsetMs, steadyMs)
      else if (heard.against > heard.notAgainst) this.#turn('brokers', offsetMs, steadyMs)
      else this.#follow(offsetMs, steadyMs, heard.exact)
    } else if (mayTrust && this.#isRight(heard, offsetMs, steadyMs)) {
      if (heard.asked) this.#forget()
      this.#turn(undefined, offsetMs, steadyMs)
    } else if (heard.against > heard.notAgainst) this.#distrust = 'brokers'
    return this.#distrust === undefined
  }

  #turn(distrust: Distrust | undefined, offsetMs: number, steadyMs: number): void {
    this.#hasDrifted = distrust === 'brokers'
    this.#distrust = distrust
    this.#sinceMs = steadyMs
    this.#line = { offsetMs, atMs: steadyMs }
  }

  /** What was said before the clock stopped stays as wrong as it was: it would stop the clock again, until it is old. */
  #forget(): void {
    for (const [source, { sentMs }] of this.#brokers) if (sentMs < this.#sinceMs) this.#brokers.delete(source)
  }

  /** Small differences are taken over slowly, so that many of them in a row are still a step, unless a broker has just said the same. */
  #follow(offsetMs: number, steadyMs: number, isExact: boolean): void {
    const line = this.#line
    if (line === undefined) return
    const room = isExact ? Number.POSITIVE_INFINITY : Math.min(Math.max(steadyMs - line.atMs, 0), slewedMs) * slewShare
    const by = Math.min(Math.max(offsetMs - line.offsetMs, -room), room)
    this.#line = { offsetMs: line.offsetMs + by, atMs: steadyMs }
  }

  #isRight({ against, notAgainst, sure }: Heard, offsetMs: number, steadyMs: number): boolean {
    if (against + notAgainst > 0) return sure && notAgainst >= against
    if (this.#options.needsProof) return false
    const line = this.#line
    if (line !== undefined && Math.abs(offsetMs - line.offsetMs) <= this.#options.stepMsMax)
      return steadyMs - this.#sinceMs >= evenMs
    this.#line = { offsetMs, atMs: steadyMs }
    this.#sinceMs = steadyMs
    return false
  }

  /** How many brokers the wall clock contradicts, how many not, and whether one of these says enough to go by. */
  #hear(offsetMs: number, steadyMs: number): Heard {
    const { stepMsMax } = this.#options
    // An answer that took long says little. The longer we wait for a better one the more it counts.
    const widthMs = Math.max(2 * stepMsMax, widthMsMin, this.#distrust === undefined ? 0 : steadyMs - this.#sinceMs)
    // Of what was said before, either clock may have jumped away: once brokers were asked since, only that counts.
    const asked = this.#distrust !== undefined && [...this.#brokers.values()].some(({ sentMs }) => sentMs >= this.#sinceMs)
    const heard: Heard = { against: 0, notAgainst: 0, sure: false, exact: false, asked }
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
        heard.against++
        this.#disagreeing.push(source)
      } else {
        heard.notAgainst++
        const isSure = highMs - lowMs <= widthMs
        heard.sure ||= isSure
        heard.exact ||= isSure && apartMs <= 0 && ageMs <= slewedMs
      }
    }
    return heard
  }
}

interface Heard {
  against: number
  notAgainst: number
  sure: boolean
  /** One of these said so a moment ago, and the wall clock is within what it said. */
  exact: boolean
  /** Only what was said since the clock stopped counted. */
  asked: boolean
}
