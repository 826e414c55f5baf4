/** User data of a member when a broker is unreachable for its process only, over a kafkajs consumer that never connects. */
import { AssignerProtocol, type ConsumerConfig, type Kafka } from 'kafkajs'
import { expect, test } from 'vitest'
import type { PartitionCounts } from '../../../src/kafka/admin/partition-counts.ts'
import { settingsOf } from '../../../src/kafka/brokers/client.ts'
import { KafkaGroupReader } from '../../../src/kafka/reading/reader.ts'
import type { GroupReaderOptions } from '../../../src/ports/log.ts'

function member(assignment: GroupReaderOptions['assignment']) {
  let config: ConsumerConfig | undefined
  const consumer = { events: {}, on: () => {}, disconnect: async () => {} }
  const kafka = {
    consumer: (given: ConsumerConfig) => {
      config = given
      return consumer
    },
  } as unknown as Kafka
  const listeners = new Set<() => void>()
  const cutOff = {
    isCutOff: false,
    onChange: (listener: () => void) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
  const options = {
    ...{ groupId: 'g', topics: ['t'], instance: 'i', onAssigned: () => undefined, onBatch: () => undefined },
    ...{ onCrash: () => {}, assignment },
  }
  const reader = new KafkaGroupReader(kafka, {} as PartitionCounts, settingsOf({ brokers: [], clientId: 'c' }), options, cutOff)
  return {
    reader,
    listeners,
    reach(isCutOff: boolean) {
      cutOff.isCutOff = isCutOff
      for (const listener of listeners) listener()
    },
    /** kafkajs rejoins where it considers a heartbeat, because this throws. */
    joinsAnew(): boolean {
      try {
        Number(config?.heartbeatInterval)
        return false
      } catch {
        return true
      }
    },
    /** An earlier version knows only that it leaves. */
    isLeaving(): boolean {
      const assigner = config?.partitionAssigners?.[0]?.({ cluster: {} } as never)
      const bytes = assigner?.protocol({ topics: ['t'] }).metadata ?? Buffer.alloc(0)
      const { leaving, yields } = JSON.parse(String(AssignerProtocol.MemberMetadata.decode(bytes)?.userData))
      expect(yields).toBe(leaving)
      return leaving === true
    },
  }
}

test.each(['co-partitioned', 'open'] as const)(
  '%s: it joins again and asks for nothing, until the broker is reachable again',
  async (assignment) => {
    const { reader, reach, joinsAnew, isLeaving, listeners } = member(assignment)
    expect([joinsAnew(), isLeaving()]).toEqual([false, false])
    reach(true)
    expect([joinsAnew(), isLeaving()]).toEqual([true, true])
    reach(false)
    expect(isLeaving()).toBe(false)
    await reader.stop()
    expect(listeners.size).toBe(0)
  },
)

test('a member that shares with no other stays in the group', () => {
  const { reach, joinsAnew } = member(undefined)
  reach(true)
  expect(joinsAnew()).toBe(false)
})
