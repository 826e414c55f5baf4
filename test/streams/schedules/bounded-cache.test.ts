import { describe, expect, it } from 'vitest'
import { BoundedCache } from '../../../streams/schedules/bounded-cache.ts'

describe('a bounded cache', () => {
  it('computes a value once while it is kept', () => {
    const computed: string[] = []
    const cache = new BoundedCache(4, (key) => {
      computed.push(key)
      return key.length
    })
    expect([cache.get('a'), cache.get('bb'), cache.get('a')]).toEqual([1, 2, 1])
    expect(computed).toEqual(['a', 'bb'])
  })
  it('never exceeds its limit, and drops the least recently used value', () => {
    const computed: string[] = []
    const cache = new BoundedCache(3, (key) => {
      computed.push(key)
      return 1
    })
    for (const key of ['a', 'b', 'c', 'a', 'd']) cache.get(key)
    expect(cache.size).toBe(3)
    computed.length = 0
    for (const key of ['a', 'd', 'c', 'b']) cache.get(key)
    expect(computed).toEqual(['b'])
    for (let index = 0; index < 100; index++) cache.get(String(index))
    expect(cache.size).toBe(3)
  })
})
