/** The names of handlers that a worker announces, and the limits beyond which it announces none. */
import { describe, expect, it } from 'vitest'
import { announcedBytesMax, announcedHandlers, announcedMax } from '../../../src/executor/handlers/announced.ts'

const named = (names: string[]) => Object.fromEntries(names.map((name) => [name, () => undefined]))

describe('The announced handlers', () => {
  it('are the names, sorted', () => {
    expect(announcedHandlers(named(['send-mail', 'http', 'noop']))).toEqual(['http', 'noop', 'send-mail'])
    expect(announcedHandlers({})).toEqual([])
  })

  it('are unknown beyond the number of names', () => {
    const names = Array.from({ length: announcedMax }, (_, at) => `h${at}`)
    expect(announcedHandlers(named(names))).toHaveLength(announcedMax)
    expect(announcedHandlers(named([...names, 'one-more']))).toBeNull()
  })

  it('are unknown beyond the bytes of all names, not their characters', () => {
    expect(announcedHandlers(named(['é'.repeat(announcedBytesMax / 2)]))).toHaveLength(1)
    expect(announcedHandlers(named(['é'.repeat(announcedBytesMax / 2), 'a']))).toBeNull()
  })
})
