/**
 * Moves virtual time. At each instant it lets everything happen that can happen, one step at a time and in an order that the seed chooses.
 * Then it goes on to the next instant at which something is due.
 */
import { setImmediate } from 'node:timers'
import { isoTime } from '../../streams/text/index.ts'
import { DuelogError } from '../ground/errors/index.ts'
import type { HandlerCalls } from './handler-calls.ts'
import { type Brokers, type Member, sessionMs } from './simulation/index.ts'

/** How long virtual time may go on for work that asks for no time, such as the start, in ms. */
const patienceMs = 600_000

export interface DriverOptions {
  brokers: Brokers
  calls: HandlerCalls
  /** The readers of all processes that run. */
  members: () => Iterable<Member>
  /** The most steps of one call. */
  stepsMax: number
}

/**
 * Turns of the event loop without any step after which a request waits for virtual time. It passes through client and server in fewer: only
 * promises, ticks and immediates run in it.
 */
const requestTurns = 8

/** A call that waits while another call moves time. */
interface Waiting {
  /** Time does not pass this instant without a rest there. */
  untilMs: number
  isOver: () => boolean
  resolve: () => void
}

export class Driver {
  readonly #options: DriverOptions
  #driving: Promise<void> | undefined
  readonly #waiting = new Set<Waiting>()
  /** Requests without an answer. */
  #requests = 0
  /** Turns in which nothing could happen, since a request was last seen to move. */
  #idleTurns = requestTurns
  /** An error of a process; every later call rejects with it. */
  failure: Error | undefined

  constructor(options: DriverOptions) {
    this.#options = options
  }

