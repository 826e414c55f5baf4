/** Lanes that go to another worker: what has started here is committed before the other one reads them. */
import { describe, expect, it } from 'vitest'
import type { Handlers } from '../../../src/worker/executor/handlers/handler.ts'
import { rest } from '../../tools/manual-clock.ts'
import { codecs, Harness } from '../harness.ts'

const lanes = (harness: Harness, partition: number) => harness.reader.options.topics.map((topic) => ({ topic, partition }))

/** Whether it has settled, as a value that tests can look at. */
function watched(work: Promise<void>): { isOver: boolean } {
  const state = { isOver: false }
  void work.then(() => {
    state.isOver = true
  })
  return state
}

/** A gate that a test opens. */
function gate(): { closed: Promise<void>; open(): void } {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { closed: promise, open: () => resolve() }
}

const started = (handlers: Handlers = {}): Promise<Harness> =>
  new Harness({ never: () => new Promise(() => {}), ...handlers }).start()
const jobs = (harness: Harness): string[] => harness.starts.map(({ jobId }) => jobId)

/** A worker with a run whose report the broker does not acknowledge before the test says so. */
async function unacknowledged(): Promise<{ harness: Harness; acknowledge(): void }> {
  const harness = await started()
  const { closed, open } = gate()
  harness.log.gate = closed
  harness.put({ jobId: 'running', handler: 'never' })
  await rest()
  const acknowledge = (): void => {
    harness.log.gate = undefined
    open()
  }
  return { harness, acknowledge }
}

