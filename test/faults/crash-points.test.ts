/** kill −9 of the owner at every point of a commit, then one restart with its store on disk, and one without. */
import { rm } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { clean } from '../tools/checker-audit.ts'
import { crashPoints } from '../tools/duelog-process-plan.ts'
import { oneShots, openSite, recurring } from './harness.ts'

const cases = crashPoints.flatMap((point) => (['kept', 'lost'] as const).map((store) => ({ point, store })))

describe.concurrent('an owner killed in the middle of a commit', () => {
  test.for(cases)('$point, store $store: every occurrence is dispatched once', async ({ point, store }, context) => {
    const site = await openSite(context, { partitions: 1 })
    const victim = await site.scheduler({ crash: { point, nth: 3 } })
    if (point !== 'before-claim') await victim.next('active')
    const expected = await site.write(recurring('again', 3, Date.now() + 300, 300, 8))
    // One portion after the other, so that a commit happens at the crash point even on a slow machine.
    for (let portion = 0; victim.ended === undefined; portion++) {
      const shots = await site.write(oneShots(`shot-${portion}`, 20, Date.now() + 50, 20))
      expected.push(...shots)
      await Promise.race([victim.exited, site.checker.dispatched(shots)])
    }
    expect(await victim.exited).toEqual({ code: null, signal: 'SIGKILL' })
    if (store === 'lost') await rm(site.plan.folder, { recursive: true })

    const successor = await site.scheduler()
    await site.checker.dispatched(expected)
    await successor.stop()
    expect(await site.checker.audit(expected)).toEqual(clean)
    // Checks the crash point: only a commit that was sent and not ended leaves records that no reader may see.
    const aborted = (await site.checker.writtenAtAll()) - site.checker.executions.length
    if (point === 'before-end') expect(aborted).toBeGreaterThan(0)
    else expect(aborted).toBe(0)
  })
})
