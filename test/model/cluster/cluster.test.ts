/**
 * Whole clusters under a virtual clock: the real scheduler in one or two processes over a simulated log, group and disk. A seed
 * chooses the order of all steps, and the failures between any two of them.
 *
 * DUELOG_MODEL_HISTORIES sets the number of histories, DUELOG_MODEL_FIRST_SEED the first seed. One history of one seed repeats a
 * failure, and DUELOG_MODEL_TRACE=1 prints it step by step. DUELOG_MODEL_SWITCHES turns on what is off in switches.ts. Long runs:
 * DUELOG_MODEL_FIRST_SEED=1000 DUELOG_MODEL_HISTORIES=20000 npx vitest run test/model/cluster
 */
import { describe, expect, it, vi } from 'vitest'
import { usually } from '../../setup/long.ts'
import { deeds } from './doers.ts'
import { called } from './handlers.ts'
import { ahead, filled, followed, history, operated, paused } from './history.ts'
import { metrics } from './process.ts'
import { Simulation } from './simulation.ts'

const histories = Number(process.env.DUELOG_MODEL_HISTORIES ?? usually(100, 2_000))
const firstSeed = Number(process.env.DUELOG_MODEL_FIRST_SEED ?? 1)
/** What histories must have had is counted for 150 of them. */
const share = histories / 150
/** Histories of one test. The size keeps each test below its time limit. */
const rounds = Math.max(10, Math.ceil(histories / 8))

describe('a cluster under random histories', () => {
  for (let round = 0; round < rounds; round++) {
    const [from, to] = [Math.ceil((histories * round) / rounds), Math.ceil((histories * (round + 1)) / rounds)]
    if (from === to) continue
    it(`keeps every promise in the histories of the seeds ${firstSeed + from} to ${firstSeed + to - 1}`, async () => {
      // All seeds of a round are judged, so the failure names each failed seed.
      const red: Record<number, string[]> = {}
      for (let seed = firstSeed + from; seed < firstSeed + to; seed++) {
        const problems = await history(seed)
        if (problems.length > 0) red[seed] = problems
      }
      expect(red).toEqual({})
    })
  }
  it('is the same history for a seed, however slow the machine is', async () => {
    const traceOf = async (seed: number): Promise<string> => {
      const world = new Simulation(seed)
      await world.live(900)
      await world.rest(45_000)
      return world.trace.join('\n')
    }
    const seeds = [5, 20, 25]
    const quick = []
    for (const seed of seeds) quick.push(await traceOf(seed))
    let slowMs = 0
    const now = performance.now.bind(performance)
    // As if 5 ms passed between any two looks at the clock of the machine.
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => {
      slowMs += 5
      return now() + slowMs
    })
    try {
      for (const [index, seed] of seeds.entries()) expect(await traceOf(seed)).toBe(quick[index])
    } finally {
      clock.mockRestore()
    }
  })
  it('has standbys whose stores equal those of their owners', () => {
    if (histories >= 100) expect(followed.count).toBeGreaterThan(20 * share)
  })
  it('has owners that dispatch ahead of time', () => {
    if (histories >= 100) expect(ahead.histories).toBeGreaterThan(share)
  })
  it('has forwarders, intakes and workers that do their work', () => {
    if (histories < 100) return
    expect(deeds.forwarder).toBeGreaterThan(20 * share)
    expect(deeds.intake).toBeGreaterThan(50 * share)
    expect(deeds.executor).toBeGreaterThan(200 * share)
    expect(called.handlers).toBeGreaterThan(200 * share)
  })
  it('has operations that change many jobs', () => {
    if (histories < 100) return
    expect(operated.histories).toBeGreaterThan(20 * share)
    expect(operated.jobs).toBeGreaterThan(50 * share)
  })
  it('has pools that are paused while their runs are due', () => {
    if (histories < 100) return
    expect(paused.decisions).toBeGreaterThan(100 * share)
    expect(paused.histories).toBeGreaterThan(5 * share)
    expect(paused.rests).toBeGreaterThan(3 * share)
  })
  it('has full input buffers and full commit cycles', () => {
    if (histories < 100) return
    expect(filled.inputBuffers).toBeGreaterThan(10 * share)
    expect(filled.turns).toBeGreaterThan(3 * share)
    expect(filled.memories).toBeGreaterThan(share)
  })
  it('never needs its lost-timer sweeper', async () => {
    const { values } = await metrics.timersRearmed.get()
    expect(values.map(({ value }) => value)).toEqual([0])
  })
})
