/** The promises of DUELOG_EXECUTOR_PROCESSES over time, against a pool that is simulated without the formula. */
import { expect, it, onTestFinished } from 'vitest'
import { Pool, type PoolPlan } from './pool-model.ts'

const quick: PoolPlan = {
  ...{ comes: () => 0, workMs: () => 200, slots: 5, isForeseen: true },
  machines: [{ min: 1, max: 8 }],
}

async function lived(plan: Partial<PoolPlan>, seconds: number, each?: (second: number, pool: Pool) => void): Promise<Pool> {
  const pool = new Pool({ ...quick, ...plan })
  onTestFinished(() => pool.stop())
  return pool.run(seconds, (second) => each?.(second, pool))
}

const until = (end: number, comes: (second: number) => number) => (second: number) => (second < end ? comes(second) : 0)
const totals = ({ counts }: Pool): number[] => counts.map((each) => each.reduce((sum, count) => sum + count, 0))

/** Within the limits of each machine in each second, and at the minimum in the end, with nothing left. */
function keepsItsLimits({ plan, counts, waiting }: Pool): void {
  plan.machines.forEach(({ min, max }, at) => {
    const own = counts.map((each) => each[at] as number)
    expect(Math.min(...own)).toBeGreaterThanOrEqual(min)
    expect(Math.max(...own)).toBeLessThanOrEqual(max)
    expect(own.at(-1)).toBe(min)
  })
  expect(waiting).toBe(0)
}

/** 600 runs gather for 30 s, and work for 3 s in one of 50 slots. */
const gathers: Partial<PoolPlan> = {
  ...{ comes: until(600, () => 20), slots: 50, workMs: () => 3_000, gatherMs: 30_000 },
  machines: [{ min: 1, max: 16 }],
}

it('a batch that gathers for 30 s takes one process, also if the clock of who measures is 2 s off', async () => {
  for (const skewMs of [0, 2_000, -2_000]) {
    const pool = await lived({ ...gathers, machines: [{ min: 1, max: 16, skewMs }] }, 800)
    expect(Math.max(...totals(pool))).toBe(1)
    keepsItsLimits(pool)
  }
  // A worker that does not tell what it gathers looks like a stuck pool.
  expect(Math.max(...totals(await lived({ ...gathers, isSilent: true }, 300)))).toBeGreaterThan(8)
})

it('a worker that hangs while its batch gathers is seen within 20 s', async () => {
  const isStuck = (second: number): boolean => second >= 310
  const pool = await lived({ ...gathers, isStuck }, 400)
  expect(Math.max(...totals(pool).slice(0, 310))).toBe(1)
  expect(Math.max(...totals(pool).slice(310, 330))).toBeGreaterThan(1)
})

it('while brokers answer nobody, and for a cool-down after it, as many processes stay', async () => {
  const isDark = (second: number): boolean => second >= 300 && second < 500
  const pool = await lived({ comes: until(310, () => 60), isDark }, 800)
  const before = totals(pool)[299] as number
  expect(before).toBeGreaterThan(2)
  expect(new Set(totals(pool).slice(299, 555))).toEqual(new Set([before]))
  keepsItsLimits(pool)
})

it('a pause ends with as few processes as the pool needs then, and what has waited is worked off with all', async () => {
  const isPaused = (second: number): boolean => second >= 200 && second < 500
  const pool = await lived({ comes: until(520, () => 60), isPaused }, 1_000)
  expect(totals(pool)[490]).toBe(1)
  expect(Math.max(...totals(pool).slice(500))).toBe(8)
  keepsItsLimits(pool)
})

it('a worker that dies each minute, with two machines of different limits: the load is borne', async () => {
  const machines = [
    { min: 1, max: 2 },
    { min: 1, max: 8, skewMs: 2_000 },
  ]
  const pool = await lived({ comes: until(900, () => 90), machines }, 1_200, (second, each) => {
    if (second % 60 === 59) each.kill(second % 2)
  })
  keepsItsLimits(pool)
  // 90 a second are 4 processes and what those bear that have died; the first minute is the one in which they start.
  const late = pool.waits.filter(({ dueSecond, waitMs }) => dueSecond > 60 && waitMs > 10_000)
  expect(late).toEqual([])
})

it('a process that is paused by its name is replaced', async () => {
  const pool = await lived({ comes: until(700, () => 40) }, 1_000, (second, { machines }) => {
    const [first] = machines[0]?.processes ?? []
    if (first !== undefined && (second === 300 || second === 600)) first.isPaused = second === 300
  })
  expect(totals(pool)[299]).toBe(2)
  expect(totals(pool)[599]).toBeGreaterThan(2)
  keepsItsLimits(pool)
})
