/** Random definitions. Each history has users of one kind, so some histories test a few features deeply and others test many. */
import type { JobDefinitionInput, Schedule, TargetInput } from '../../../schemas/generated.ts'
import type { Chance } from '../../../src/testing/simulation/chance.ts'
import { randomPriority } from '../../streams/random-definition.ts'
import { ordersTopic } from '../world.ts'
import type { Cluster } from './process.ts'

/**
 * The tag of an id alone chooses the partition. Users who ignore tags write these two jobs elsewhere, and owners move the
 * records.
 */
export const jobIds = ['a', 'b', 'c', 'd', 'e{t}', 'f{t}']

/** A header of each definition. Its number is unique, so it identifies the definition of a record in a user's topic. */
export const madeHeader = 'made'

/** The keys of limits, constant during a history. */
const slotsOf = { one: 1, three: 3 } as const
const ratesOf = { slow: { limit: 1, perMs: 900 }, bursts: { limit: 3, perMs: 4_000 } } as const

const habits = {
  define: 8,
  again: 3,
  remove: 2,
  trigger: 2,
  pause: 1,
  resume: 2,
  cancel: 0.5,
  cancel_run: 1,
  redrive: 1,
  backfill: 0.5,
  garbage: 1,
  strange: 1,
  burst: 0,
}

/** The features that each kind of user prefers, and the actions that it does more or less often. */
const kinds = {
  all: { topics: 0.15, links: 0.2, pins: 0.1, habits },
  orders: { topics: 0.8, links: 0.2, pins: 0, habits },
  chains: {
    topics: 0.1,
    links: 0.9,
    pins: 0,
    habits: { ...habits, define: 2, remove: 0.5, garbage: 0.1, trigger: 4, cancel_run: 2 },
  },
  past: {
    topics: 0,
    links: 0.1,
    pins: 0.1,
    habits: { ...habits, define: 3, remove: 0.5, garbage: 0.2, redrive: 6, backfill: 6 },
  },
}

/**
 * Payload sizes of histories with large payloads. A payload has at most 524,288 bytes, and a commit cycle writes 4 MiB (ADR
 * 0035).
 */
const heavyBytes = [0, 70_000, 200_000, 500_000]
const heaviestPayload = Buffer.alloc(524_288, ' ')

export class Definitions {
  readonly #cluster: Cluster
  readonly #chance: Chance
  readonly #kind: (typeof kinds)[keyof typeof kinds]
  /** Whether jobs of this history have limits. */
  readonly #limited: boolean

  constructor(cluster: Cluster) {
    this.#cluster = cluster
    this.#chance = cluster.chance
    this.#kind = kinds[this.#chance.pick(['all', 'all', 'orders', 'chains', 'past'] as const)]
    this.#limited = this.#chance.happens(0.4)
  }

