/** Gauges of the partitions of this process that are read when somebody reads the metrics: who fires, runs by pool, sizes of stores. */
import type { Clock } from '../ground/clock/index.ts'
import { withTimeout } from '../ground/concurrency/index.ts'
import { type Metrics, type Reading, whenRead } from '../ground/metrics/index.ts'
import type { Partition } from './partition/index.ts'

/** Time for the sizes of all stores. A disk that answers later is broken, and the other metrics should not wait for it. */
const storesAnswerMsMax = 500

type Gauges = Pick<Metrics, 'partitionActive' | 'poolRuns' | 'storeBytes'>
type Shown = Pick<Partition, 'number' | 'phase' | 'activeRuns' | 'copy' | 'store'>

/** Shows the gauges of these partitions from now on. */
export function showPartitions(metrics: Gauges, partitions: ReadonlyMap<number, Shown>, clock: Clock): void {
  whenRead(metrics.partitionActive, () =>
    Array.from(partitions.values(), ({ number, phase }) => reading(number, phase === 'active' ? 1 : 0)),
  )
  whenRead(metrics.poolRuns, () => poolRuns(partitions.values()))
  whenRead(metrics.storeBytes, () => storeBytes(partitions.values(), clock))
}

const reading = (partition: number, value: number): Reading => ({ labels: { partition }, value })

function poolRuns(partitions: Iterable<Shown>): Reading[] {
  const pools = new Map<string, { waiting: number; dispatched: number; running: number }>()
  for (const { phase, activeRuns } of partitions) {
    if (phase !== 'active') continue
    for (const { pool, waiting, dispatched, running } of activeRuns?.byPool ?? []) {
      const sum = pools.get(pool) ?? { waiting: 0, dispatched: 0, running: 0 }
      pools.set(pool, sum)
      sum.waiting += waiting
      sum.dispatched += dispatched
      sum.running += running
    }
  }
  return [...pools].flatMap(([pool, sums]) => Object.entries(sums).map(([state, value]) => ({ labels: { pool, state }, value })))
}

/** A store that is being closed, or whose disk fails, is left out. */
async function storeBytes(partitions: Iterable<Shown>, clock: Clock): Promise<Reading[]> {
  const readings: Reading[] = []
  const asked = Array.from(partitions, async ({ number, store, copy }) => {
    const bytes = await (store ?? copy)?.bytes()
    if (bytes !== undefined) readings.push(reading(number, bytes))
  })
  await withTimeout(clock, storesAnswerMsMax, Promise.allSettled(asked))
  return [...readings]
}
