/**
 * Jobs that trigger one another, with kill −9 of a participating process, repeated until the chain is complete. Each link runs
 * once, whichever process died and wherever it died.
 *
 *   a ──► b ──► c (its second attempt) ──► d ──┬──► e
 *                                              └──► f (its failure) ──► g       onFailure
 */
import { describe, expect, test } from 'vitest'
import type { Job } from '../../src/clients/library/index.ts'
import { usually } from '../setup/long.ts'
import { clean, type SeenEvent } from '../tools/checker-audit.ts'
import { DuelogProcess } from '../tools/duelog-process.ts'
import { type CrashPoint, crashPointsOfCommits, tellingCrashPoints } from '../tools/duelog-process-plan.ts'
import { openSite, type Portion, type Site } from './harness.ts'
import { openWorker } from './worker.ts'

const links = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
/**
 * Commits that dispatch, or trigger: those of a, b, of c's two attempts, d, e, f and g, and the ends of a, b, c, d and f: 13 in
 * total. Some share one commit: e and f, and events of the same moment.
 */
const commitsMin = 9
/** Ends a test that hangs. A takeover takes long on a busy machine, and there are a dozen. */
const limitMs = 600_000

/** The chain. All jobs but the first wait for a trigger. `plain`: additional fields of the links that succeed at once. */
function chain(plain: Partial<Job>, retryMs: number): Portion {
  const at = Date.now() + 300
  const later = { schedule: { at: at + 86_400_000 }, leaseMs: 2_000 }
  const next = (id: string, job: Partial<Job>): Job => ({
    id,
    target: { handler: 'noop' },
    onFailure: ['never'],
    ...later,
    ...job,
  })
  const fails = (times: number, maxAttempts: number): Partial<Job> => ({
    target: { handler: 'fail' },
    payload: { times },
    retry: { maxAttempts, ...(maxAttempts > 1 && { backoff: { fixed: { delayMs: retryMs } } }) },
  })
  const jobs = [
    next('a', { ...plain, schedule: { at }, onSuccess: ['b'] }),
    next('b', { ...plain, onSuccess: ['c'] }),
    next('c', { ...fails(1, 5), onSuccess: ['d'] }),
    next('d', { ...plain, onSuccess: ['e', 'f'] }),
    next('e', plain),
    next('f', { ...fails(9, 1), onSuccess: ['never'], onFailure: ['g'] }),
    next('g', plain),
    next('never', { onFailure: [] }),
  ]
  return { jobs, expected: [{ jobId: 'a', scheduledFor: at }], recurs: false }
}

const through = ({ checker }: Site): Promise<void> =>
  checker.until(() => ['e', 'g'].every((id) => checker.events.some(({ jobId, type }) => jobId === id && type === 'SUCCEEDED')))

/** The dispatched runs, without the attempts that a lost worker makes necessary. */
const runsOf = ({ checker }: Site): string[] =>
  [...new Set(checker.executions.map(({ jobId, runNo, trigger }) => `${jobId}/${runNo} ${trigger}`))].sort()

const everyLinkOnce = links.map((id) => `${id}/1 ${id === 'a' ? 'SCHEDULE' : 'FOLLOW_UP'}`)

describe.concurrent('a chain of jobs', () => {
  // Usually the owners die at these points in turn; in the long form all of them die at one.
  test.for(
    usually(
      [{ points: tellingCrashPoints }],
      crashPointsOfCommits.map((point) => ({ points: [point] })),
    ),
  )(
    'whose owner is killed at each of its commits, $points: every link runs once',
    { timeout: limitMs },
    async ({ points }, context) => {
      // A commit that did not reach the log is repeated first by the next owner, so an owner dies at its second commit. One
      // partition makes sure that the second commit is not one of another partition. Otherwise the chain would never continue.
      const isUndone = (point: CrashPoint): boolean => point === 'before-send' || point === 'before-end'
      const site = await openSite(context, { partitions: points.some(isUndone) ? 1 : 2 })
      await openWorker(context, site)
      let owners = 0
      const owner = () => {
        const point = points[owners++ % points.length] as CrashPoint
        const isFirst = owners === 1
        const nth = isUndone(point) && !isFirst ? 2 : 1
        return DuelogProcess.scheduler(context, { ...site.plan, crash: { point, nth, also: 'job-commands' } })
      }
      const expected = await site.write(chain({}, 200))
      const done = through(site)
      let next = owner()
      let kills = 0
      for (let over = false; !over; ) {
        const victim = (await next).go()
        next = owner()
        // When the test ends early, it has ended this process before it was ready.
        next.catch(() => undefined)
        over = (await Promise.race([victim.exited, done.then(() => 'over' as const)])) === 'over'
        if (!over) expect(victim.ended).toEqual({ code: null, signal: 'SIGKILL' })
        if (!over) kills++
        else await victim.kill()
      }
      await (await next).kill()
      const successor = await site.scheduler()
      await successor.next('active')
      await successor.stop()
      expect(await site.checker.audit(expected)).toEqual(clean)
      expect(runsOf(site)).toEqual(everyLinkOnce)
      // Only the links were dispatched, and the retry of c.
      expect(site.checker.executions).toHaveLength(links.length + 1)
      expect(kills).toBeGreaterThanOrEqual(commitsMin)
    },
  )

  test('whose workers and forwarders are killed: every link runs once', { timeout: limitMs }, async (context) => {
    const site = await openSite(context)
    const owner = await site.here('scheduler', 'owner')
    let count = 0
    const worker = (): Promise<DuelogProcess> => site.system('executor', `worker-${count++}`)
    const workers = await Promise.all([worker(), worker()])
    const forwarder = await site.system('retrier', 'forwarder')
    const expected = await site.write(chain({ target: { handler: 'sleep' }, payload: { ms: 1_500 } }, 1_000))
    const done = through(site)
    for (const id of ['a', 'd', 'g']) {
      const { worker: victim } = await reported(site, id, 'STARTED')
      await workers.find(({ pid }) => victim.includes(`:${pid}:`))?.kill()
      workers.push(await worker())
      if (id !== 'a') continue
      // The retry of c finds no forwarder, then another one.
      await reported(site, 'b', 'STARTED')
      await forwarder.kill()
      await reported(site, 'c', 'FAILED')
      await site.here('retrier', 'other')
    }
    await done
    await owner.stop()
    expect(await site.checker.audit(expected)).toEqual(clean)
    expect(runsOf(site)).toEqual(everyLinkOnce)
  })
})

/** Resolves with the first report of this type of the job. */
async function reported({ checker }: Site, id: string, wanted: string): Promise<SeenEvent> {
  const find = (): SeenEvent | undefined => checker.events.find(({ jobId, type }) => jobId === id && type === wanted)
  await checker.until(() => find() !== undefined)
  return find() as SeenEvent
}
