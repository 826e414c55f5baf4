/**
 * Two schedulers that hand partitions over while they fire. One of them joins, and then leaves in order or is killed, again and
 * again.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { usually } from '../setup/long.ts'
import { clean } from '../tools/checker-audit.ts'
import type { SchedulerReport } from '../tools/duelog-process-plan.ts'
import { openSite } from './harness.ts'
import { Load } from './load.ts'
import { chance, printedSeed } from './seeded.ts'
import { openWorker } from './worker.ts'

const partitions = 4
/** Each third visit ends by a kill. */
const visits = usually(3, 12)
const all = (report: SchedulerReport): boolean => ownedBy(report).length === partitions
const half = (report: SchedulerReport): boolean =>
  ownedBy(report).length === partitions / 2 && report.partitions.length === partitions / 2
const ownedBy = (report: SchedulerReport): number[] =>
  report.partitions.flatMap(({ partition, phase }) => (phase === 'active' ? [partition] : []))

test('when partitions move while they fire, nothing is lost, doubled or early', {
  timeout: usually(300_000, 900_000),
}, async (context) => {
  const luck = chance(printedSeed())
  const site = await openSite(context, { partitions })
  await openWorker(context, site)
  const load = new Load(site, 120, luck)
  const stays = await site.scheduler({ folder: `${site.plan.folder}-stays` })
  await stays.reportThat(all)
  for (let visit = 0; visit < visits; visit++) {
    const guest = await site.scheduler({ folder: `${site.plan.folder}-guest` })
    if (luck.next() < 0.7) await guest.reportThat(half)
    else await wait(luck.below(800))
    if (visit % 3 === 2) await guest.kill()
    else await guest.stop()
    if (luck.next() < 0.5) await stays.reportThat(all)
  }
  const second = await site.scheduler({ folder: `${site.plan.folder}-second` })
  // The group may move partitions once more before it rests. Both processes must report the same moment.
  const halves = async () => (await Promise.all([stays.reportThat(half), second.reportThat(half)])).flatMap(ownedBy).sort()
  await expect.poll(halves, { timeout: 60_000 }).toEqual([0, 1, 2, 3])
  await load.stop()
  await site.checker.succeeded(load.expected)
  await Promise.all([stays.stop(), second.stop()])
  expect(await site.checker.audit(load.expected)).toEqual(clean)
})
