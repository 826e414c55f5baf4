/** Gauges that are read when somebody reads the metrics: who fires, runs by pool, sizes of stores. */
import { expect, test } from 'vitest'
import { newMetrics } from '../../src/ground/metrics/index.ts'
import { ActiveRuns } from '../../src/scheduler/activity/active-runs.ts'
import { Assignment } from '../../src/scheduler/partition/assignment.ts'
import { showPartitions } from '../../src/scheduler/partition-gauges.ts'
import { ManualClock, rest } from '../tools/manual-clock.ts'

type Partitions = Parameters<typeof showPartitions>[1]
type Shown = Partitions extends ReadonlyMap<number, infer One> ? One : never
type Store = NonNullable<Shown['store']>

const storeOf = (bytes: () => Promise<number>): Store => ({ bytes }) as unknown as Store
function shown(partitions: Map<number, Shown>) {
  const [metrics, clock] = [newMetrics({ ofProcess: false }), new ManualClock()]
  showPartitions(metrics, partitions, clock)
  const read = async (): Promise<string[]> => {
    const text = await metrics.registry.metrics()
    return text.split('\n').filter((line) => /^duelog_(partition_active|pool_runs|store_bytes)/.test(line))
  }
  return { clock, read }
}
const runs = (...statuses: ('RUNNING' | 'DISPATCHED' | 'WAITING')[]): ActiveRuns => {
  const activeRuns = new ActiveRuns()
  for (const [at, status] of statuses.entries())
    activeRuns.set(`job-${at}`, [{ status, runNo: 1, routedTo: null } as never], 'mail')
  return activeRuns
}

test('show what the partitions are now, and nothing of those that are gone', async () => {
  const place = (number: number, phase: Shown['phase'], activeRuns: ActiveRuns, bytes: number): Shown => {
    const store = storeOf(async () => bytes)
    return { number, phase, activeRuns, copy: store, store: phase === 'active' ? store : undefined }
  }
  const partitions = new Map<number, Shown>([
    [0, place(0, 'active', runs('RUNNING', 'DISPATCHED', 'DISPATCHED'), 10)],
    [1, place(1, 'active', runs('RUNNING', 'WAITING'), 20)],
    [2, place(2, 'following', runs('RUNNING'), 30)],
  ])
  const { read } = shown(partitions)
  expect(await read()).toEqual([
    'duelog_partition_active{partition="0"} 1',
    'duelog_partition_active{partition="1"} 1',
    'duelog_partition_active{partition="2"} 0',
    'duelog_store_bytes{partition="0"} 10',
    'duelog_store_bytes{partition="1"} 20',
    'duelog_store_bytes{partition="2"} 30',
    'duelog_pool_runs{pool="mail",state="waiting"} 1',
    'duelog_pool_runs{pool="mail",state="dispatched"} 2',
    'duelog_pool_runs{pool="mail",state="running"} 2',
  ])
  partitions.clear()
  expect(await read()).toEqual([])
})

test('a store that fails, or does not answer in time, is left out', async () => {
  const place = (number: number, bytes: () => Promise<number>): Shown => {
    const store = storeOf(bytes)
    return { number, phase: 'active', activeRuns: undefined, copy: store, store }
  }
  const failing = (): Promise<number> => Promise.reject(new Error('The disk is broken.'))
  const never = (): Promise<number> => new Promise(() => {})
  const { clock, read } = shown(
    new Map([
      [0, place(0, failing)],
      [1, place(1, async () => 7)],
      [2, place(2, never)],
    ]),
  )
  const lines = read()
  await rest()
  clock.advance(1_000)
  expect((await lines).filter((line) => line.startsWith('duelog_store_bytes'))).toEqual(['duelog_store_bytes{partition="1"} 7'])
})

test('a partition that fires no longer shows no overdue timers and no waiting runs', async () => {
  const [metrics, clock] = [newMetrics({ ofProcess: false }), new ManualClock()]
  const resources = { hooks: [], phaseChanged: () => {} }
  const assignment = new Assignment(3, 'owner', { clock, metrics } as never, {} as never, resources as never)
  const gauges = [metrics.timersOverdue, metrics.mailboxDepth, metrics.runsWithoutHandler, metrics.runsInPausedPools]
  const values = async (): Promise<(number | undefined)[]> =>
    Promise.all(gauges.map(async (gauge) => (await gauge.get()).values[0]?.value))
  assignment.enter('active')
  for (const gauge of gauges) gauge.set({ partition: 3 }, 5)
  assignment.enter('active')
  expect(await values()).toEqual([5, 5, 5, 5])
  assignment.enter('restoring')
  expect(await values()).toEqual([0, 0, 0, 0])
})
