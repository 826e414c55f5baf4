/** encode: record batches of 1,000 records with values of 260 bytes, encoded by us and by kafkajs. Needs no broker. */
import { createRequire } from 'node:module'
import { encodeBatch } from '../../src/log/kafka/client/batch-encoder.ts'

const rounds = 20
const recordsOfBatch = 1_000
const valueBytes = 260

interface Encoder {
  buffer: Buffer
}

export async function encode(_bed: unknown, n = 400_000): Promise<Record<string, unknown>> {
  const require = createRequire(import.meta.url)
  const { RecordBatch } = require('kafkajs/src/protocol/recordBatch/v0') as { RecordBatch(plan: object): Promise<Encoder> }
  const encodeRecord = require('kafkajs/src/protocol/recordBatch/record/v0') as (plan: object) => Encoder
  const records = Array.from({ length: recordsOfBatch }, (_, index) => ({
    key: `job-${index}`,
    value: Buffer.alloc(valueBytes, index),
  }))
  const producer = { producerId: 1n, producerEpoch: 0, firstSequence: 0, isTransactional: false }
  const ours = (): unknown => encodeBatch(records, { ...producer, timeMs: Date.now() })
  const theirs = async (): Promise<unknown> => {
    const encoded = records.map((record, index) => encodeRecord({ ...record, offsetDelta: index }))
    return (await RecordBatch({ producerId: '1', lastOffsetDelta: records.length - 1, records: encoded })).buffer
  }
  const batches = Math.ceil(n / recordsOfBatch / rounds)
  const us = { ours: 0, theirs: 0 }
  // The two take turns, so that both see the same machine. The first round compiles the code and does not count.
  for (let round = 0; round <= rounds; round++)
    for (const [name, work] of [['ours', ours] as const, ['theirs', theirs] as const]) {
      const startedAt = performance.now()
      for (let batch = 0; batch < batches; batch++) await work()
      if (round > 0) us[name] += (performance.now() - startedAt) * 1_000
    }
  const each = (sumUs: number): number => Math.round((sumUs / rounds / batches / recordsOfBatch) * 100) / 100
  return { n, usEach: each(us.ours), kafkajsUsEach: each(us.theirs), ratio: Math.round((us.theirs / us.ours) * 10) / 10 }
}
