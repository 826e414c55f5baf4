/** The error of a reader for positions that it could not commit, over a kafkajs consumer that never connects. */
import type { Kafka } from 'kafkajs'
import { expect, test } from 'vitest'
import type { PartitionCounts } from '../../src/kafka/admin/partition-counts.ts'
import { settingsOf } from '../../src/kafka/brokers/client.ts'
import { KafkaGroupReader } from '../../src/kafka/reading/reader.ts'

const names = ['GROUP_JOIN', 'REBALANCING', 'STOP', 'CRASH', 'FETCH_START', 'END_BATCH_PROCESS', 'REQUEST', 'HEARTBEAT']

function reader() {
  const heard = new Map<string, ((event: { payload: object }) => void)[]>()
  const committed: object[][] = []
  const consumer = {
    events: Object.fromEntries(names.map((name) => [name, name])),
    on: (name: string, listener: (event: { payload: object }) => void) => heard.set(name, [...(heard.get(name) ?? []), listener]),
    commitOffsets: async (offsets: object[]) => void committed.push(offsets),
    disconnect: async () => {},
    resume: () => {},
    pause: () => {},
  }
  const options = {
    ...{ groupId: 'g', topics: ['t'], instance: 'i', onAssigned: () => undefined, onBatch: () => undefined },
    onCrash: () => {},
  }
  const kafka = { consumer: () => consumer } as unknown as Kafka
  const made = new KafkaGroupReader(kafka, {} as PartitionCounts, settingsOf({ brokers: [], clientId: 'c' }), options)
  const emit = (name: string, payload: object): void => {
    for (const listener of heard.get(name) ?? []) listener({ payload })
  }
  return { reader: made, committed, emit, join: () => emit('GROUP_JOIN', { memberId: 'm', memberAssignment: { t: [0, 1] } }) }
}

const at = (partition: number) => ({ topic: 't', partition, offset: 7 })

test('positions are committed, except those of other members', async () => {
  const { reader: made, committed, join } = reader()
  join()
  await made.commit([at(1), at(2)])
  expect(committed).toEqual([[{ topic: 't', partition: 1, offset: '7' }]])
})

test('while kafkajs rejoins after a lost session, no commit counts as done', async () => {
  const { reader: made, committed, emit, join } = reader()
  join()
  emit('CRASH', { error: new Error('The session is over.'), restart: true })
  await expect(made.commit([at(1)])).rejects.toMatchObject({ code: 'not-ready' })
  expect(committed).toEqual([])
  join()
  await made.commit([at(1)])
  expect(committed).toHaveLength(1)
})
