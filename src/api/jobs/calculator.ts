/**
 * Calculates times of schedules for previews, plans and counts, whose rules strangers choose. One thread does so for all callers, in turn. A
 * calculation that takes too long, or whose caller has gone, ends with its thread, and the next one begins another.
 */
import { once } from 'node:events'
import { deserialize, serialize } from 'node:v8'
import { Worker } from 'node:worker_threads'
import type { Clock } from '../../clock/index.ts'
import { FairSlots } from '../../concurrency/index.ts'
import { DuelogError, messageOf } from '../../errors/index.ts'
import type { Asker } from '../../ports/index.ts'
import { modulePath } from '../../process/index.ts'
import { calculationMsMax, calculatorIdleMs, calculatorStartMsMax } from '../schemas/index.ts'
import type { Calculations } from './calculation-thread.ts'

/** Memory of the thread for objects of JavaScript, in MB. */
const heapMb = 128

export class Calculator {
  readonly #clock: Pick<Clock, 'nowMs' | 'at'>
  readonly #slots: FairSlots
  /** Undefined: none was needed for a while. */
  #thread: Worker | undefined
  #idleTimer = (): void => {}

  constructor(clock: Pick<Clock, 'nowMs' | 'at'>) {
    this.#clock = clock
    this.#slots = new FairSlots({ what: 'calculations', places: 1, clock })
  }

  /**
   * `argsOf`: called when the calculation begins, which may be seconds later. Rejects with `bad-request` if it takes too long, as
   * FairSlots#run does, and with the signal's reason if its caller has gone.
   */
  run<Name extends keyof Calculations>(
    name: Name,
    argsOf: () => Parameters<Calculations[Name]>,
    asker?: Asker,
  ): Promise<ReturnType<Calculations[Name]>> {
    return this.#slots.run(async () => {
      asker?.signal?.throwIfAborted()
      this.#idleTimer()
      const thread = this.#thread ?? (await this.#started(asker?.signal))
      const question = serialize([name, argsOf()])
      const answer = this.#answerOf(thread, calculationMsMax, tooLong, asker?.signal)
      thread.postMessage(question)
      return deserialize(await answer)
    }, asker)
  }

  /** Ends the thread. */
  stop(): void {
    this.#idleTimer()
    void this.#thread?.terminate()
    this.#thread = undefined
  }

  async #started(signal: AbortSignal | undefined): Promise<Worker> {
    const resourceLimits = { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: 8 }
    const thread = new Worker(modulePath('./calculation-thread', import.meta.url), { name: 'calculations', resourceLimits })
    thread.unref()
    // Without a listener, an error between two calculations would end the process.
    thread.on('error', () => this.stop())
    this.#thread = thread
    await this.#answerOf(thread, calculatorStartMsMax, notStarted, signal)
    return thread
  }

  /** The next message of the thread. Whatever comes in its place ends the thread. */
  async #answerOf(thread: Worker, msMax: number, late: DuelogError, signal: AbortSignal | undefined): Promise<Uint8Array> {
    const { promise: ended, reject } = Promise.withResolvers<never>()
    const gone = (): void => reject(signal?.reason)
    const cancelTimer = this.#clock.at(this.#clock.nowMs() + msMax, () => reject(late))
    const listening = new AbortController()
    signal?.addEventListener('abort', gone)
    try {
      const [answer] = await Promise.race([once(thread, 'message', { signal: listening.signal }), ended])
      this.#idleTimer = this.#clock.at(this.#clock.nowMs() + calculatorIdleMs, () => this.stop())
      return answer
    } catch (error) {
      this.stop()
      if (error === late || signal?.aborted) throw error
      throw new DuelogError('internal', `The thread of the calculations has ended: ${messageOf(error)}`, { cause: error })
    } finally {
      cancelTimer()
      signal?.removeEventListener('abort', gone)
      listening.abort()
    }
  }
}

const tooLong = new DuelogError(
  'bad-request',
  `The calculation took longer than ${calculationMsMax / 1_000} s; ask for fewer jobs or times at once.`,
)
const notStarted = new DuelogError(
  'overloaded',
  `The thread of the calculations did not start within ${calculatorStartMsMax / 1_000} s; ask again later.`,
)
