/** Two whole processes that watch each other. The one that is left notices that the other is dead or suspended, and takes over. */
import { expect, test } from 'vitest'
import { clean } from '../tools/checker-audit.ts'
import type { DuelogProcess } from '../tools/duelog-process.ts'
import { openSite } from './harness.ts'
import { Load } from './load.ts'
import { chance, printedSeed } from './seeded.ts'
import { openWorker } from './worker.ts'

const token = 'a-token-of-these-peers'

/** A sample of the metrics of a process; 0 if it is not there. */
async function sampleOf(process: DuelogProcess, sample: string): Promise<number> {
  const { url } = await process.next('system')
  const text = await (await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } })).text()
  const line = text.split('\n').find((each) => each.startsWith(`${sample} `))
  return Number(line?.slice(sample.length) ?? 0)
}

const becomes = (process: DuelogProcess, sample: string, value: number): Promise<void> =>
  expect.poll(() => sampleOf(process, sample), { timeout: 60_000 }).toBe(value)

test('a killed owner, and a suspended one, are removed by their peer; nothing is lost or doubled', {
  timeout: 240_000,
}, async (context) => {
  const site = await openSite(context, { partitions: 4 })
  await openWorker(context, site)
  const load = new Load(site, 40, chance(printedSeed()))
  const start = (machine: string) =>
    site.system('scheduler', machine, { DUELOG_STANDBYS: '1', DUELOG_API_TOKENS: `admin:${token}` })
  const [killed, kept] = [await start('a'), await start('b')]
  await becomes(kept, 'duelog_peers_heard', 1)
  await killed.kill()
  await becomes(kept, 'duelog_peers_removed_total{reason="refused"}', 1)
  await site.checker.dispatched([...load.expected])

  const suspended = await start('a')
  await Promise.all([kept, suspended].map((each) => becomes(each, 'duelog_peers_heard', 1)))
  suspended.signal('SIGSTOP')
  await becomes(kept, 'duelog_peers_removed_total{reason="silent"}', 1)
  await site.checker.dispatched([...load.expected])
  suspended.signal('SIGCONT')
  await becomes(suspended, 'duelog_peers_heard', 1)
  await load.stop()
  await site.checker.succeeded(load.expected)
  await Promise.all([kept.stop(), suspended.stop()])
  expect(await site.checker.audit(load.expected)).toEqual(clean)
})
