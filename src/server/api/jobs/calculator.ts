/**
 * Calculates times of schedules for previews, plans and counts, whose rules strangers choose. One thread does so for all callers, in turn. A
 * calculation that takes too long, or whose caller has gone, ends with its thread, and the next one begins another.
 */
import type { Clock } from '../../../ground/clock/index.ts'
import { FairSlots } from '../../../ground/concurrency/index.ts'
import { DuelogError } from '../../../ground/errors/index.ts'
import type { Asker } from '../../../ground/ports/index.ts'
import { modulePath, ThreadCalls } from '../../../ground/process/index.ts'
import { calculationMsMax, calculatorIdleMs, calculatorStartMsMax } from '../schemas/index.ts'
import { type Calculations, calculations } from './calculations.ts'

const tooLong = new DuelogError(
  'bad-request',
  `The calculation took longer than ${calculationMsMax / 1_000} s; ask for fewer jobs or times at once.`,
)
const notStarted = new DuelogError(
  'overloaded',
  `The thread of the calculations did not start within ${calculatorStartMsMax / 1_000} s; ask again later.`,
)

export class Calculator {
  readonly #slots: FairSlots
  readonly #calls: ThreadCalls

  constructor(clock: Pick<Clock, 'nowMs' | 'at'>) {
    this.#slots = new FairSlots({ what: 'calculations', places: 1, clock })
    this.#calls = new ThreadCalls({
      what: 'the calculations',
      file: modulePath('./calculation-thread', import.meta.url),
      ...{ name: 'calculations', heapMb: 128, youngMb: 8 },
      // Mostly by a calculation that needs too much memory, which would fail again.
      diedCode: 'internal',
      ...{ clock, msMax: calculationMsMax, late: tooLong, endsIt: ['late', 'gone'], idleMs: calculatorIdleMs },
    })
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
      // A thread that starts late goes on with it, for the next caller: on a busy machine the second start would be as late.
      const begin = { msMax: calculatorStartMsMax, late: notStarted, endsIt: [] }
      await this.#calls.call('begin', [], asker?.signal, begin)
      return this.#calls.call(name, argsOf(), asker?.signal)
    }, asker)
  }

  /** Ends the thread. */
  stop(): Promise<void> {
    return this.#calls.stop()
  }
}

/** For tests of users, whose rules are their own: without a thread and without a limit. */
export const calculatorHere: Pick<Calculator, 'run' | 'stop'> = {
  run: async (name, argsOf) => (calculations[name] as (...args: unknown[]) => never)(...argsOf()),
  stop: async () => {},
}
