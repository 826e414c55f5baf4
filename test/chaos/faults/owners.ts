/** Who owns what, as the schedulers themselves measure it: a fault needs an owner to hit. */
import { type SchedulerPlace, schedulerPlaces } from '../places.ts'
import type { Stage } from '../stage.ts'
import { urlOf } from '../stage.ts'

/** A running scheduler, chosen by the seed. All own partitions, as there are four for each. */
export function anyOwner(stage: Stage): SchedulerPlace {
  const running = schedulerPlaces.filter((place) => stage.system.schedulers[place].running)
  return running[Math.floor(stage.random() * running.length)] as SchedulerPlace
}

/** Resident memory of a process in MB. */
export async function memoryOf(stage: Stage, place: SchedulerPlace): Promise<number | undefined> {
  const text = await fetch(`${urlOf(stage, place)}/metrics`, { signal: AbortSignal.timeout(3_000) })
    .then((answer) => answer.text())
    .catch(() => '')
  const found = /^process_resident_memory_bytes ([\d.e+]+)/m.exec(text)?.[1]
  return found === undefined ? undefined : Math.round(Number(found) / 1_000_000)
}
