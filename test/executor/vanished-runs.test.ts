/** Handlers that end their worker before anything is known of their start, on a real broker: they end as dead letters, and their neighbours succeed. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { RunInfo } from '../../src/clients/library/index.ts'
import { openSite } from '../faults/harness.ts'
import { freePorts } from '../setup/free-ports.ts'
import { job, up } from './up.ts'

test('a handler that ends its worker at once: each attempt is a lost lease, and neighbours that began with it lose one at most', async (context) => {
  const site = await openSite(context)
  const [port] = await freePorts()
  const file = join(site.folder, 'starts')
  await writeFile(file, '')
  const handlers = `
    import { appendFileSync } from 'node:fs'
    const began = ({ jobId, attempt }) => appendFileSync(${JSON.stringify(file)}, jobId + ' ' + attempt + '\\n')
    export const exits = (run) => { began(run); process.exit(1) }
    export const killed = { batch: { maxSize: 10, maxWaitMs: 1 }, run: (runs) => { runs.forEach(began); process.kill(process.pid, 'SIGKILL') } }
    export const good = async (run) => { began(run); await wait(200) }`
  await up(context, site, 1, port, {}, 'ignore', handlers)
  const runsOf = async (id: string): Promise<RunInfo[]> =>
    fetch(`http://127.0.0.1:${port}/v1/jobs/${id}/runs`).then(
      async (answer) => (answer.ok ? ((await answer.json()) as { runs: RunInfo[] }).runs : []),
      () => [],
    )
  await site.client.schedule(job('ready', 'pid'))
  await expect.poll(() => runsOf('ready'), { timeout: 60_000 }).toMatchObject([{ status: 'SUCCEEDED' }])
  // A neighbour that lost two would be dead.
  const twice = { leaseMs: 2_000, retry: { maxAttempts: 2, backoff: { fixed: { delayMs: 0 } } } }
  const good = Array.from({ length: 4 }, (_, n) => `good-${n}`)
  await site.client.scheduleMany([
    ...good.slice(0, 2).map((id) => job(id, 'good', twice)),
    job('exits', 'exits', twice),
    job('killed', 'killed', twice),
    ...good.slice(2).map((id) => job(id, 'good', twice)),
  ])
  const lost = { type: 'LeaseLost' }
  for (const id of ['exits', 'killed'])
    await expect
      .poll(() => runsOf(id), { timeout: 180_000 })
      .toMatchObject([{ status: 'DEAD', attempts: 2, errors: [lost, lost] }])
  for (const id of good) await expect.poll(() => runsOf(id), { timeout: 60_000 }).toMatchObject([{ status: 'SUCCEEDED' }])
  const starts = (await readFile(file, 'utf8')).split('\n')
  // Once before anything was known of it, and once more for certain.
  for (const id of ['exits', 'killed'])
    for (const attempt of [1, 2]) expect(starts.filter((line) => line === `${id} ${attempt}`).length).toBeLessThanOrEqual(4)
}, 300_000)
