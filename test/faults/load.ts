/** A steady load of jobs that fall due during the test, and the list of their expected occurrences. */
import { setTimeout as wait } from 'node:timers/promises'
import type { Job } from '../../src/clients/library/index.ts'
import type { Occurrence } from '../tools/checker-audit.ts'
import { type Portion, recurring, type Site } from './harness.ts'
import type { Chance } from './seeded.ts'

/** How long before they are due jobs are written, in portions of a span. */
const aheadMs = 400
const spanMs = 500
const recurrences = 12
const recurringEachMs = 5_000

export class Load {
  readonly expected: Occurrence[] = []
  readonly #site: Site
  readonly #perSecond: number
  readonly #chance: Chance
  readonly #stopped = new AbortController()
  readonly #running: Promise<void>
  #count = 0

  constructor(site: Site, perSecond: number, chance: Chance) {
    this.#site = site
    this.#perSecond = perSecond
    this.#chance = chance
    this.#running = this.#run()
    this.#running.catch(() => undefined)
  }

  /** Ends the load. Rejects when a write failed. */
  async stop(): Promise<void> {
    this.#stopped.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    let from = Date.now() + aheadMs
    let recurringFrom = from
    while (!this.#stopped.signal.aborted) {
      const portions: Portion[] = [this.#oneShots(from)]
      if (from >= recurringFrom) {
        portions.push(recurring(`again-${from}`, 4, from, 400, recurrences))
        recurringFrom += recurringEachMs
      }
      this.expected.push(...(await this.#site.write(...portions)))
      from += spanMs
      await wait(Math.max(0, from - aheadMs - Date.now()))
    }
  }

  #oneShots(from: number): Portion {
    const portion: Portion = { jobs: [], expected: [], recurs: false }
    for (let index = 0; index < (this.#perSecond * spanMs) / 1_000; index++) {
      const jobId = `shot-${this.#count++}`
      const scheduledFor = from + this.#chance.below(spanMs)
      portion.expected.push({ jobId, scheduledFor })
      portion.jobs.push(this.#oneShot(jobId, scheduledFor))
    }
    return portion
  }

  /** Mostly plain jobs. Some are deleted soon after they end, some need a second attempt. */
  #oneShot(id: string, at: number): Job {
    const chance = this.#chance
    const job: Job = { id, schedule: { at }, target: { handler: 'noop' } }
    const kind = chance.below(10)
    if (kind === 0) return { ...job, retainCompletedMs: 300 }
    if (kind === 1)
      return { ...job, target: { handler: 'fail' }, payload: { times: 1 }, retry: { backoff: { fixed: { delayMs: 200 } } } }
    return kind === 2 ? { ...job, priority: chance.pick(['HIGH', 'LOW']) } : job
  }
}
