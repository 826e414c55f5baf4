/** The load of pools, from a log with the positions of a group and from owners, without brokers. */
import { expect, it } from 'vitest'
import { PoolLoads } from '../../src/scaling/index.ts'
import { topicNames } from '../../streams/topics/index.ts'

const names = topicNames('t.')

/** Topics by name: the end of each partition, and what the group has done of it. */
function place(more: Partial<ConstructorParameters<typeof PoolLoads>[0]> = {}) {
  const ends = new Map<string, number[]>()
  const done = new Map<string, number[]>()
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
        new Map(topics.map((topic) => [topic, (done.get(topic) ?? []).map((offset, partition) => ({ partition, offset }))])),
      groupMembers: async () => [
        { memberId: 'm', instance: 'duelog@host:1:a', userData: { concurrency: 5 }, assigned: [], isJoining: false },
      ],
    } as ConstructorParameters<typeof PoolLoads>[0]['admin'],
    names,
    clock: { nowMs: () => nowMs, steadyMs: () => nowMs },
    pools: async () => ['mail'],
    slots: 50,
    runs: async () => [[{ pool: 'mail', running: 1 } as never]],
    forecast: async () => new Map([['mail', 600]]),
    isPaused: () => false,
    logger: { warn: (fields: object) => void warned.push(fields) } as never,
    ...more,
  })
  const after = async (ms: number) => {
    nowMs += ms
    return (await loads.measure())[0]
  }
  return { ends, done, after, loads, asked, missing, warned }
}
const usual = names.executions('mail', 'NORMAL')
const ahead = names.executions('mail', 'NORMAL', true)

it('the backlog is what is not done of the usual lanes, and its age is known from earlier ends', async () => {
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
  const paused = place({ isPaused: (pool) => pool === 'mail', runs: async () => [[]] })
  expect(await paused.after(2_000)).toMatchObject({ forecast: 0, wanted: 0, reason: 'idle' })
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
