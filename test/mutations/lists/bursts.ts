/** Mutations of when large bursts are dispatched. */
import { area } from '../mutation.ts'

const planner = 'src/scheduler/timers/burst-planner.ts'

export const burstMutations = area(
  'large bursts',
  ['scheduler/timers/burst-planner'],
  [
    [
      'rate-not-measured',
      planner,
      '    this.#perMs += (perMs - this.#perMs) * newestShare\n',
      '',
      'a large burst of a slow partition is dispatched too late',
    ],
    [
      'pauses-in-a-burst',
      planner,
      'this.#cursor?.bucket === bucket ? now : ',
      '',
      'partitions that pause in turn look faster than they are together, and the last runs are late',
    ],
    [
      'small-cycles-measured',
      planner,
      'if (timers < measuredTimersMin) return',
      'if (timers === 0) return',
      'cycles with few timers make the lead of a small burst long',
    ],
    [
      'written-and-counted',
      planner,
      '    if (!isFoundLater) this.#note(timer)',
      '    this.#note(timer)',
      'timers that are written while they are counted count twice',
    ],
    ['counted-in-one-cycle', planner, 'slices < slicesPerTake && ', '', 'counting a large burst holds back all other timers'],
  ],
)
