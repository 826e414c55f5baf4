/**
 * Whatever happens to the local store while no process has it open, the next owner continues it or rebuilds it, and nothing is
 * fired twice or lost.
 */
import { stat, truncate, writeFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { rocksStores } from '../../src/log/store/rocks-store.ts'
import { checkpointKey } from '../../src/scheduler/state/checkpoint.ts'
import { usually } from '../setup/long.ts'
import { clean } from '../tools/checker-audit.ts'
import { oneShots, openSite, recurring, type Site } from './harness.ts'
import { chance } from './seeded.ts'
import { filesIn, flip, StoreFolder } from './store-damage.ts'

interface Case {
  name: string
  /** The log message with which the next owner must report that it rebuilds the store. */
  rebuilt: RegExp | undefined
  /** Whether a lower level asks it too: crash-points.test.ts, or test/scheduler/state. The usual form leaves these out. */
  askedBelow?: true
  damage(site: Site, store: StoreFolder): Promise<void>
}

const namesIn = async (folder: string, pattern: RegExp): Promise<string[]> =>
  (await filesIn(folder)).filter((file) => pattern.test(file))

const cases: Case[] = [
  { name: 'deleted', rebuilt: undefined, askedBelow: true, damage: (_, store) => store.suffer('lost', chance(1)) },
  { name: 'an older copy', rebuilt: undefined, damage: (_, store) => store.suffer('stale', chance(1)) },
  {
    name: 'of another cluster',
    rebuilt: /belongs to the cluster elsewhere/,
    askedBelow: true,
    damage: (site) => rewriteLocal(site, { clusterId: 'elsewhere' }),
  },
  {
    name: 'older than tombstones are kept',
    rebuilt: /older than tombstones/,
    askedBelow: true,
    damage: (site) => rewriteLocal(site, { savedAtMs: 1 }),
  },
  {
    name: 'of another version of Duelog',
    rebuilt: /another version of Duelog/,
    askedBelow: true,
    damage: (site) => rewriteLocal(site, { version: 99 }),
  },
  {
    name: 'without its manifest',
    rebuilt: /unreadable/,
    damage: async ({ plan }) => {
      for (const file of await namesIn(plan.folder, /MANIFEST|CURRENT/)) await writeFile(file, 'x')
    },
  },
  {
    name: 'with tables cut short',
    rebuilt: /unreadable/,
    damage: async ({ plan }) => {
      const tables = await namesIn(plan.folder, /\.sst$/)
      expect(tables.length).toBeGreaterThan(0)
      for (const file of tables) await truncate(file, 100)
    },
  },
  { name: 'with tables that rot from their beginning', rebuilt: /unreadable/, damage: (site) => rot(site, 0) },
  // Detected only when these blocks are read, while the partition restores or fires.
  {
    name: 'with tables that rot near their end',
    rebuilt: /is reopened[\s\S]*unreadable/,
    damage: (site) => rot(site, 0.85),
  },
  {
    name: 'with a write-ahead log cut short',
    rebuilt: undefined,
    damage: async ({ plan }) => {
      for (const file of await namesIn(plan.folder, /\d+\.log$/)) await truncate(file, 500)
    },
  },
]

const usualCases = cases.filter(({ askedBelow }) => askedBelow === undefined)

describe.concurrent('a local store that is', () => {
  test.for(usually(usualCases, cases))(
    '$name does no harm: every occurrence is dispatched once',
    async ({ damage, rebuilt }, context) => {
      const site = await openSite(context, { partitions: 1 })
      const store = new StoreFolder(site.plan.folder)
      const from = Date.now() + 1_000
      const shots = oneShots('shot', 150, from, 30)
      const repeats = recurring('again', 3, from, 300, 15)
      const expected = await site.write(shots, repeats)
      // Two lives, so that what the first has logged ahead is in tables afterwards.
      for (const share of [20, 50]) {
        const owner = await site.scheduler()
        await owner.next('active')
        await site.checker.dispatched(shots.expected.slice(0, share))
        await owner.stop()
        if (share === 20) await store.copy()
      }
      await damage(site, store)
      // A stop may take long enough for all the others to be fired. These jobs are for the successor.
      expected.push(...(await site.write(oneShots('successor', 20, Date.now() + 1_000, 30))))
      const successor = await site.scheduler()
      await site.checker.dispatched(expected)
      if (rebuilt !== undefined) expect(successor.troubles()).toMatch(rebuilt)
      await successor.stop()
      expect(await site.checker.audit(expected)).toEqual(clean)
    },
  )
})

/** Damages every block of every table after this share of it, except the blocks at its end, which the open reads. */
async function rot({ plan }: Site, share: number): Promise<void> {
  const tables = await namesIn(plan.folder, /\.sst$/)
  expect(tables.length).toBeGreaterThan(0)
  for (const file of tables) {
    const { size } = await stat(file)
    for (let at = Math.floor(size * share); at < size - 4_000; at += 500) await flip(file, at)
  }
}

async function rewriteLocal({ plan }: Site, changes: object): Promise<void> {
  const { store } = await rocksStores(plan.folder).open(0)
  const [value] = await store.get([checkpointKey])
  await store.apply([{ key: checkpointKey, value: Buffer.from(JSON.stringify({ ...JSON.parse(String(value)), ...changes })) }])
  await store.close()
}
