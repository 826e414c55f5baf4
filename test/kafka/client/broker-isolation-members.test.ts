/** User data of a member when a broker is unreachable for its process only, as a member that never connects. */
import { expect, test } from 'vitest'
import type { GroupReaderOptions } from '../../../src/ground/ports/log.ts'
import type { GroupMemberOptions } from '../../../src/log/kafka/client/group-member.ts'
import type { KafkaClient } from '../../../src/log/kafka/client/index.ts'
import { KafkaGroupReader } from '../../../src/log/kafka/group/reader.ts'

function member(assignment: GroupReaderOptions['assignment']) {
  let given: GroupMemberOptions | undefined
  let rejoins = 0
  const listeners = new Set<() => void>()
  const isolation = {
    isIsolated: false,
    onChange: (listener: () => void) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
  const client = {
    isolation,
    closed: async () => {},
    member: (options: GroupMemberOptions) => {
      given = options
      return { heartbeats: { joining() {} }, stop: async () => {}, rejoin: async () => void rejoins++ }
    },
  } as unknown as KafkaClient
  const options = {
    ...{ groupId: 'g', topics: ['t'], instance: 'i', onAssigned: () => undefined, onBatch: () => undefined },
    ...{ onCrash: () => {}, assignment },
  }
  const reader = new KafkaGroupReader(client, options)
  return {
    reader,
    listeners,
    reach(isIsolated: boolean) {
      isolation.isIsolated = isIsolated
      for (const listener of listeners) listener()
    },
    joinsAnew: (): boolean => rejoins > 0,
    isYielding(): boolean {
      const { leaving, yields } = JSON.parse(String(given?.protocols[0]?.userData()))
      expect(leaving).toBeUndefined()
      return yields === true
    },
  }
}

test.each(['co-partitioned', 'open'] as const)(
  '%s: it joins again and asks for nothing, until the broker is reachable again',
  async (assignment) => {
    const { reader, reach, joinsAnew, isYielding, listeners } = member(assignment)
    expect([joinsAnew(), isYielding()]).toEqual([false, false])
    reach(true)
    expect([joinsAnew(), isYielding()]).toEqual([true, true])
    reach(false)
    expect(isYielding()).toBe(false)
    await reader.stop()
    expect(listeners.size).toBe(0)
  },
)

test('a member that shares with no other stays in the group', () => {
  const { reach, joinsAnew } = member(undefined)
  reach(true)
  expect(joinsAnew()).toBe(false)
})
