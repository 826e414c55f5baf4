/** An occurrence as a one-shot job, and the handler that simulates the CI build. */
import { setTimeout as wait } from 'node:timers/promises'
import type { Job } from '../client/index.ts'
import { type Handler, NonRetryableError } from '../executor/index.ts'
import type { Occurrence } from './day-plan.ts'
import { attemptsMax, backoffMs, simulatedOutcomeOf } from './simulated-outcome.ts'

export const handlerName = 'ci-build'

/** The job that runs the occurrence once, in a day that starts at `startAt`. */
export function jobOf({ id, job, nominalAt, delayMs }: Occurrence, startAt: number): Job {
  const { name, group, cluster } = job
  return {
    id,
    schedule: { at: startAt + delayMs },
    target: { handler: handlerName },
    payload: { name, group, cluster, nominalTime: new Date(nominalAt).toISOString() },
    retry: { maxAttempts: attemptsMax, backoff: { list: [...backoffMs] } },
    tags: [group],
  }
}

/** A marker job: when its run is read, all earlier records of its partition have been read. */
export function markOf(id: string, at: number): Job {
  return { id, schedule: { at }, target: { handler: 'noop' } }
}

export const ciBuild: Handler = async (run) => {
  const { attempts, dead, hopeless, durationMs } = simulatedOutcomeOf(run.jobId)
  await wait(durationMs, undefined, { signal: run.signal })
  if (hopeless) throw new NonRetryableError('the build has no such target')
  if (run.attempt < attempts || dead) throw new Error(`a flaky build failed at attempt ${run.attempt}`)
  return { built: (run.payload as { name: string }).name, attempt: run.attempt }
}
