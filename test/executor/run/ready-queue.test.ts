import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ReadyQueue } from '../../../src/worker/executor/run/ready-queue.ts'
import { agedEvery } from '../../../streams/topics/topics.ts'

it('gives one pick in 16 to a lower level, to the one whose head waits longest', () => {
  const queue = new ReadyQueue<{ dueAt: number; level: number }>(3)
  for (let at = 0; at < 1_000; at++)
    for (let level = 0; level < 3; level++) queue.push(level, { dueAt: at + (level === 1 ? 1 : 0), level })
  const picks = Array.from({ length: 16 * agedEvery }, () => queue.next()?.level)
  const lower = picks.filter((level) => level !== 0)
  expect(lower).toHaveLength(16)
  expect(new Set(lower)).toEqual(new Set([1, 2]))
  expect(picks.slice(0, agedEvery - 1)).toEqual(new Array(agedEvery - 1).fill(0))
})

it('lets nobody wait for ever: one of a lower level goes after 16 picks for each of those that have been due longer', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ level: fc.integer({ min: 1, max: 159 }), dueAt: fc.nat(50) }), { maxLength: 40 }),
      (lower) => {
        const queue = new ReadyQueue<{ dueAt: number; level: number }>(160)
        // Entries of one level come in due order.
        const items = lower.toSorted((one, other) => one.dueAt - other.dueAt)
        for (const item of items) queue.push(item.level, item)
        let picks = 0
        const order: { dueAt: number; level: number }[] = []
        while (order.length < items.length) {
          // The best level never runs dry.
          while (queue.size < items.length - order.length + 2) queue.push(0, { dueAt: 0, level: 0 })
          const item = queue.next()
          picks++
          expect(picks).toBeLessThanOrEqual(16 * items.length)
          if (item === undefined || item.level === 0) continue
          expect(picks % 16).toBe(0)
          order.push(item)
        }
        const dues = order.map(({ dueAt }) => dueAt)
        expect(dues).toEqual(dues.toSorted((one, other) => one - other))
      },
    ),
  )
})

it('delivers everything once, each level in its order, in any sequence of calls', () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.nat(2), { freq: 3 }), { maxLength: 5_000 }), (steps) => {
      const queue = new ReadyQueue<{ dueAt: number; level: number; no: number }>(3)
      const last = [-1, -1, -1]
      let pushed = 0
      let taken = 0
      const take = (): void => {
        const item = queue.next()
        if (item === undefined) return
        taken++
        expect(item.no).toBeGreaterThan(last[item.level] as number)
        last[item.level] = item.no
      }
      for (const level of steps) {
        if (level === null) take()
        else queue.push(level, { dueAt: pushed, level, no: pushed++ })
        expect(queue.size).toBe(pushed - taken)
      }
      while (queue.size > 0) take()
      expect(queue.next()).toBeUndefined()
      expect(taken).toBe(pushed)
    }),
    { numRuns: 50 },
  )
})
