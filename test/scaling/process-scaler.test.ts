/** The scaler with pools whose loads the test sets. */
import fc from 'fast-check'
import { expect, it, onTestFinished } from 'vitest'
import { type PoolLoad, ProcessScaler } from '../../src/server/scaling/index.ts'
import { firstProcesses, gapMs, processesWanted, shareOf } from '../../src/server/scaling/process-scaler.ts'
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

const limits = { min: 1, max: 8, coolDownMs: 60_000 }

it('after a time without measurements, as many as before are kept for another cool-down', () => {
  const wish = (processes: number) => ({ processes, reason: 'x' })
  const loaded = processesWanted(wish(8), firstProcesses(limits), limits, 0)
  const dark = 300_000
  let decided = processesWanted(wish(1), loaded, limits, dark)
  expect(decided.processes).toBe(8)
  for (let atMs = dark + 2_000; atMs < dark + 60_000; atMs += 2_000) {
    decided = processesWanted(wish(1), decided, limits, atMs)
    expect(decided.processes).toBe(8)
  }
  expect(processesWanted(wish(1), decided, limits, dark + 60_000)).toMatchObject({ processes: 1, reason: 'cool-down' })
})

it('processes come at once and go only to the most of the cool-down, within the limits', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(20), fc.nat(30_000)), { maxLength: 200 }), (steps) => {
      const limits = { min: 2, max: 9, coolDownMs: 60_000 }
      let decided = firstProcesses(limits)
      let nowMs = 0
      const history: { atMs: number; wish: number }[] = []
      for (const [wish, passMs] of steps) {
        nowMs += passMs
        const before = decided.processes
        // After a gap nobody knows what was needed meanwhile.
        if (passMs >= gapMs && history.length > 0) history.push({ atMs: nowMs, wish: before })
        history.push({ atMs: nowMs, wish })
        decided = processesWanted({ processes: wish, reason: 'x' }, decided, limits, nowMs)
        const bounded = history.filter(({ atMs }) => nowMs - atMs < 60_000).map((each) => Math.max(2, Math.min(9, each.wish)))
        expect(decided.processes).toBe(Math.max(...bounded, Math.min(before, Math.max(...bounded))))
        expect(decided.recent.length).toBeLessThanOrEqual(8)
      }
    }),
  )
})

it('machines that share a pool come to their shares', () => {
  expect(shareOf(5, { running: 2, members: 2, paused: 0 }, 2)).toBe(5)
  expect(shareOf(12, { running: 2, members: 2, paused: 0 }, 6)).toBe(4)
  const [four, one] = [
    { running: 4, members: 4, paused: 0 },
    { running: 1, members: 1, paused: 0 },
  ]
  expect([shareOf(10, four, 5), shareOf(10, one, 5)]).toEqual([8, 2])
  // Until one of its own has joined, a machine does not know its share.
  expect(shareOf(30, { running: 2, members: 0, paused: 0 }, 0)).toBe(2)
  expect(shareOf(30, { running: 2, members: 0, paused: 0 }, 5)).toBe(2)
  // Those that are starting are not members yet.
  expect(shareOf(8, { running: 6, members: 2, paused: 0 }, 4)).toBe(4)
  // Those that are paused come in addition. While all of a machine are, the others take the load, or new ones if there are no others.
  expect(shareOf(3, { running: 3, members: 2, paused: 1 }, 2)).toBe(4)
  expect(shareOf(3, { running: 2, members: 0, paused: 2 }, 4)).toBe(2)
  expect(shareOf(3, { running: 2, members: 0, paused: 2 }, 0)).toBe(5)
})

it('machines that start processes at the same time do not all start all of them', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 2, max: 5 }),
      fc.integer({ min: 2, max: 30 }),
      fc.integer({ min: 1, max: 9 }),
      (count, wish, startS) => {
        const limits = { min: 1, max: 32, coolDownMs: 60_000 }
        const machines = Array.from({ length: count }, () => ({ decided: firstProcesses(limits), joinsAt: [startS] }))
        for (let second = 0; second < 200; second++) {
          const joined = (joinsAt: readonly number[]): number => joinsAt.filter((at) => at <= second).length
          const all = machines.reduce((sum, { joinsAt }) => sum + joined(joinsAt), 0)
          for (const [index, machine] of machines.entries()) {
            if ((second + index) % 2 === 1) continue
            const own = { running: machine.joinsAt.length, members: joined(machine.joinsAt), paused: 0 }
            const processes = shareOf(second < 20 ? 1 : wish, own, all)
            machine.decided = processesWanted({ processes, reason: 'x' }, machine.decided, limits, second * 1_000)
            while (machine.joinsAt.length < machine.decided.processes) machine.joinsAt.push(second + startS)
            machine.joinsAt.length = machine.decided.processes
          }
          // Each rounds up once while some join and others do not.
          const total = machines.reduce((sum, { joinsAt }) => sum + joinsAt.length, 0)
          expect(total).toBeLessThanOrEqual(Math.max(wish, count) * 1.5 + count)
          if (second === 199) expect(total).toBeGreaterThanOrEqual(wish)
        }
      },
    ),
  )
})
