/** Random valid definitions with short times, so that histories of a few steps reach the limits of several of them. */
import type { JobDefinition, JobDefinitionInput } from '../../schemas/generated.ts'
import type { Chance } from '../../src/testing/simulation/chance.ts'
import { completeDefinition } from '../../streams/definitions/definition-json.ts'

/** The maximum number of slots of a key. */
export const keySlotsMax = 2

/** `now`: the time in epoch ms around which the times of the definition lie. */
export function randomDefinition(chance: Chance, now: number): JobDefinition {
  const around = (): number => Math.max(0, now + chance.int(-20, 40) * 250)
  const maybe = <Value>(probability: number, value: () => Value): Value | null => (chance.happens(probability) ? value() : null)
  const startAt = maybe(0.15, around)
  const endAt = maybe(0.25, () => Math.max(startAt ?? 0, around()))
  const definition = completeDefinition({
    ...windowOf(chance, around, startAt, endAt),
    target: { handler: 'noop', pool: chance.pick(['default', 'other']) },
    ...randomPriority(chance),
    payload: maybe(0.3, () => Buffer.from('p')),
    overlap: chance.pick(['ALLOW', 'SKIP', 'QUEUE_ONE', 'CANCEL_PREVIOUS']),
    maxConcurrentRuns: chance.int(1, 3),
    ...limits(chance),
    catchUp: chance.pick(['SKIP', 'LATEST', 'ALL']),
    catchUpMax: chance.int(1, 5),
    misfireThresholdMs: chance.pick([0, 500, 1_000]),
    expireAt: maybe(0.2, around),
    maxRuns: maybe(0.2, () => chance.int(1, 4)),
    paused: chance.happens(0.1),
    pinTo: maybe(0.1, () => 'here'),
    version: maybe(0.2, () => chance.int(0, 3)),
    dedupKey: maybe(0.1, () => 'k'),
    dedupWindowMs: 1_000,
    onSuccess: chance.happens(0.1) ? ['next'] : [],
    onFailure: chance.happens(0.1) ? ['alarm'] : [],
    startDeadlineMs: chance.pick([1_000, 3_000, 86_400_000]),
    leaseMs: chance.pick([1_000, 30_000]),
    attemptTimeoutMs: chance.pick([500, 300_000]),
    retainCompletedMs: chance.pick([0, 2_000, 3_600_000]),
    retry: {
      maxAttempts: chance.int(1, 3),
      backoff: { list: [chance.pick([0, 400, 1_000, 70_000])] },
      maxAgeMs: maybe(0.2, () => chance.int(1, 5_000)),
    },
  })
  return definition
}

/** As the API stores it: a number has the word of its topic beside it. */
export function randomPriority(chance: Chance): Pick<JobDefinitionInput, 'priority' | 'priorityLevel'> {
  if (chance.happens(0.5)) return { priority: chance.pick(['HIGH', 'NORMAL', 'LOW']) }
  const priorityLevel = chance.int(0, 9)
  return { priorityLevel, priority: priorityLevel > 6 ? 'HIGH' : priorityLevel > 2 ? 'NORMAL' : 'LOW' }
}

function limits(chance: Chance): Partial<JobDefinitionInput> {
  return {
    ...(chance.happens(0.15) && { concurrencyKey: 'k', concurrencyLimit: chance.int(1, keySlotsMax) }),
    ...(chance.happens(0.15) && { rateLimit: { key: 'r', limit: chance.int(1, 2), perMs: chance.pick([250, 3_000]) } }),
  }
}

type Window = Pick<JobDefinitionInput, 'schedule' | 'startAt' | 'endAt'>

function windowOf(chance: Chance, around: () => number, startAt: number | null, endAt: number | null): Window {
  const kind = chance.weighted({ at: 2, delayMs: 1, everyMs: 4, cron: 1 })
  if (kind === 'at') return { schedule: { at: around() } }
  if (kind === 'delayMs') return { schedule: { delayMs: chance.int(0, 8) * 250 }, startAt, endAt }
  if (kind === 'cron') return { schedule: { cron: chance.pick(['* * * * * *', '*/3 * * * * *', '* * * * *']) }, startAt, endAt }
  const anchor = chance.happens(0.3) ? around() : null
  const from = chance.pick(['START', 'START', 'END'] as const)
  return { schedule: { everyMs: chance.pick([250, 1_000, 2_000]), anchor, from }, startAt, endAt }
}
