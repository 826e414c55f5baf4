/**
 * Ways in which a worker of a program can die by its handler, on a real broker, each in a pool of its own: memory, a native crash in a batch, and
 * an event loop that is blocked. Each is counted, ends, and has its error. A neighbour loses one attempt at most. The usual form has the native
 * crash: the others need minutes of a whole processor, or three workers.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, type TestContext, test } from 'vitest'
import type { RunInfo } from '../../src/clients/library/index.ts'
import { openSite, type Site } from '../faults/harness.ts'
import { duelogEnvironment } from '../setup/environment.ts'
import { usually } from '../setup/long.ts'
import { job } from './up.ts'

/** One handler of each pool ends its worker, or blocks it. */
const deaths = {
  memory: { ends: 'const kept = []; for (;;) kept.push(new Array(100_000).fill(kept.length))', isBatch: false, workers: 1 },
  native: { ends: 'process.abort()', isBatch: true, workers: 1 },
  // Blocked without work for the processor, which the others need. Nobody ends such a worker, so the neighbours need another one.
  blocked: { ends: 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)', isBatch: false, workers: 3 },
}
type Pool = keyof typeof deaths

/** The program of a worker. It writes a line before each run, and its log. */
const program = (pool: Pool, site: Site): string => `
  import { appendFileSync } from 'node:fs'
  import { setTimeout as wait } from 'node:timers/promises'
  import { createWorker } from '${new URL('../../src/clients/library/worker.ts', import.meta.url)}'
  const began = ({ jobId }) => appendFileSync(${JSON.stringify(join(site.folder, pool))}, jobId + '\\n')
  const ends = (run) => { began(run); ${deaths[pool].ends} }
  const handlers = {
    ends: ${deaths[pool].isBatch} ? { batch: { maxSize: 10, maxWaitMs: 1 }, run: ([run]) => ends(run) } : ends,
    good: async (run) => { began(run); await wait(200) },
  }
  const { brokers, registryUrl, prefix: topicPrefix } = ${JSON.stringify(site.plan)}
  await createWorker({ brokers, registryUrl, topicPrefix, pool: '${pool}', handlers }).start()`

/** Starts it again whenever it ends. */
async function keepWorker(context: TestContext, pool: Pool, site: Site): Promise<void> {
  const file = join(site.folder, `${pool}.mjs`)
  await writeFile(file, program(pool, site))
  let child: ChildProcess | undefined
  let isOver = false
  const run = (): void => {
    if (isOver) return
    child = spawn(process.execPath, ['--max-old-space-size=100', file], {
      env: duelogEnvironment({}),
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    child.stdout?.on('data', (text) => logs.set(pool, (logs.get(pool) ?? '') + text))
    child.once('exit', run)
  }
  run()
  context.onTestFinished(async () => {
    isOver = true
    if (child?.kill('SIGKILL')) await once(child, 'exit')
  })
}
const logs = new Map<Pool, string>()

test('each ends as a dead letter after its attempts, and its neighbours succeed', async (context) => {
  const site = await openSite(context)
  const pools = usually<Pool[]>(['native'], Object.keys(deaths) as Pool[])
  const system = await site.system('scheduler,retrier,api', 'owner', { DUELOG_POOLS: pools.join() })
  const { url } = await system.next('system', undefined, 0)
  for (const pool of pools) for (let n = 0; n < deaths[pool].workers; n++) await keepWorker(context, pool, site)
  const { rejections } = await site.client.scheduleMany(
    pools.flatMap((pool) => {
      const once = { leaseMs: 2_000, retry: { maxAttempts: 1 } }
      // A worker that starts, and a slow machine, are silent for longer than the lease of the others.
      const twice = { leaseMs: 15_000, retry: { maxAttempts: 2, backoff: { fixed: { delayMs: 0 } } } }
      const good = (n: number) => job(`${pool}-good-${n}`, 'good', { ...twice, target: { handler: 'good', pool } })
      return [good(1), job(`${pool}-ends`, 'ends', { ...once, target: { handler: 'ends', pool } }), good(2)]
    }),
  )
  expect(rejections).toEqual([])
  const runsOf = async (id: string): Promise<RunInfo[]> => {
    const answer = await fetch(`${url}/v1/jobs/${id}/runs`)
    return answer.ok ? ((await answer.json()) as { runs: RunInfo[] }).runs : []
  }
  const endOf = async (id: string): Promise<string | undefined> => {
    const [run] = await runsOf(id)
    return run?.status === 'DEAD' ? `DEAD: ${JSON.stringify(run.errors)}` : run?.status
  }
  const startsOf = async (pool: Pool): Promise<number> =>
    (await readFile(join(site.folder, pool), 'utf8')).split('\n').filter((line) => line === `${pool}-ends`).length
  for (const pool of pools) {
    for (const n of [1, 2]) {
      const id = `${pool}-good-${n}`
      await expect.poll(() => endOf(id), { timeout: 240_000 }).toBe('SUCCEEDED')
      expect((await runsOf(id))[0]?.attempts).toBeLessThanOrEqual(2)
    }
    const dead = { status: 'DEAD', attempts: 1, errors: [{ type: 'LeaseLost' }] }
    await expect.poll(() => runsOf(`${pool}-ends`), { timeout: 240_000 }).toMatchObject([dead])
    // Once before anything was known of it, and once more for certain.
    expect(await startsOf(pool)).toBeLessThanOrEqual(2)
  }
}, 600_000)
