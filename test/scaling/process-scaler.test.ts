/** The scaler with pools whose loads the test sets. */
import { expect, it, onTestFinished } from 'vitest'
import { type PoolLoad, ProcessScaler } from '../../src/scaling/index.ts'
import { ManualClock } from '../tools/manual-clock.ts'

const parent = 'duelog@machine:1:a'

function scaler(pools: string[]) {
  const clock = new ManualClock()
  /** Workers that each pool needs; a pool that is not here cannot be measured. */
  const needs = new Map<string, number>()
  const processes = {
    ...{ running: 1, paused: 0 },
    scaleTo: (wanted: number) => {
      processes.running = wanted
    },
  }
  const load = (pool: string, wanted: number): PoolLoad => ({
    ...{ pool, wanted, reason: 'backlog', backlog: 0, forecast: 0, lateMs: 0, arrivalsPerS: 0, startsPerS: 0, starts: 0 },
    ...{ running: 0, workers: processes.running, slots: 5, partitions: 64, byParent: new Map([[parent, processes.running]]) },
  })
  const made = new ProcessScaler({
    loads: { measure: async () => [...needs].map(([pool, wanted]) => load(pool, wanted)) },
    ...{ processes, parent, pools: new Set(pools), clock, min: 1, max: 8, coolDownMs: 60_000 },
    metrics: { executorsWanted: { set: () => {} }, executorChanges: { inc: () => {} } } as never,
    logger: { info: () => {}, debug: () => {} } as never,
  })
  onTestFinished(() => made.stop())
  made.start()
  return { clock, needs, processes }
}

it('a machine has as many processes as the pool needs that needs most; a pool that cannot be measured keeps what there is', async () => {
  const { clock, needs, processes } = scaler(['mail', 'video'])
  needs.set('mail', 1).set('video', 6).set('of others', 8)
  await clock.advance(2_000)
  expect(processes.running).toBe(6)
  needs.delete('video')
  await clock.advance(300_000)
  expect(processes.running).toBe(6)
  needs.set('mail', 7)
  await clock.advance(2_000)
  expect(processes.running).toBe(7)
  needs.set('mail', 1).set('video', 2)
  await clock.advance(58_000)
  expect(processes.running).toBe(7)
  await clock.advance(4_000)
  expect(processes.running).toBe(2)
})
