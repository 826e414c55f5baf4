/**
 * The disk of one of two schedulers fails for good while it fires. The other, its standby, fires everything, and nothing is lost
 * or doubled.
 */
import { writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { clean } from '../tools/checker-audit.ts'
import type { SchedulerReport } from '../tools/duelog-process-plan.ts'
import { openSite } from './harness.ts'
import { Load } from './load.ts'
import { chance, printedSeed } from './seeded.ts'
import { openWorker } from './worker.ts'

const partitions = 4
const inPhase = (phase: string, { partitions: found }: SchedulerReport): number =>
  found.filter((each) => each.phase === phase).length
const paired = (report: SchedulerReport): boolean => inPhase('active', report) === 2 && inPhase('following', report) === 2

test('an owner whose disk fails for good lets its standby take over and fire', { timeout: 300_000 }, async (context) => {
  const site = await openSite(context, { partitions })
  await openWorker(context, site)
  const load = new Load(site, 40, chance(printedSeed()))
  const brokenFile = `${site.folder}/broken`
  const first = await site.scheduler({ folder: `${site.plan.folder}-a`, standbys: 1, brokenFile })
  const second = await site.scheduler({ folder: `${site.plan.folder}-b`, standbys: 1 })
  await Promise.all([first.reportThat(paired), second.reportThat(paired)])
  await writeFile(brokenFile, '')
  await second.reportThat((report) => inPhase('active', report) === partitions)
  await first.next('log', ({ message }) => /fail again and again, so this process lets others fire/.test(message), 0)
  expect((await first.reportThat(({ partitions: left }) => left.every(({ phase }) => phase === 'closed'))).reopens).toMatchObject(
    {
      'not-ready': expect.any(Number),
    },
  )
  await load.stop()
  await site.checker.succeeded(load.expected)
  await Promise.all([first.stop(), second.stop()])
  expect(await site.checker.audit(load.expected)).toEqual(clean)
})
