/** Which worker a run goes to, by what the members of a pool's group announce. */
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { newMetrics } from '../../../src/ground/metrics/metrics.ts'
import type { GroupMember } from '../../../src/ground/ports/log.ts'
import { outdatedMs, PoolWorkers } from '../../../src/scheduler/pools/pool-workers.ts'
import { topicNames } from '../../../streams/topics/topics.ts'
import { ManualClock, rest, VirtualTime } from '../../tools/manual-clock.ts'

const metrics = newMetrics()
const member = (instance: string, handlers: unknown, isJoining = false): GroupMember => ({
  ...{ memberId: instance, instance, assigned: [], isJoining },
  userData: handlers === null ? null : { handlers },
})

class Pool {
  readonly time = new VirtualTime()
  readonly clock = new ManualClock(this.time)
  members: GroupMember[] | Error
  asked: string[] = []
  changes = 0
  isWatched = false
  readonly lines: string[] = []
  readonly workers: PoolWorkers

  constructor(members: GroupMember[] | Error) {
    this.members = members
    const logger = pino({ level: 'warn' }, { write: (line: string) => void this.lines.push(JSON.parse(line).msg) })
    this.workers = new PoolWorkers({
      ...{ clock: this.clock, metrics, logger, names: topicNames('x.') },
      admin: {
        groupMembers: async (groupId) => {
          this.asked.push(groupId)
          if (this.members instanceof Error) throw this.members
          return this.members
        },
      },
      isWatched: () => this.isWatched,
      onChanged: () => {
        this.changes++
      },
    })
  }

  /** The answer once the view is read. */
  async route(handler = 'h', except: string | null = null) {
    this.workers.routeTo('default', handler, except)
    await rest()
    return this.workers.routeTo('default', handler, except)
  }
}

describe('a run goes', () => {
  it.each([
    ['to any worker while nothing is known', new Error('no coordinator'), 'any'],
    ['to any worker of a pool without workers', [], 'any'],
    ['to any worker if all have the handler', [member('a', ['h']), member('b', ['h', 'i'])], 'any'],
    ['to any worker if one that announces nothing may have it', [member('a', ['i']), member('b', null)], 'any'],
    ['to any worker if those that announce it have it', [member('a', ['h']), member('b', null)], 'any'],
    ['to the one that has it', [member('a', ['i']), member('b', ['h'])], { workers: ['b'] }],
    [
      'to the one that announces it, rather than one that may have it',
      [member('a', ['i']), member('b', ['h']), member('c', null)],
      { workers: ['b'] },
    ],
    ['nowhere if none has it', [member('a', ['i']), member('b', [])], 'none'],
  ] as const)('%s', async (_, members, expected) => {
    expect(await new Pool(members instanceof Error ? members : [...members]).route()).toEqual(expected)
  })

  it('to those that have it, and not to the one that has given it back', async () => {
    const pool = new Pool([member('b', ['h']), member('a', ['h']), member('c', [])])
    expect(await pool.route()).toEqual({ workers: ['a', 'b'] })
    expect(pool.workers.routeTo('default', 'h', 'a')).toEqual({ workers: ['b'] })
    pool.members = [member('a', ['h']), member('c', [])]
    await pool.clock.advance(1_000)
    expect(await pool.route('h', 'a')).toBe('none')
  })

  it('to a worker with the handlers of all members of its name', async () => {
    expect(await new Pool([member('a', ['h']), member('a', []), member('b', [])]).route()).toEqual({ workers: ['a'] })
  })
})

describe('a view', () => {
  it('is read once while it is used, and again after 5 s, or 1 s if the workers differ', async () => {
    const pool = new Pool([member('a', ['h'])])
    await pool.route()
    await pool.clock.advance(4_999)
    await pool.route()
    expect(pool.asked).toEqual(['x.exec.default'])
    await pool.clock.advance(1)
    pool.members = [member('a', ['h']), member('b', [])]
    await pool.route()
    await pool.clock.advance(999)
    await pool.route()
    expect(pool.asked).toHaveLength(2)
    await pool.clock.advance(1)
    await pool.route()
    expect(pool.asked).toHaveLength(3)
  })
  it('says nothing once it is outdated', async () => {
    const pool = new Pool([member('a', [])])
    expect(await pool.route()).toBe('none')
    pool.members = new Error('no coordinator')
    await pool.clock.advance(outdatedMs - 1)
    expect(await pool.route()).toBe('none')
    await pool.clock.advance(1)
    expect(await pool.route()).toBe('any')
  })
  it('stays while the group assigns its partitions, because members announce nothing then', async () => {
    const pool = new Pool([member('a', []), member('b', ['h'])])
    await pool.route()
    pool.members = [member('member-1', null, true), member('member-2', null, true)]
    await pool.clock.advance(1_000)
    expect(await pool.route()).toEqual({ workers: ['b'] })
    expect(pool.workers.goneAt('default', 'b', 0)).toBeUndefined()
  })
  it('is read every second while a run depends on it, and changes are told', async () => {
    const pool = new Pool([member('a', [])])
    pool.isWatched = true
    expect(await pool.route()).toBe('none')
    expect(pool.changes).toBe(1)
    await pool.clock.advance(3_000)
    expect([pool.asked.length, pool.changes]).toEqual([4, 1])
    pool.members = [member('a', []), member('b', ['h'])]
    await pool.clock.advance(1_000)
    expect(pool.changes).toBe(2)
    pool.isWatched = false
    await pool.clock.advance(10_000)
    expect(pool.asked.length).toBeLessThanOrEqual(6)
    expect(pool.time.armed).toBe(0)
  })
  it('is not read any more after a stop', async () => {
    const pool = new Pool([member('a', [])])
    pool.isWatched = true
    await pool.route()
    pool.workers.stop()
    await pool.clock.advance(60_000)
    await pool.route()
    expect(pool.asked).toHaveLength(1)
    expect(pool.time.armed).toBe(0)
  })
  it('takes no more than 10 s, so that a silent broker is asked again', async () => {
    const pool = new Pool([])
    const { workers, clock } = pool
    pool.members = [member('a', [])]
    let hangs = true
    const asked: string[] = []
    const slow = new PoolWorkers({
      ...{ clock, metrics, logger: pino({ level: 'silent' }), names: topicNames('x.') },
      admin: {
        groupMembers: async (groupId) => {
          asked.push(groupId)
          return hangs ? new Promise<never>(() => {}) : [member('a', [])]
        },
      },
      ...{ isWatched: () => false, onChanged: () => {} },
    })
    workers.stop()
    slow.routeTo('default', 'h', null)
    await clock.advance(9_999)
    slow.routeTo('default', 'h', null)
    expect(asked).toHaveLength(1)
    hangs = false
    await clock.advance(1)
    slow.routeTo('default', 'h', null)
    await rest()
    expect(slow.routeTo('default', 'h', null)).toBe('none')
    slow.stop()
  })
})

