/** What users do in the histories of copies, valid or not, what workers report, and what brokers remove. */
import type { JobCommandInput, JobState } from '../../../schemas/generated.ts'
import type { Chance } from '../../../src/testing/simulation/chance.ts'
import { onlyOverHeaders } from '../../../streams/state/condition.ts'
import { pristineState } from '../../../streams/state/draft.ts'
import { randomDefinition } from '../../streams/random-definition.ts'
import type { SchedulerDriver } from '../../tools/scheduler-driver.ts'
import { jobsOf } from '../cluster/settled.ts'
import { jobsOffsetIn } from '../cluster/simulation.ts'
import { codecs, names } from '../world.ts'

export const ids = ['a', 'b', 'c', 'd', 'e', 'f']

export const ofJobs = { define: 5, condition: 3, remove: 1 }
export const ofCommands = { command: 6, followUps: 2 }

export interface Habits {
  weights: Partial<typeof ofJobs & typeof ofCommands>
  /** Whether definitions have limits, which are counted in each partition. */
  limits: boolean
  /** Whether conditions name offsets, which mean nothing in another log. */
  offsets: boolean
  /** Default: any job. */
  id?: string | undefined
}

/** A random definition whose decisions do not depend on a few milliseconds more or less. */
function definitionOf(chance: Chance, nowMs: number, limits: boolean, jobId: string) {
  const { concurrencyKey, concurrencyLimit, rateLimit, pinTo: _, ...definition } = randomDefinition(chance, nowMs)
  const schedule = { ...definition.schedule, from: 'START' as const }
  // Whether an occurrence meets an active run is a matter of a millisecond in both. Without a next occurrence follow-ups wait all the same.
  const recurs = schedule.at === null && schedule.delayMs === null
  const overlap = { overlap: 'ALLOW' as const, ...(recurs && { maxConcurrentRuns: 100 }) }
  const { startDeadlineMs, retainCompletedMs } = definition
  // How long a job that follows itself goes on before its end is a matter of milliseconds too.
  const followers = (): string[] => (chance.happens(0.2) ? [chance.pick(ids)] : []).filter((id) => id !== jobId)
  const [onSuccess, onFailure] = [followers(), followers()]
  return {
    ...{ ...definition, schedule, ...overlap, target: { ...definition.target, pool: 'default' } },
    ...{ onSuccess, onFailure },
    // Reports come every 530 ms, and not for the first two seconds of a new owner. Of two that come together either may count as the last.
    ...{ startDeadlineMs: Math.max(startDeadlineMs, 3_000), retainFailedMs: retainCompletedMs },
    ...(limits && { concurrencyKey, concurrencyLimit, rateLimit }),
  }
}

/** One act of a user. */
export function act(driver: SchedulerDriver, chance: Chance, { weights, limits, offsets, id = chance.pick(ids) }: Habits): void {
  const what = chance.weighted(weights)
  if (what === 'define' || what === 'condition') {
    const spec = definitionOf(chance, driver.time.nowMs, limits, id)
    const inForce = statesOf(driver).get(id)?.specOffset ?? 0
    const over = chance.pick(['any', 'none', ...(offsets ? [inForce, inForce, chance.int(0, inForce + 3)] : [])] as const)
    const headers = what === 'condition' ? onlyOverHeaders(over) : {}
    driver.log.append([{ topic: names.jobs, ofJob: true, key: id, value: codecs.definition.encode(spec), headers }])
  } else if (what === 'remove') driver.remove(id)
  else if (what === 'followUps')
    for (let count = chance.int(1, 8); count > 0; count--)
      driver.command(id, { type: 'TRIGGER', trigger: 'FOLLOW_UP', commandId: `f${chance.int(0, 1e9)}` })
  else {
    const type = chance.pick(['TRIGGER', 'PAUSE', 'RESUME', 'CANCEL', 'CANCEL_RUN', 'REDRIVE', 'BACKFILL'] as const)
    const now = driver.time.nowMs
    const more: Partial<JobCommandInput> =
      type === 'BACKFILL'
        ? { from: now - 8_000, to: now }
        : type === 'CANCEL_RUN' || type === 'REDRIVE'
          ? { runNo: chance.int(1, 9) }
          : {}
    driver.command(id, { type, commandId: `c${chance.int(0, 1e9)}`, ...more })
  }
}

/** The states of all jobs, as the owner has them. One that nothing was decided about follows from its definition. */
export function statesOf(driver: SchedulerDriver): Map<string, JobState> {
  const owner = driver.processes.at(-1)
  const jobs = [...(owner?.disk.values() ?? [])].flatMap((store) => [...jobsOf(store)])
  return new Map(
    jobs.flatMap(([id, { definition, state }]): [string, JobState][] => {
      const known = state ?? (definition === undefined ? undefined : pristineState({ id, definition }))
      return known === undefined ? [] : [[id, known]]
    }),
  )
}

type Fate = 'start' | 'succeed' | 'die' | undefined

/** Reports about the attempts that are handed out. `fateOf`: what becomes of which. */
export function report(driver: SchedulerDriver, fateOf: (id: string, run: JobState['active'][number]) => Fate): void {
  for (const [jobId, state] of statesOf(driver))
    for (const run of state.active) {
      const { runNo, attempt, specOffset, status } = run
      const fate = status === 'DISPATCHED' || status === 'RUNNING' ? fateOf(jobId, run) : undefined
      const startedAt = driver.time.nowMs
      if (fate !== undefined && status === 'DISPATCHED')
        driver.report({ jobId, runNo, attempt, specOffset }, 'STARTED', { startedAt })
      if (fate === 'succeed') driver.report({ jobId, runNo, attempt, specOffset }, 'SUCCEEDED')
      if (fate === 'die')
        driver.report({ jobId, runNo, attempt, specOffset }, 'FAILED', { error: { type: 'E', message: 'm', retryable: false } })
    }
}

/** What the broker removes, up to what an owner has decided. */
export function compact({ log }: SchedulerDriver, chance: Chance): void {
  for (let partition = 0; partition < log.partitions; partition++) {
    const [state, jobs] = [log.at(names.state, partition), log.at(names.jobs, partition)]
    log.compact(state, chance.int(state.earliest, state.next), 0)
    log.compact(jobs, Math.min(chance.int(jobs.earliest, jobs.next), jobsOffsetIn(state)), 0)
  }
}
