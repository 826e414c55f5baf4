/** Limits that jobs share, on the real broker, while their owner is killed and rebuilds its store. */
import { rm } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { createWorker, type Job } from '../../src/clients/library/index.ts'
import { clean } from '../tools/checker-audit.ts'
import { DuelogProcess, type Test } from '../tools/duelog-process.ts'
import { oneShots, openSite, type Portion, type Site } from './harness.ts'
import { chance, printedSeed } from './seeded.ts'

const slots = 3
const rateLimit = { key: 'shared', limit: 5, perMs: 700 }

test('of 200 jobs of one key at most three run at once, and all run, while their owner is killed repeatedly', {
  timeout: 180_000,
}, async (context) => {
  const site = await openSite(context, { partitions: 1 })
  const handlers = await openBusyWorker(context, site)
  const portion = limited(oneShots('keyed', 200, Date.now() + 1_000, 1), { concurrencyKey: 'shared', concurrencyLimit: slots })
  const expected = await site.write(portion)
  await dieAt(context, site, handlers, [30, 80, 130])
  await site.checker.succeeded(expected)
  expect(handlers.most).toBe(slots)
  expect(mostInLogOrder(site)).toBeLessThanOrEqual(slots)
  expect(await site.checker.audit(expected)).toEqual(clean)
})

test('40 jobs of one rateLimit never exceed it in any window, and all run, while their owner is killed', {
  timeout: 180_000,
}, async (context) => {
  const site = await openSite(context, { partitions: 1 })
  const handlers = await openBusyWorker(context, site)
  const expected = await site.write(limited(oneShots('rated', 40, Date.now() + 1_000, 1), { rateLimit }))
  await dieAt(context, site, handlers, [7, 18])
  await site.checker.succeeded(expected)
  const starts = site.checker.executions.map(({ dueAt }) => dueAt).sort((left, right) => left - right)
  for (const [index, at] of starts.entries()) {
    const beyond = starts[index + rateLimit.limit]
    if (beyond !== undefined) expect(beyond - at).toBeGreaterThanOrEqual(rateLimit.perMs)
  }
  expect(await site.checker.audit(expected)).toEqual(clean)
})

const limited = ({ jobs, ...rest }: Portion, limits: Partial<Job>): Portion => ({
  ...rest,
  jobs: jobs.map((job) => ({ ...job, ...limits, target: { handler: 'busy' } })),
})

/**
 * Owners one after another. Each is killed when this number of handlers has begun. Every second one leaves no store. The last one
 * lives.
 */
async function dieAt(context: Test, site: Site, handlers: Handlers, begun: number[]): Promise<void> {
  let next = DuelogProcess.scheduler(context, site.plan)
  for (const [index, count] of begun.entries()) {
    const owner = (await next).go()
    next = DuelogProcess.scheduler(context, site.plan)
    await handlers.begun(count)
    await owner.kill()
    if (index % 2 === 1) await rm(site.plan.folder, { recursive: true, force: true })
  }
  ;(await next).go()
}

interface Handlers {
  /** The most handlers that ran at once. */
  readonly most: number
  /** Resolves when this many have begun. */
  begun(count: number): Promise<void>
}

/** A worker whose handlers take a random time. */
async function openBusyWorker(context: Test, { plan }: Site): Promise<Handlers> {
  const { brokers, registryUrl, prefix: topicPrefix } = plan
  const luck = chance(printedSeed())
  const waiting: { count: number; resolve: () => void }[] = []
  let [begun, now, most] = [0, 0, 0]
  const busy = async (): Promise<void> => {
    begun++
    most = Math.max(most, ++now)
    for (const { count, resolve } of waiting) if (begun >= count) resolve()
    await wait(luck.below(40))
    now--
  }
  const worker = createWorker({ brokers, registryUrl, topicPrefix, handlers: { busy }, logger: pino({ level: 'silent' }) })
  context.onTestFinished(() => worker.close())
  await worker.start()
  return {
    get most() {
      return most
    },
    begun: (count) => (begun >= count ? Promise.resolve() : new Promise((resolve) => waiting.push({ count, resolve }))),
  }
}

/**
 * The most attempts that had begun and not ended, in the order of the events' log. An owner reads the end of one run there before
 * it admits another, so this needs no clock.
 */
function mostInLogOrder({ checker }: Site): number {
  const running = new Set<string>()
  let most = 0
  for (const { type, jobId, attempt } of checker.events.toSorted((left, right) => left.offset - right.offset)) {
    if (type === 'STARTED') running.add(`${jobId}/${attempt}`)
    else if (type !== 'HEARTBEAT') running.delete(`${jobId}/${attempt}`)
    most = Math.max(most, running.size)
  }
  return most
}
