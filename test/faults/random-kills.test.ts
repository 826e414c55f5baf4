/**
 * kill −9 at random moments, repeatedly, under load. Between two lives the local store is kept, deleted, replaced by an older
 * state, or damaged. Several independent systems run at once, because most of each takeover is waiting for a session to end.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { usually } from '../setup/long.ts'
import { clean } from '../tools/checker-audit.ts'
import { DuelogProcess, type Test } from '../tools/duelog-process.ts'
import { openSite } from './harness.ts'
import { Load } from './load.ts'
import { type Chance, chance, printedSeed } from './seeded.ts'
import { damages, StoreFolder } from './store-damage.ts'
import { openWorker } from './worker.ts'

const systems = 3
const killsOfEach = Number(process.env.DUELOG_TEST_KILLS ?? usually(3, 17))
const duePerSecondOfEach = 100

test(`when an owner is killed ${systems * killsOfEach} times at random moments under load, nothing is lost, doubled or early`, {
  timeout: usually(420_000, 1_200_000),
}, async (context) => {
  const seed = printedSeed()
  await Promise.all(Array.from({ length: systems }, (_, index) => survive(context, chance(seed + index))))
})

async function survive(test: Test, luck: Chance): Promise<void> {
  const site = await openSite(test)
  await openWorker(test, site)
  const store = new StoreFolder(site.plan.folder)
  const load = new Load(site, duePerSecondOfEach, luck)
  let next = DuelogProcess.scheduler(test, site.plan)
  for (let kill = 0; kill < killsOfEach; kill++) {
    const owner = (await next).go()
    next = DuelogProcess.scheduler(test, site.plan)
    await moment(owner, luck)
    await owner.kill()
    if (luck.next() < 0.4) await store.copy()
    await store.suffer(luck.pick(damages), luck)
  }
  const last = (await next).go()
  await load.stop()
  await site.checker.succeeded(load.expected)
  await last.stop()
  expect(await site.checker.audit(load.expected)).toEqual(clean)
}

/** A random time after the start, perhaps while it joins, restores or claims, or a random time after it began to fire. */
async function moment(owner: DuelogProcess, luck: Chance): Promise<void> {
  if (luck.next() < 0.35) return void (await wait(luck.below(2_500)))
  await owner.next('active')
  await wait(luck.below(700))
}
