/** Priorities as words and numbers, and the order of runs that wait, against an order that is written down here. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { definitionFromJson, definitionToJson } from '../../../streams/definitions/index.ts'
import { priorityOf, rankMax, rankOf, shownPriority, wordOf } from '../../../streams/topics/index.ts'

const base = { schedule: { delayMs: 0 }, target: { handler: 'noop' } }
const read = (priority: unknown) => definitionFromJson({ ...base, priority })

describe('a priority in JSON', () => {
  const words = ['LOW', 'LOW', 'LOW', 'NORMAL', 'NORMAL', 'NORMAL', 'NORMAL', 'HIGH', 'HIGH', 'HIGH']
  it.each(words.map((word, number) => [number, word]))('%i is dispatched as %s, and shown as it was written', (number, word) => {
    const found = read(number)
    if (!found.ok) throw new Error(JSON.stringify(found.problems))
    expect(found.definition).toMatchObject({ priority: word, priorityLevel: number })
    expect(definitionToJson(found.definition)).toMatchObject({ priority: number })
    expect(definitionToJson(found.definition)).not.toHaveProperty('priorityLevel')
    expect(priorityOf(found.definition)).toBe(number)
  })
  it.each([
    ['HIGH', 8],
    ['normal', 4],
    ['LOW', 1],
    [undefined, 4],
  ])('%s is %i, and has no number in its record', (word, number) => {
    const found = read(word)
    if (!found.ok) throw new Error(JSON.stringify(found.problems))
    expect(found.definition.priorityLevel).toBeNull()
    expect(priorityOf(found.definition)).toBe(number)
    expect(shownPriority(found.definition)).toBe(word?.toUpperCase() ?? 'NORMAL')
  })
  it.each([10, -1, 4.5, Number.MAX_SAFE_INTEGER, '4', true, [4]])('%j is refused', (priority) => {
    expect(read(priority)).toMatchObject({ ok: false, problems: [{ field: 'priority' }] })
  })
  it('has one name', () => {
    expect(definitionFromJson({ ...base, priorityLevel: 9 })).toMatchObject({ ok: false, problems: [{ field: 'priorityLevel' }] })
  })
  it.each([9, 'HIGH'])('%j has no effect on a record in a topic', (priority) => {
    const json = { schedule: { delayMs: 0 }, target: { topic: { name: 't' } }, priority }
    expect(definitionFromJson(json)).toMatchObject({ ok: false, problems: [{ field: 'priority' }] })
  })
})

describe('the order of runs that wait', () => {
  const run = fc.record({ priority: fc.integer({ min: 0, max: 9 }), attempt: fc.integer({ min: 1, max: 15 }) })
  it('goes by priority, then by attempts', () => {
    fc.assert(
      fc.property(run, run, (one, other) => {
        const first = one.priority !== other.priority ? one.priority > other.priority : one.attempt < other.attempt
        const isSame = one.priority === other.priority && one.attempt === other.attempt
        const [rank, otherRank] = [one, other].map((each) => rankOf(each.priority, each.attempt))
        if (isSame) expect(rank).toBe(otherRank)
        else expect((rank ?? 0) < (otherRank ?? 0)).toBe(first)
      }),
    )
  })
  it('is one byte of a key, for any number of attempts and any record', () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer(), (level, attempt) => {
        const rank = rankOf(priorityOf({ priority: 'NORMAL', priorityLevel: level }), attempt)
        expect(rank).toBeGreaterThanOrEqual(0)
        expect(rank).toBeLessThanOrEqual(rankMax)
        expect(rankMax).toBeLessThan(256)
      }),
    )
  })
  it('keeps the words of the topics in order', () => {
    expect([9, 7, 6, 3, 2, 0].map(wordOf)).toEqual(['HIGH', 'HIGH', 'NORMAL', 'NORMAL', 'LOW', 'LOW'])
  })
})