  /** Lets time pass to this instant, and everything happen that is due by then. One call moves time; the others wait for their instant. */
  async advance(untilMs: number): Promise<void> {
    if (this.#options.calls.isInside)
      throw new DuelogError(
        'bad-request',
        'A handler cannot move virtual time, because time waits for it. Use sleep to wait for time.',
      )
    const isThere = (): boolean => this.nowMs >= untilMs
    while (this.#driving !== undefined) if (await this.#rested(this.#driving, untilMs, isThere)) return
    await this.#drive(untilMs, () => true)
  }

  get nowMs(): number {
    return this.#options.brokers.time.nowMs
  }

  /**
   * Resolves with the result of this work, once everything that is due now has happened. A handler gets the result at once. If the work
   * needs time, time passes, for at most `patience`.
   */
  async during<Result>(work: Promise<Result>, patience = patienceMs): Promise<Result> {
    let isOver = false
    const over = (): void => {
      isOver = true
      this.#options.calls.touch()
    }
    work.then(over, over)
    if (this.#options.calls.isInside) {
      this.#options.calls.touch()
      return work
    }
    do {
      if (this.#driving === undefined) await this.#drive(this.nowMs, () => isOver, patience)
      else await this.#rested(this.#driving, Number.POSITIVE_INFINITY, () => isOver)
    } while (!isOver)
    return work
  }

  /**
   * The same for a request. A handler that waits for it sleeps: the answer may need time. `patience`: Infinity for what may last as long as
   * its caller wants.
   */
  async request<Answer>(send: () => Promise<Answer>, patience?: number): Promise<Answer> {
    const sleep = this.#options.calls.sleeping()
    this.#requests++
    this.#idleTurns = 0
    try {
      return await this.during(send(), patience)
    } finally {
      this.#requests--
      // What the caller does with the answer takes turns as well.
      this.#idleTurns = 0
      sleep.wake()
    }
  }

  /** Waits for the first instant at which this is over and nothing more can happen; false if the other call ends before. */
  async #rested(driving: Promise<void>, untilMs: number, isOver: () => boolean): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const waiting = { untilMs, isOver, resolve: () => resolve(true) }
    this.#waiting.add(waiting)
    const ended = (): void => resolve(false)
    driving.then(ended, ended)
    try {
      return await promise
    } finally {
      this.#waiting.delete(waiting)
    }
  }

  /** Lets time pass until this holds; false if it does not hold in time. */
  async until(isDone: () => Promise<boolean>, limitMs: number): Promise<boolean> {
    const untilMs = this.nowMs + limitMs
    for (;;) {
      if (await this.during(isDone())) return true
      if (this.nowMs >= untilMs) return false
      await this.advance(Math.min(Math.max(this.#nextMs, this.nowMs), untilMs))
    }
  }

  async #drive(untilMs: number, isDone: () => boolean, patience = patienceMs): Promise<void> {
    const driving = this.#rest(untilMs, isDone, patience)
    this.#driving = driving
    try {
      await driving
    } finally {
      this.#driving = undefined
    }
  }

  async #rest(untilMs: number, isDone: () => boolean, patience: number): Promise<void> {
    const { brokers, calls, stepsMax } = this.#options
    const { time } = brokers
    const patientUntilMs = Math.max(untilMs, time.nowMs) + patience
    for (let steps = 0; ; ) {
      await promisesRun()
      if (this.failure !== undefined) throw this.failure
      if (this.#step()) {
        if (++steps > stepsMax) throw this.#tooMany(stepsMax)
        if (this.#requests > 0) this.#idleTurns = 0
        continue
      }
      if (this.#idleTurns++ < requestTurns) continue
      if (calls.areWorking) {
        await calls.change()
        continue
      }
      if (this.#released()) continue
      const wantedMs = time.nowMs < untilMs ? untilMs : isDone() ? time.nowMs : patientUntilMs
      if (wantedMs === time.nowMs) return
      const nextMs = this.#nextMs
      if (time.nowMs >= untilMs && nextMs >= patientUntilMs)
        throw new DuelogError(
          'internal',
          `The test system waits for something that never comes, at ${isoTime(time.nowMs)}. Please report it.`,
        )
      if (this.#requests > 0) this.#idleTurns = 0
      time.nowMs = Math.min(Math.max(nextMs, time.nowMs), wantedMs, this.#nextRestMs)
      this.#endSessions()
    }
  }

  /** Ends the waits that are over at this instant; false if there is none. */
  #released(): boolean {
    let isOne = false
    for (const waiting of this.#waiting) {
      if (!waiting.isOver()) continue
      this.#waiting.delete(waiting)
      waiting.resolve()
      isOne = true
    }
    return isOne
  }

  get #nextRestMs(): number {
    let nextMs = Number.POSITIVE_INFINITY
    for (const { untilMs } of this.#waiting) nextMs = Math.min(nextMs, Math.max(untilMs, this.nowMs))
    return nextMs
  }

  /** One thing that can happen now; false if there is none. */
  #step(): boolean {
    const { brokers, members } = this.#options
    const { chance, io, time } = brokers
    const moves: [member: Member, move: Member['moves'][number]][] = []
    for (const member of members()) for (const move of member.moves) moves.push([member, move])
    const what = chance.weighted({
      io: io.ready > 0 ? 12 : 0,
      move: moves.length > 0 ? 6 : 0,
      timer: time.nextMs <= time.nowMs ? 6 : 0,
    })
    if (what === 'io') io.step()
    else if (what === 'timer') time.runDue()
    else if (what === 'move') {
      const [member, move] = chance.pick(moves)
      member.move(move)
    }
    return what !== undefined
  }

  get #nextMs(): number {
    const { time, groups } = this.#options.brokers
    let nextMs = time.nextMs
    for (const { members } of groups)
      for (const { machine } of members) if (!machine.alive) nextMs = Math.min(nextMs, machine.diedAt + sessionMs)
    return nextMs
  }

  /** Groups notice members that died. */
  #endSessions(): void {
    const { time, groups } = this.#options.brokers
    for (const group of groups)
      for (const member of group.members) if (time.nowMs - member.machine.diedAt >= sessionMs) group.leave(member)
  }

  #tooMany(stepsMax: number): DuelogError {
    const now = isoTime(this.#options.brokers.time.nowMs)
    return new DuelogError(
      'overloaded',
      `The test system has made ${stepsMax} steps in one call and is at ${now}. Advance in shorter stretches, or look for jobs that run very often or start each other without end; stepsMax sets the limit.`,
    )
  }
}

/** Waits until all promises have run. */
function promisesRun(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
