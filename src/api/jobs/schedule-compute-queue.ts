/**
 * Computes schedules for previews and plans. The next times of a rule may take long to find, many may be requested, and the
 * caller may have read access only, while runs that fire beside it have a few milliseconds. So computations run in pieces,
 * callers take turns, and a rest follows each piece. Requests of disconnected callers end, and each request has a time limit.
 */
import { stepsPerMs, stepsSpent } from '../../../streams/schedules/index.ts'
import { type Clock, systemClock } from '../../clock/index.ts'
import { FairSlots, type IdleTime, idleTime } from '../../concurrency/index.ts'
import { DuelogError } from '../../errors/index.ts'
import type { Asker } from '../../ports/index.ts'
import { computationMs, computationRequestMs, computationRequestSteps, computationsWaitingMax } from '../schemas/index.ts'

/** A request: the time it has used, and its caller. */
interface Request {
  usedSteps: number
  /** When the request fails with `overloaded`. */
  untilMs: number
  asker: Asker
}

export interface ComputeQueueOptions {
  /** Maximum search steps (streams/schedules/steps.ts) of one request. Default: 200 million. */
  requestSteps?: number
  /** Maximum duration of one request with all its waits, in ms. Default: 30,000. */
  requestMs?: number
  /** Which work a rest follows: all work, or searches only, as where definitions are read to be written. Default: all. */
  restsAfter?: 'all' | 'searches'
  clock?: Pick<Clock, 'nowMs' | 'at'>
  /** The source of rests. Default: that of this thread. */
  spare?: Pick<IdleTime, 'rest'>
}

export interface Computation {
  /** Returns the result of `work`, or throws its error. `work` takes milliseconds at most. */
  run<Result>(work: () => Result): Promise<Result>
  /** The same for work that may pause wherever it yields. */
  runAll<Result>(pieces: Generator<void, Result>): Promise<Result>
}

export class ComputeQueue {
  readonly #places: FairSlots
  readonly #clock: Pick<Clock, 'nowMs'>
  readonly #requestSteps: number
  readonly #requestMs: number
  readonly #restsAfter: 'all' | 'searches'
  readonly #spare: Pick<IdleTime, 'rest'>
  /** Time used since the last rest, and the part that a rest follows. */
  #usedMs = 0
  #restedAfterMs = 0

  constructor({
    requestSteps = computationRequestSteps,
    requestMs = computationRequestMs,
    restsAfter = 'all',
    clock = systemClock,
    spare = idleTime,
  }: ComputeQueueOptions = {}) {
    this.#places = new FairSlots({ what: 'schedules to be calculated', places: 1, clock, waitingMax: computationsWaitingMax })
    this.#clock = clock
    this.#requestSteps = requestSteps
    this.#requestMs = requestMs
    this.#restsAfter = restsAfter
    this.#spare = spare
  }

  /**
   * The computations of one request. They reject with `overloaded` if too many wait or the request took too long, with
   * `bad-request` if its work is too large, and with the signal's reason after a disconnect. `asker`: default is an anonymous
   * caller.
   */
  of(asker: Asker = { caller: '' }): Computation {
    const request: Request = { usedSteps: 0, untilMs: this.#clock.nowMs() + this.#requestMs, asker }
    return {
      run: (work) => this.#inTurn(request, work),
      runAll: async (pieces) => {
        for (;;) {
          const { done, value } = await this.#inTurn(request, () => advance(pieces))
          if (done) return value
        }
      },
    }
  }

  #inTurn<Result>(request: Request, work: () => Result): Promise<Result> {
    return this.#places.run(async () => {
      request.asker.signal?.throwIfAborted()
      if (request.usedSteps > this.#requestSteps) throw tooDear(this.#requestSteps)
      if (this.#clock.nowMs() > request.untilMs) throw tooLong(this.#requestMs)
      await this.#rest()
      const [before, beganMs] = [stepsSpent(), performance.now()]
      try {
        return work()
      } finally {
        const steps = stepsSpent() - before
        request.usedSteps += steps
        this.#took(performance.now() - beganMs, steps)
      }
    }, request.asker)
  }

  #took(ms: number, steps: number): void {
    this.#usedMs += ms
    this.#restedAfterMs += this.#restsAfter === 'all' ? ms : Math.min(ms, steps / stepsPerMs)
  }

  /** Yields to other work after enough was done, and rests according to the load of the event loop. */
  async #rest(): Promise<void> {
    if (this.#usedMs < computationMs) return
    await this.#spare.rest(Math.min(this.#restedAfterMs, restedMsMax))
    this.#usedMs = 0
    this.#restedAfterMs = 0
  }
}

const tooDear = (steps: number): DuelogError =>
  new DuelogError('bad-request', `The request takes more than ${steps} search steps; ask for fewer jobs or times at once.`)

const tooLong = (ms: number): DuelogError =>
  new DuelogError(
    'overloaded',
    `The request was not calculated within ${ms / 1_000} s, because due runs have priority; send it again later, or ask for less at once.`,
  )

/** Runs until it is done or its milliseconds are used. */
function advance<Result>(pieces: Generator<void, Result>): { done: true; value: Result } | { done: false; value: undefined } {
  const untilMs = performance.now() + computationMs
  for (;;) {
    const { done, value } = pieces.next()
    if (done) return { done, value }
    if (performance.now() >= untilMs) return { done: false, value: undefined }
  }
}

/** For long work in steps: yields to other work after the steps have taken long enough. */
export class EventLoopYielder {
  #sinceMs = performance.now()

  /** To be awaited before each step. */
  async yieldIfDue(): Promise<void> {
    if (performance.now() - this.#sinceMs < computationMs) return
    await new Promise(setImmediate)
    this.#sinceMs = performance.now()
  }
}

/** A piece that waited for the processor was not all work. */
const restedMsMax = 3 * computationMs
