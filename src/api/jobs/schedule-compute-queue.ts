/**
 * Schedules that somebody wants to see calculated. A rule may be made so that its next times take long to find, and many may be asked for;
 * whoever asks may only look, and what fires beside it has a few milliseconds. So they are calculated in pieces, callers in turn, each
 * followed by a rest; for nobody who has gone; and of one request for so long at most.
 */
import { stepsPerMs, stepsSpent } from '../../../streams/schedules/index.ts'
import { type Clock, systemClock } from '../../clock/index.ts'
import { FairSlots, type IdleTime, idleTime } from '../../concurrency/index.ts'
import { DuelogError } from '../../errors/index.ts'
import type { Asker } from '../../ports/index.ts'
import { computationMs, computationRequestMs, computationRequestSteps, computationsWaitingMax } from '../schemas/index.ts'

/** One request's: how long it has taken so far, and whom it is for. */
interface Request {
  usedSteps: number
  /** When it is given up. */
  untilMs: number
  asker: Asker
}

export interface ComputeQueueOptions {
  /** Of searches (streams/schedules/steps.ts), that one request may take. Default 200 million. */
  requestSteps?: number
  /** How long one request may take with all its waits, in ms. Default 30,000. */
  requestMs?: number
  /** After what is to be rested: after all that was calculated, or after searches alone, as where definitions are read to be written. Default all. */
  restsAfter?: 'all' | 'searches'
  clock?: Pick<Clock, 'nowMs' | 'at'>
  /** Says how long is rested. Default: that of this thread. */
  spare?: Pick<IdleTime, 'rest'>
}

export interface Computation {
  /** Gives what `work` gives, or throws what it throws. It takes milliseconds at most. */
  run<Result>(work: () => Result): Promise<Result>
  /** The same of work that may be left and gone on with wherever it yields. */
  runAll<Result>(pieces: Generator<void, Result>): Promise<Result>
}

export class ComputeQueue {
  readonly #places: FairSlots
  readonly #clock: Pick<Clock, 'nowMs'>
  readonly #requestSteps: number
  readonly #requestMs: number
  readonly #restsAfter: 'all' | 'searches'
  readonly #spare: Pick<IdleTime, 'rest'>
  /** Since the last rest: what was done, and what of it is to be rested after. */
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
   * What one request has calculated. Its work rejects with `overloaded` when too many wait or it has taken too long, with `bad-request` when
   * the request has taken too much, and with the signal's reason when nobody waits for it any more. `asker`: default nobody in particular.
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

  /** Lets all else have its turn once enough was done, and rests as the loop is busy. */
  async #rest(): Promise<void> {
    if (this.#usedMs < computationMs) return
    await this.#spare.rest(Math.min(this.#restedAfterMs, restedMsMax))
    this.#usedMs = 0
    this.#restedAfterMs = 0
  }
}

const tooDear = (steps: number): DuelogError =>
  new DuelogError(
    'bad-request',
    `What is asked for takes more than ${steps} steps of search; ask for fewer jobs or times at once.`,
  )

const tooLong = (ms: number): DuelogError =>
  new DuelogError(
    'overloaded',
    `What is asked for was not calculated within ${ms / 1_000} s, as runs that are due come first; ask again later, or for less at once.`,
  )

/** Goes on until it is done, or has had its milliseconds. */
function advance<Result>(pieces: Generator<void, Result>): { done: true; value: Result } | { done: false; value: undefined } {
  const untilMs = performance.now() + computationMs
  for (;;) {
    const { done, value } = pieces.next()
    if (done) return { done, value }
    if (performance.now() >= untilMs) return { done: false, value: undefined }
  }
}

/** Of a long piece of work in steps: lets all else have its turn once the steps have taken long enough. */
export class Turns {
  #sinceMs = performance.now()

  /** To be awaited before each step. */
  async pass(): Promise<void> {
    if (performance.now() - this.#sinceMs < computationMs) return
    await new Promise(setImmediate)
    this.#sinceMs = performance.now()
  }
}

/** A piece that waited for the processor was not all work. */
const restedMsMax = 3 * computationMs
