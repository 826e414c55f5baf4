/** The load of pools, from a log with the positions of a group and from owners, without brokers. */
import { expect, it } from 'vitest'
import { PoolLoads } from '../../src/server/scaling/index.ts'
import { topicNames } from '../../streams/topics/index.ts'

const names = topicNames('t.')

/** Topics by name: the end of each partition, and what the group has done of it. */
function place(more: Partial<ConstructorParameters<typeof PoolLoads>[0]> = {}) {
  const ends = new Map<string, number[]>()
  const done = new Map<string, number[]>()
  /** Metadata of the first partition. */
  const told = new Map<string, string>()
  const members: object[] = [
    { memberId: 'm', instance: 'duelog@host:1:a', userData: { concurrency: 5 }, assigned: [], isJoining: false },
  ]
  const asked: number[] = []
  const missing = new Set<string>()
  const warned: object[] = []
  let nowMs = 0
  const loads = new PoolLoads({
    admin: {
      offsetsOf: async (topics) => {
        asked.push(topics.length)
        const rangesOf = (topic: string) =>
          (ends.get(topic) ?? [0, 0]).map((next, partition) => ({ partition, earliest: 0, next }))
        return new Map(topics.filter((topic) => !missing.has(topic)).map((topic) => [topic, rangesOf(topic)]))
      },
      committedOf: async (_group, topics) =>
        new Map(
          topics.map((topic) => {
            const metadata = told.get(topic)
            const with0 = (partition: number) => (partition === 0 && metadata !== undefined ? { metadata } : {})
            return [topic, (done.get(topic) ?? []).map((offset, partition) => ({ partition, offset, ...with0(partition) }))]
          }),
        ),
      groupMembers: async () => members,
    } as ConstructorParameters<typeof PoolLoads>[0]['admin'],
    names,
    clock: { nowMs: () => nowMs, steadyMs: () => nowMs },
    pools: async () => ['mail'],
    slots: 50,
    runs: async () => [[{ pool: 'mail', running: 1 } as never]],
    forecast: async () => new Map([['mail', 600]]),
    pauseOf: () => undefined,
    logger: { warn: (fields: object) => void warned.push(fields) } as never,
    ...more,
  })
  const after = async (ms: number) => {
    nowMs += ms
    return (await loads.measure())[0]
  }
  return { ends, done, told, members, after, loads, asked, missing, warned }
}
const usual = names.executions('mail', 'NORMAL')
const ahead = names.executions('mail', 'NORMAL', true)

it('the backlog is what is not done of the usual topics, and its age is known from earlier ends', async () => {
  const { ends, done, after } = place()
  ends.set(usual, [10, 5])
  done.set(usual, [10, 5])
  expect(await after(2_000)).toMatchObject({ backlog: 0, lateMs: 0, running: 1, workers: 1, slots: 5, partitions: 2 })
  ends.set(usual, [14, 5])
  await after(2_000)
  ends.set(usual, [20, 5])
  expect(await after(2_000)).toMatchObject({ backlog: 10, lateMs: 2_000, arrivalsPerS: 3, startsPerS: 0 })
  done.set(usual, [16, 5])
  expect(await after(2_000)).toMatchObject({ backlog: 4, lateMs: 2_000, startsPerS: 3 })
})

it('runs that were dispatched ahead of their time come, and make none of the others late', async () => {
  const { ends, done, after } = place({ forecast: async () => new Map() })
  ends.set(ahead, [1_000, 0])
  for (let second = 0; second < 20; second += 2) await after(2_000)
  ends.set(usual, [3, 0])
  expect(await after(2_000)).toMatchObject({ backlog: 3, forecast: 1_000, lateMs: 0 })
  ends.set(usual, [6, 0])
  done.set(usual, [3, 0])
  expect(await after(2_000)).toMatchObject({ backlog: 3, lateMs: 0 })
  // Nor do those that are done hide others that wait.
  done.set(ahead, [1_000, 0])
  expect(await after(2_000)).toMatchObject({ backlog: 3, forecast: 0, lateMs: 2_000 })
})

it('what comes due in a paused pool needs no worker', async () => {
  expect(await place().after(2_000)).toMatchObject({ forecast: 600, reason: 'forecast' })
  const pausedBy = (isDrained: boolean) =>
    place({ pauseOf: (pool) => (pool === 'mail' ? { isDrained } : undefined), runs: async () => [[]] })
  const paused = pausedBy(false)
  expect(await paused.after(2_000)).toMatchObject({ forecast: 0, wanted: 0, reason: 'idle' })
  // What its workers have taken before waits for the end of the pause.
  paused.ends.set(usual, [500, 0])
  paused.ends.set(ahead, [500, 0])
  expect(await paused.after(4_000)).toMatchObject({ backlog: 500, wanted: 0, reason: 'idle' })
  // A pool that is drained starts what was dispatched before.
  const drained = pausedBy(true)
  drained.ends.set(usual, [500, 0])
  expect(await drained.after(4_000)).toMatchObject({ backlog: 500, forecast: 0, reason: 'backlog' })
})

it('150 pools are measured with one look-up of offsets, and one without a topic hides no other', async () => {
  const pools = Array.from({ length: 150 }, (_, index) => `pool-${index}`)
  const { ends, loads, asked, missing, warned } = place({ pools: async () => pools, forecast: async () => new Map() })
  ends.set(names.executions('pool-149', 'HIGH'), [7, 0])
  missing.add(names.executions('pool-3', 'LOW', true))
  const found = new Map((await loads.measure()).map((load) => [load.pool, load.backlog]))
  expect([...found.keys()]).toEqual(pools.filter((pool) => pool !== 'pool-3'))
  expect([found.get('pool-149'), found.get('pool-0')]).toEqual([7, 0])
  expect(asked).toEqual([900])
  expect(warned).toEqual([])
})

