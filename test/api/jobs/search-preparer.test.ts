import pino from 'pino'
import { describe, expect, it } from 'vitest'
import { SearchPreparer } from '../../../src/server/api/jobs/search-preparer.ts'
import { searchPrepareMs } from '../../../src/server/api/schemas/limits.ts'
import type { Owner } from '../../../src/server/peers/owner-directory.ts'
import { VirtualTime } from '../../tools/manual-clock.ts'

/** Partition 0 takes three calls, partition 1 one; each call takes 80 ms. */
function prepared({ fails = false } = {}) {
  const time = new VirtualTime()
  const rests: number[] = []
  const wall = { setBackMs: 0 }
  const clock = {
    nowMs: () => time.nowMs - wall.setBackMs,
    steadyMs: () => time.nowMs,
    at: (whenMs: number, wake: () => void) => {
      rests.push(whenMs - clock.nowMs())
      time.nowMs = whenMs + wall.setBackMs
      wake()
      return () => undefined
    },
  }
  const calls: string[] = []
  const state = { isWanted: true }
  const owner = {
    async list(partition: number, filter: object, _limit: number, after?: string) {
      if (fails) throw new Error('Nobody answers.')
      calls.push(`${partition} ${Object.keys(filter)} after ${after}`)
      time.nowMs += 80
      const next = partition > 0 ? undefined : after === undefined ? 'a' : after === 'a' ? 'b' : undefined
      return { jobs: [], looked: 10_000, ...(next !== undefined && { next }) }
    },
  } as unknown as Owner
  const owners = { ask: <Answer>(_partition: number, question: (owner: Owner) => Promise<Answer>) => question(owner) }
  const context = { owners, partitions: 2, clock, logger: pino({ level: 'silent' }) } as never
  return { time, wall, rests, calls, state, preparer: new SearchPreparer(context, () => state.isWanted) }
}

describe('owners, while somebody uses the dashboard', () => {
  it('are asked for a handler that no job has until they have searched all jobs, with pauses as long as the calls', async () => {
    const { preparer, calls, rests } = prepared()
    await preparer.tick()
    expect(calls).toEqual(['0 handler after undefined', '0 handler after a', '0 handler after b', '1 handler after undefined'])
    expect(rests).toEqual([80, 80])
  })
  it('get one request at a time, and another after a while', async () => {
    const { preparer, calls, time } = prepared()
    await Promise.all([preparer.tick(), preparer.tick()])
    await preparer.tick()
    expect(calls).toHaveLength(4)
    time.nowMs += searchPrepareMs
    await preparer.tick()
    expect(calls).toHaveLength(8)
  })
  it('are asked again although the clock was set back by hours', async () => {
    const { preparer, calls, time, wall } = prepared()
    await preparer.tick()
    wall.setBackMs = 6 * 3_600_000
    time.nowMs += searchPrepareMs
    await preparer.tick()
    expect(calls).toHaveLength(8)
  })
  it('are not asked after the last dashboard is closed', async () => {
    const { preparer, calls, state } = prepared()
    const ticked = preparer.tick()
    state.isWanted = false
    await ticked
    expect(calls).toEqual(['0 handler after undefined'])
  })
  it('may be unreachable: only the first search is slower', async () => {
    const { preparer, calls } = prepared({ fails: true })
    await expect(preparer.tick()).resolves.toBeUndefined()
    expect(calls).toEqual([])
  })
})