describe('a revoked lane', () => {
  it('is given up when the report of what has started is acknowledged and committed, and not before', async () => {
    const { harness, acknowledge } = await unacknowledged()
    harness.put({ jobId: 'next', dueAt: harness.clock.nowMs() + 60_000 })
    await rest()
    await harness.clock.advance(20)
    const revoked = watched(harness.reader.revoke(lanes(harness, 0)))
    await rest()
    expect([revoked.isOver, harness.committed()]).toEqual([false, undefined])
    acknowledge()
    await rest()
    await harness.clock.advance(20)
    expect([revoked.isOver, harness.committed()]).toEqual([true, 1])
    // What has not started is for the next reader. Here it never starts.
    await harness.clock.advance(70_000)
    expect(jobs(harness)).toEqual(['running'])
    await harness.stop()
  })

  it('takes nothing more, while other lanes go on', async () => {
    const { harness, acknowledge } = await unacknowledged()
    const revoked = watched(harness.reader.revoke(lanes(harness, 0)))
    harness.put({ jobId: 'lost' })
    harness.put({ jobId: 'kept' }, { partition: 1 })
    await rest()
    expect(jobs(harness)).toEqual(['running', 'kept'])
    acknowledge()
    await rest()
    await harness.clock.advance(20)
    expect([revoked.isOver, harness.committed()]).toEqual([true, 1])
    await harness.stop()
  })

  it('gives back what lies before a started run in the log, so that the commit passes it', async () => {
    const harness = await started()
    harness.put({ jobId: 'later', dueAt: harness.clock.nowMs() + 60_000 })
    harness.put({ jobId: 'running', handler: 'never' })
    harness.put({ jobId: 'last', dueAt: harness.clock.nowMs() + 60_000 })
    await rest()
    const revoked = watched(harness.reader.revoke(lanes(harness, 0)))
    await harness.clock.advance(50)
    expect([revoked.isOver, harness.committed()]).toEqual([true, 2])
    expect(harness.events(0).map(({ jobId, type }) => `${jobId} ${type}`)).toEqual(['running STARTED', 'later RELEASED'])
    await harness.stop()
  })

  it('commits again while the group refuses it', async () => {
    const harness = await started()
    harness.reader.commitRefusal = new Error('The group is rebalancing.')
    harness.put({ jobId: 'done' })
    await rest()
    const revoked = watched(harness.reader.revoke(lanes(harness, 0)))
    await harness.clock.advance(450)
    expect([revoked.isOver, harness.committed()]).toEqual([false, undefined])
    harness.reader.commitRefusal = undefined
    await harness.clock.advance(200)
    expect([revoked.isOver, harness.committed()]).toEqual([true, 1])
    await harness.stop()
  })

  it('is given up after 5 s at the latest, whether reports or commits get through', async () => {
    for (const stuck of ['reports', 'commits'] as const) {
      const harness = await started()
      const { closed, open } = gate()
      if (stuck === 'reports') harness.log.gate = closed
      else harness.reader.commitRefusal = new Error('no coordinator')
      harness.put({ jobId: 'running', handler: 'never' })
      await rest()
      const revoked = watched(harness.reader.revoke(lanes(harness, 0)))
      await harness.clock.advance(4_900)
      expect(revoked.isOver, stuck).toBe(false)
      await harness.clock.advance(200)
      expect(revoked.isOver, stuck).toBe(true)
      harness.log.gate = undefined
      harness.reader.commitRefusal = undefined
      open()
      await harness.stop()
    }
  })

  it('is committed as far as reports are acknowledged, although that takes longer than 5 s in another lane', async () => {
    const harness = await started()
    harness.reader.commitRefusal = new Error('The group is rebalancing.')
    harness.put({ jobId: 'short', handler: 'never' }, { partition: 1 })
    await rest()
    await harness.clock.advance(20)
    const { closed, open } = gate()
    harness.log.gate = closed
    harness.put({ jobId: 'long', handler: 'never' })
    await rest()
    const revoked = watched(harness.reader.revoke([...lanes(harness, 0), ...lanes(harness, 1)]))
    await harness.clock.advance(4_900)
    harness.reader.commitRefusal = undefined
    await harness.clock.advance(200)
    expect([revoked.isOver, harness.committed() ?? 0, harness.committed({ partition: 1 })]).toEqual([true, 0, 1])
    harness.log.gate = undefined
    open()
    await harness.stop()
  })

  it('that comes back is read from the committed offset: what runs here does not start again, the rest starts', async () => {
    const harness = await started()
    harness.reader.commitRefusal = new Error('The group is rebalancing.')
    harness.put({ jobId: 'running', handler: 'never' })
    harness.put({ jobId: 'next', dueAt: harness.clock.nowMs() + 1_000 })
    await rest()
    const revoked = watched(harness.reader.revoke(lanes(harness, 0)))
    await harness.clock.advance(250)
    harness.reader.assign([...lanes(harness, 0), ...lanes(harness, 1)])
    await rest()
    harness.reader.commitRefusal = undefined
    await harness.clock.advance(3_000)
    expect(revoked.isOver).toBe(true)
    expect(jobs(harness)).toEqual(['running', 'next'])
    expect(harness.committed()).toBe(2)
    await harness.stop()
  })

  it('does not take a record whose schema comes from the registry too late', async () => {
    const { closed, open } = gate()
    const execution = {
      encode: codecs.execution.encode,
      decode: async (bytes: Buffer) => {
        await closed
        return codecs.execution.decode(bytes)
      },
    }
    const harness = await new Harness({}, { codecs: { ...codecs, execution } }).start()
    harness.put({ jobId: 'late' })
    await rest()
    const revoked = watched(harness.reader.revoke(lanes(harness, 0)))
    open()
    await rest()
    await harness.clock.advance(1_000)
    expect([revoked.isOver, jobs(harness), harness.executor.current().held]).toEqual([true, [], 0])
    await harness.stop()
  })

  it('is lost at once when the membership has lapsed, and nobody waits for its reports', async () => {
    const { harness, acknowledge } = await unacknowledged()
    const revoked = watched(harness.reader.revoke(lanes(harness, 0)))
    await rest()
    harness.reader.assign(lanes(harness, 1), 1)
    await rest()
    expect(revoked.isOver).toBe(true)
    acknowledge()
    await harness.stop()
  })

  it('is lost at once when the membership has lapsed, and not committed', async () => {
    const harness = await started()
    harness.reader.commitRefusal = new Error('The group is rebalancing.')
    harness.put({ jobId: 'done' })
    await rest()
    const revoked = watched(harness.reader.revoke(lanes(harness, 0)))
    await harness.clock.advance(250)
    harness.reader.assign(lanes(harness, 1), 1)
    harness.reader.commitRefusal = undefined
    await harness.clock.advance(2_000)
    expect([revoked.isOver, harness.committed()]).toEqual([true, undefined])
    await harness.stop()
  })
})

describe('a worker that stops', () => {
  it('commits again while the group refuses it, before it leaves', async () => {
    const harness = await started()
    harness.reader.commitRefusal = new Error('The group is rebalancing.')
    harness.put({ jobId: 'done' })
    await rest()
    await harness.clock.advance(50)
    const stopped = harness.executor.stop()
    await harness.clock.advance(250)
    expect(harness.reader.running).toBe(true)
    harness.reader.commitRefusal = undefined
    await harness.clock.advance(20_000)
    await stopped
    expect(harness.committed()).toBe(1)
  })
})