it('says once how many of more than 1,000 pools are left out', async () => {
  const pools = Array.from({ length: 1_002 }, (_, index) => `pool-${index}`)
  const { loads, warned } = place({ pools: async () => pools, forecast: async () => new Map() })
  expect(await loads.measure()).toHaveLength(1_000)
  await loads.measure()
  expect(warned).toEqual([{ event: 'pools-not-measured', pools: 1_002, leftOut: 2 }])
})

/** As a worker commits it, written by hand. The clock of these tests begins at 0. */
const tells = (more: object) => JSON.stringify({ reach: 0, waiting: 0, sharing: 0, until: 20_000, ...more })

it('what a worker tells to gather, or to work at, is no backlog; what it tells to wait, and what it has not taken, is', async () => {
  const { ends, done, told, after } = place({ forecast: async () => new Map() })
  ends.set(usual, [600, 0])
  done.set(usual, [0, 0])
  expect(await after(6_000)).toMatchObject({ backlog: 600, startsPerS: 0 })
  told.set(usual, tells({ reach: 580 }))
  expect(await after(2_000)).toMatchObject({ backlog: 20, startsPerS: 290, lateMs: 2_000 })
  told.set(usual, tells({ reach: 600, waiting: 40 }))
  expect(await after(2_000)).toMatchObject({ backlog: 40 })
  told.set(usual, tells({ reach: 600 }))
  expect(await after(2_000)).toMatchObject({ backlog: 0, lateMs: 0 })
  // Also in the topics of runs that were dispatched ahead of their time.
  ends.set(ahead, [100, 0])
  done.set(ahead, [0, 0])
  expect(await after(2_000)).toMatchObject({ forecast: 100 })
  told.set(ahead, tells({ reach: 100 }))
  expect(await after(2_000)).toMatchObject({ forecast: 0 })
})

it('what is told is not believed for long, nor without a worker, nor from another program', async () => {
  const { ends, done, told, members, after } = place({ forecast: async () => new Map() })
  ends.set(usual, [600, 0])
  done.set(usual, [0, 0])
  const backlog = async (text: string): Promise<number | undefined> => {
    told.set(usual, text)
    return (await after(1_000))?.backlog
  }
  const good = { reach: 600 }
  expect(await backlog(tells(good))).toBe(0)
  // The clock is at 2 to 11 s now.
  for (const text of [
    tells({ reach: 600, until: 1_000 }),
    tells({ reach: 600, until: 100_000 }),
    tells({ reach: -1 }),
    tells({ reach: 600, waiting: '0' }),
    tells({ reach: 600, sharing: 1.5 }),
    '',
    '{',
    'null',
    `${tells(good)}${' '.repeat(4_000)}`,
    JSON.stringify({ reach: 600 }),
  ])
    expect(await backlog(text), text).toBe(600)
  expect(await backlog(tells(good))).toBe(0)
  // More than there is.
  expect(await backlog(tells({ reach: 9_000 }))).toBe(0)
  expect(await backlog(tells({ reach: 10, waiting: 9_000 }))).toBe(600)
  members.length = 0
  expect(await backlog(tells(good))).toBe(600)
  members.push({ memberId: 'm', instance: 'i', userData: null, assigned: [] })
  expect(await backlog(tells(good))).toBe(0)
  expect((await after(20_000))?.backlog).toBe(600)
})

it('runs of one batch have one slot', async () => {
  const { ends, done, told, members, after } = place({
    forecast: async () => new Map(),
    runs: async () => [[{ pool: 'mail', running: 602 } as never]],
  })
  members.push({ memberId: 'n', instance: 'i', userData: { concurrency: 5 }, assigned: [] })
  ends.set(usual, [602, 0])
  done.set(usual, [602, 0])
  told.set(usual, tells({ reach: 602, sharing: 599 }))
  expect(await after(2_000)).toMatchObject({ running: 3, wanted: 1 })
  // A worker that has just begun others does not tell of them yet.
  told.set(usual, tells({ reach: 602, sharing: 9_000 }))
  expect(await after(2_000)).toMatchObject({ running: 0 })
})

it('while a group shares its partitions, the workers count as they were told before', async () => {
  const { members, after } = place()
  const note = { wanted: 1, min: 1, max: 8, reason: 'start', pool: null, at: 0, coolDownMs: 60_000 }
  const worker = (parent: string) => ({ userData: { concurrency: 5, processes: { ...note, parent } }, isJoining: false })
  members.push(...['a', 'a', 'b'].map(worker))
  expect(await after(2_000)).toMatchObject({
    workers: 4,
    slots: 5,
    byParent: new Map([
      ['a', 2],
      ['b', 1],
    ]),
  })
  members.splice(0, 4, ...Array.from({ length: 3 }, () => ({ userData: null, isJoining: true })))
  expect(await after(2_000)).toMatchObject({
    workers: 3,
    slots: 5,
    byParent: new Map([
      ['a', 2],
      ['b', 1],
    ]),
  })
  members.splice(0, 3, worker('b'))
  expect(await after(2_000)).toMatchObject({ workers: 1, byParent: new Map([['b', 1]]) })
})
