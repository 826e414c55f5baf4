/** Finds the owners by what the schedulers measure themselves: a fault needs an owner to hit. */
import { type SchedulerPlace, schedulerPlaces } from '../places.ts'
import type { Stage } from '../stage.ts'

/** A running scheduler, chosen by the seed. Each owns partitions, because there are four for each. */
export function anyOwner(stage: Stage): SchedulerPlace {
  const running = schedulerPlaces.filter((place) => stage.system.schedulers[place].running)
  return running[Math.floor(stage.random() * running.length)] as SchedulerPlace
}