describe('a worker that has left', () => {
  it('is known since the first view without it, and no view before the dispatch counts', async () => {
    const pool = new Pool([member('a', []), member('b', ['h'])])
    await pool.route()
    expect(pool.workers.goneAt('default', 'b', 0)).toBeUndefined()
    await pool.clock.advance(1_000)
    const goneAt = pool.clock.nowMs()
    pool.members = [member('a', [])]
    await pool.route()
    expect(pool.workers.goneAt('default', 'b', 0)).toBe(goneAt)
    expect(pool.workers.goneAt('default', 'b', goneAt + 1)).toBeUndefined()
    await pool.clock.advance(5_000)
    await pool.route()
    expect(pool.workers.goneAt('default', 'b', 0)).toBe(goneAt)
    expect(pool.workers.goneAt('default', 'b', goneAt + 1)).toBe(goneAt + 1)
    pool.members = [member('a', []), member('b', ['h'])]
    await pool.clock.advance(5_000)
    await pool.route()
    expect(pool.workers.goneAt('default', 'b', 0)).toBeUndefined()
  })
})

describe('the workers of a name', () => {
  const since = async (pool: Pool) => {
    pool.workers.namedSince('default', 'gpu')
    await rest()
    return pool.workers.namedSince('default', 'gpu')
  }
  it('are known since one of them came or left', async () => {
    const pool = new Pool([member('gpu@h:1:b', [])])
    const [startMs] = [pool.clock.nowMs(), await since(pool)]
    expect(await since(pool)).toBe(startMs)
    pool.members = [member('gpu@h:1:b', []), member('other@h2:1:b', [])]
    await pool.clock.advance(5_000)
    expect(await since(pool)).toBe(startMs)
    pool.members = [member('gpu@h:1:b', []), member('x@gpu:7:b', [])]
    await pool.clock.advance(5_000)
    expect(await since(pool)).toBe(startMs + 10_000)
    pool.members = [member('x@gpu:7:b', [])]
    await pool.clock.advance(5_000)
    expect(await since(pool)).toBe(startMs + 15_000)
  })
  it('are away if all members say their names, and unknown otherwise', async () => {
    expect(await since(new Pool(new Error('no coordinator')))).toBeUndefined()
    expect(await since(new Pool([member('member-1', null)]))).toBeUndefined()
    expect(await since(new Pool([]))).toBeNull()
    expect(await since(new Pool([member('cpu@h:1:b', [])]))).toBeNull()
  })
})

describe('the log', () => {
  it('has one line for a handler that no worker has, and one for a pool without workers, in ten minutes', async () => {
    const pool = new Pool([member('a', [])])
    for (let times = 0; times < 5; times++) await pool.route()
    expect(pool.lines).toEqual([
      'No worker of pool default has the handler h. Runs of its jobs wait for one, and lose no attempt.',
    ])
    pool.members = []
    await pool.clock.advance(5_000)
    await pool.route()
    expect(pool.lines[1]).toBe('No worker serves pool default. Its runs wait in its topics.')
    pool.members = [member('a', [])]
    await pool.clock.advance(600_000)
    await pool.route()
    expect(pool.lines).toHaveLength(3)
  })
})

it('the metric shows what was looked up last, and nothing that is older than 5 minutes', async () => {
  const pool = new Pool([member('a', ['h']), member('b', ['h'])])
  const shown = async () => (await metrics.poolWorkers.get()).values
  await pool.route()
  expect(await shown()).toEqual([{ labels: { pool: 'default' }, value: 2 }])
  await pool.clock.advance(299_000)
  expect(await shown()).toEqual([{ labels: { pool: 'default' }, value: 2 }])
  await pool.clock.advance(1_001)
  expect(await shown()).toEqual([])
})
