/** An owner that is suspended past its session and comes back, as a paused virtual machine does. */
import { expect, test } from 'vitest'
import { clean } from '../tools/checker-audit.ts'
import type { SchedulerReport } from '../tools/duelog-process-plan.ts'
import { openSite } from './harness.ts'
import { Load } from './load.ts'
import { chance, printedSeed } from './seeded.ts'
import { openWorker } from './worker.ts'

const sum = (counts: Record<string, number>): number => Object.values(counts).reduce((total, count) => total + count, 0)
const activeIn = ({ partitions }: SchedulerReport): number[] =>
  partitions.flatMap(({ partition, phase }) => (phase === 'active' ? [partition] : []))
const all = (report: SchedulerReport): boolean => activeIn(report).length === 4
const half = (report: SchedulerReport): boolean => activeIn(report).length === 2 && report.partitions.length === 2

test('a suspended owner is fenced, rejoins and gets its share; nothing is doubled', async (context) => {
  const site = await openSite(context, { partitions: 4 })
  await openWorker(context, site)
  const load = new Load(site, 80, chance(printedSeed()))
  const zombie = await site.scheduler({ folder: `${site.plan.folder}-zombie` })
  await zombie.reportThat(all)
  for (let round = 1; round <= 2; round++) {
    const before = await zombie.reportThat(() => true)
    zombie.signal('SIGSTOP')
    const successor = await site.scheduler({ folder: `${site.plan.folder}-successor` })
    await successor.reportThat(all)
    // The successor has fired what the zombie considers due.
    await site.checker.dispatched([...load.expected])
    zombie.signal('SIGCONT')
    const halves = async () => (await Promise.all([zombie.reportThat(half), successor.reportThat(half)])).flatMap(activeIn).sort()
    await expect.poll(halves, { timeout: 60_000 }).toEqual([0, 1, 2, 3])
    expect((await zombie.reportThat(() => true)).fenced).toBeGreaterThan(before.fenced)
    // The zombie never touched the partitions that stayed with the successor: it lost what it handed over and nothing else.
    expect(sum((await successor.reportThat(() => true)).reopens)).toBe(0)
    await site.checker.dispatched([...load.expected])
    await successor.stop()
    await zombie.reportThat(all)
  }
  await load.stop()
  await site.checker.succeeded(load.expected)
  await zombie.stop()
  expect(await site.checker.audit(load.expected)).toEqual(clean)
})
