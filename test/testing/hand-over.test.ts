/** Workers that come and go, in virtual time and many orders of messages. */
import { expect, it } from 'vitest'
import type { Run } from '../../src/clients/library/index.ts'
import { testSystem } from '../../src/testing/library.ts'

const seeds = 10

it('no attempt starts twice because partitions move between living workers', async () => {
  let moved = 0
  for (let seed = 0; seed < seeds; seed++) {
    const starts = new Map<string, number>()
    const note = ({ executionId, attempt }: Run): void => {
      const name = `${executionId} ${attempt}`
      starts.set(name, (starts.get(name) ?? 0) + 1)
    }
    const duelog = testSystem({
      seed,
      partitions: 4,
      handlers: ({ sleep }) => ({
        quick: note,
        slow: async (run: Run) => {
          note(run)
          await sleep(700)
        },
      }),
    })
    await duelog.scheduleMany(
      Array.from({ length: 16 }, (_, index) => ({
        id: `job-${index}`,
        schedule: { everyMs: 300 + 10 * index },
        target: { handler: index % 3 === 0 ? 'slow' : 'quick' },
        overlap: 'ALLOW' as const,
      })),
    )
    await duelog.advanceBy(1_350)
    for (const change of ['up', 'up', 'down', 'up', 'down', 'down']) {
      const names = (await duelog.workers()).map(({ instance }) => instance)
      if (change === 'up') await duelog.startWorker()
      else await duelog.stopWorker(names[seed % names.length])
      moved++
      await duelog.advanceBy(1_000 + 130 * (seed % 7))
    }
    await duelog.close()
    expect(starts.size, `seed ${seed}`).toBeGreaterThan(200)
    expect(
      [...starts].filter(([, times]) => times > 1),
      `seed ${seed}`,
    ).toEqual([])
  }
  expect(moved).toBe(seeds * 6)
})
