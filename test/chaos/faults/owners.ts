/** Who owns what, as the schedulers themselves measure it: a fault needs an owner to hit. */
import { type SchedulerPlace, schedulerPlaces } from '../places.ts'
import type { Stage } from '../stage.ts'

/** A running scheduler, chosen by the seed. All own partitions, as there are four for each. */
export function anyOwner(stage: Stage): SchedulerPlace {
  const running = schedulerPlaces.filter((place) => stage.system.schedulers[place].running)
  return running[Math.floor(stage.random() * running.length)] as SchedulerPlace
}
