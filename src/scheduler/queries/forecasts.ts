/** The forecasts of a process, and the lists of jobs that are due in a range. */
import type { Clock } from '../../clock/index.ts'
import { FairSlots, forecastSlots, type IdleTime, idleTime } from '../../concurrency/index.ts'
import type { Asker, DueCounts, DueJobs, DueRange, PartitionQueries, PartitionStore } from '../../ports/index.ts'
import type { SchedulerCodecs } from '../options/index.ts'
import { dueJobs } from './due-jobs.ts'
import { forecast } from './forecast.ts'

/** The forecasts of a process, one at a time. Each has some megabytes of timers in memory, so they must not add up. */
export class Forecasts {
  readonly #codecs: SchedulerCodecs
  readonly #places: FairSlots
  readonly #spare: Pick<IdleTime, 'rest'>

  constructor(codecs: SchedulerCodecs, clock: Pick<Clock, 'nowMs' | 'at'>, spare: Pick<IdleTime, 'rest'> = idleTime) {
    this.#codecs = codecs
    this.#spare = spare
    this.#places = new FairSlots({ what: 'forecasts', places: forecastSlots, clock })
  }

  /** Forecast of one partition. `store` is called when a slot is free. Rejects as FairSlots#run does. */
  async of(store: () => PartitionStore, range: DueRange, asker?: Asker): Promise<DueCounts> {
    return this.#places.run(async () => forecast(store(), this.#codecs, range, this.#spare), asker)
  }

  /** The jobs that are due in a range of one partition. It takes a slot as a forecast does. */
  async jobsOf(store: () => PartitionStore, range: Parameters<typeof dueJobs>[2], asker?: Asker): Promise<DueJobs> {
    return this.#places.run(async () => dueJobs(store(), this.#codecs, range, this.#spare), asker)
  }

  queries(storeOf: (partition: number) => PartitionStore): Pick<PartitionQueries, 'forecast' | 'dueJobs'> {
    return {
      forecast: (partition, range, asker) => this.of(() => storeOf(partition), range, asker),
      dueJobs: (partition, range, asker) => this.jobsOf(() => storeOf(partition), range, asker),
    }
  }
}