  /** How often these users do each action. */
  get habits(): typeof habits {
    const { isHeavy, getsFull, pauses } = this.#cluster
    return isHeavy || getsFull || pauses ? { ...this.#kind.habits, burst: 1.5 } : this.#kind.habits
  }

  /** A definition of a burst: its runs are active at the same time. Where users have large payloads, it has the largest. */
  ofBurst(): JobDefinitionInput {
    const chance = this.#chance
    const { nowMs } = this.#cluster.time
    return {
      schedule: { at: nowMs + chance.pick([0, 500, 3_000]) },
      payload: this.#cluster.isHeavy ? heaviestPayload : this.payload(),
      target: { handler: 'noop' },
      retry: { maxAttempts: chance.int(1, 2), backoff: { fixed: { delayMs: chance.pick([0, 1_000]) } } },
      attemptTimeoutMs: 4_000,
      leaseMs: chance.pick([1_000, 3_000]),
      startDeadlineMs: chance.pick([5_000, 30_000]),
      maxConcurrentRuns: 16,
      retainCompletedMs: chance.pick([0, 1_500]),
      retainFailedMs: chance.pick([0, 1_500]),
      // Some expire while their pool is paused.
      ...(this.#cluster.pauses && chance.happens(0.5) && { expireAt: nowMs + chance.int(2_000, 20_000) }),
    }
  }

  payload(): Buffer {
    const number = this.#chance.int(0, 1_000_000)
    const text = Buffer.from(String(number))
    // No further random choice, so that a seed has the same history with small payloads.
    const bytes = this.#cluster.isHeavy ? (heavyBytes[number % heavyBytes.length] ?? 0) : 0
    return bytes === 0 ? text : Buffer.concat([text, Buffer.alloc(bytes, ' ')])
  }

  next(id: string): JobDefinitionInput {
    const schedule = this.#schedule()
    const target = this.#target()
    return {
      schedule,
      jitterMs: this.#chance.happens(0.3) ? this.#chance.pick([1, 300, 700]) : 0,
      payload: this.payload(),
      ...randomPriority(this.#chance),
      ...target,
      ...(this.#limited && this.#limits(target.target)),
      ...this.#rules(),
      ...this.#window(schedule),
      ...this.#links(id),
    }
  }

  #schedule(): Partial<Schedule> {
    const chance = this.#chance
    const now = this.#cluster.time.nowMs
    const schedules: (() => Partial<Schedule>)[] = [
      () => ({ at: now + chance.int(-3_000, 8_000) }),
      () => ({ delayMs: chance.int(0, 6_000) }),
      () => ({ everyMs: chance.pick([900, 2_000, 7_000]) }),
      () => ({ everyMs: chance.pick([1_000, 5_000]), anchor: now + chance.int(-9_000, 5_000) }),
      () => ({ everyMs: chance.pick([800, 3_000]), from: 'END' as const }),
      () => ({ cron: chance.pick(['*/3 * * * * *', '*/20 * * * * *']) }),
      () => ({ rrule: chance.pick(['FREQ=SECONDLY;INTERVAL=4', 'FREQ=MINUTELY;BYSECOND=5,25,50']), timezone: 'Europe/Paris' }),
    ]
    return chance.pick(schedules)()
  }

  #target(): { target: TargetInput; pinTo: string | null } {
    const chance = this.#chance
    if (!chance.happens(this.#kind.topics)) {
      const handlers = [{ handler: 'noop' }, { handler: 'noop' }, { http: { url: `http://example.org/${chance.int(1, 9)}` } }]
      return { target: chance.pick(handlers), pinTo: chance.happens(this.#kind.pins) ? 'worker' : null }
    }
    const key = chance.pick([null, Buffer.from('one'), Buffer.from('two')])
    return { target: { topic: { name: ordersTopic, key, partition: chance.pick([null, null, 0, 1]) } }, pinTo: null }
  }

  #limits({ topic }: TargetInput): Partial<JobDefinitionInput> {
    const chance = this.#chance
    const slots = chance.pick(['one', 'three'] as const)
    const rate = chance.pick(['slow', 'bursts'] as const)
    const keyed = chance.happens(0.5) && (topic ?? null) === null
    return {
      ...(keyed && { concurrencyKey: slots, concurrencyLimit: slotsOf[slots] }),
      ...(chance.happens(0.4) && { rateLimit: { key: rate, ...ratesOf[rate] } }),
    }
  }

  #rules(): Partial<JobDefinitionInput> {
    const chance = this.#chance
    const retries = [{ list: [300, 1_200, 4_000] }, { fixed: { delayMs: 0 } }, { exponential: { baseMs: 500 } }]
    return {
      retry: {
        maxAttempts: chance.int(1, 3),
        maxAgeMs: chance.happens(0.1) ? 5_000 : null,
        backoff: chance.pick(retries),
        jitter: chance.pick([0, 0.5]),
      },
      attemptTimeoutMs: chance.pick([1_000, 4_000]),
      leaseMs: chance.pick([1_000, 3_000]),
      startDeadlineMs: chance.pick([1_000, 5_000, 30_000]),
      catchUp: chance.pick(['SKIP', 'LATEST', 'ALL']),
      catchUpMax: chance.pick([1, 2, 5, 200]),
      misfireThresholdMs: chance.pick([0, 1_000]),
      overlap: chance.pick(['ALLOW', 'SKIP', 'QUEUE_ONE', 'CANCEL_PREVIOUS']),
      version: chance.happens(0.3) ? chance.int(1, 4) : null,
      dedupKey: chance.happens(0.2) ? chance.pick(['k', 'l']) : null,
      dedupWindowMs: 1_500,
      maxConcurrentRuns: chance.pick([1, 3, 16]),
      paused: chance.happens(0.1),
      retainCompletedMs: chance.pick([0, 1_500, 3_600_000]),
      retainFailedMs: chance.pick([0, 1_500, 3_600_000]),
    }
  }

  #window({ everyMs, cron, rrule }: Partial<Schedule>): Partial<JobDefinitionInput> {
    const chance = this.#chance
    const now = this.#cluster.time.nowMs
    const repeated = everyMs !== undefined || cron !== undefined || rrule !== undefined
    return {
      expireAt: chance.happens(this.#cluster.pauses === undefined ? 0.1 : 0.25) ? now + chance.int(2_000, 20_000) : null,
      maxRuns: chance.happens(0.2) ? chance.int(1, 4) : null,
      startAt: repeated && chance.happens(0.2) ? now + chance.int(-2_000, 4_000) : null,
      endAt: repeated && chance.happens(0.3) ? now + chance.int(4_000, 15_000) : null,
    }
  }

  /** Jobs trigger only jobs with later ids. Otherwise two jobs could trigger each other forever. */
  #links(id: string): Partial<JobDefinitionInput> {
    const chance = this.#chance
    const some = (): string[] =>
      chance.happens(this.#kind.links) ? jobIds.filter((other) => other > id && chance.happens(0.4)) : []
    return { onSuccess: some(), onFailure: some() }
  }
}
