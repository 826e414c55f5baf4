/** Dangerous compressed batches that a client may write to a topic: every reader logs, counts and skips them. */
import { randomUUID } from 'node:crypto'
import { CompressionTypes } from 'kafkajs'
import { describe, expect, test } from 'vitest'
import { unpackedBytesMax } from '../../../src/log/kafka/client/batch-format.ts'
import { makeTopics, openLog, openTransactional, openWriter, text, Watcher } from '../harness.ts'
import { ended, message, rawKafka, rawProducer } from './canaries/raw.ts'

const bomb = { key: 'bomb', value: Buffer.alloc(unpackedBytesMax), partition: 0 }
const problem = `more than ${unpackedBytesMax} bytes when it is unpacked (gzip)`

/** A log that records unreadable batches. */
function noting() {
  const errors: { facts: Record<string, unknown>; text: string }[] = []
  let count = 0
  const log = openLog({
    onUnread: () => void count++,
    logger: {
      ...{ debug() {}, info() {}, warn() {} },
      error: (facts, said) => void errors.push({ facts: facts as Record<string, unknown>, text: said }),
    },
  })
  return { log, errors, counted: () => count }
}

/** Batch by batch: a plain record, one that unpacks to 16 MB and one beside it, a compressed record that is not large, a plain one. */
async function writeAll(topic: string): Promise<void> {
  const producer = await rawProducer({})
  await producer.send({ topic, messages: [message('before')] })
  await producer.send({ topic, compression: CompressionTypes.GZIP, messages: [bomb, message('beside')] })
  await producer.send({ topic, compression: CompressionTypes.GZIP, messages: [message('packed')] })
  await producer.send({ topic, messages: [message('after')] })
}

describe('a batch that decompresses to too many bytes', () => {
  test('is passed over by a member of a group, which continues, and so do its other partitions', async () => {
    const { jobs } = await makeTopics(['jobs'], 2)
    await writeAll(jobs)
    await (await openWriter()).write([{ topic: jobs, partition: 1, key: 'k', value: text('other') }])
    const { log, errors, counted } = noting()
    const passed = Promise.withResolvers<void>()
    const onPassed = ({ partition, offset }: { partition: number; offset: number }): void => {
      if (partition === 0 && offset === 5) passed.resolve()
    }
    const watcher = new Watcher({ topics: [jobs], onPassed }, log)
    await watcher.reader.start()
    await watcher.until(() => watcher.values.length === 4)
    expect(watcher.values.toSorted()).toEqual(['after', 'before', 'other', 'packed'])
    expect(watcher.records.filter(({ partition }) => partition === 0).map(({ offset }) => offset)).toEqual([0, 3, 4])
    expect(counted()).toBe(1)
    expect(errors).toEqual([
      {
        facts: { event: 'records-unreadable', topic: jobs, partition: 0, firstOffset: 1, offset: 2 },
        text: `Records of ${jobs}/0 cannot be read and are skipped: It has ${problem}.`,
      },
    ])
    await passed.promise
    expect(watcher.crashes).toEqual([])
  })

  test('is passed, though nothing follows it', async () => {
    const { jobs } = await makeTopics(['jobs'])
    const producer = await rawProducer({})
    await producer.send({ topic: jobs, compression: CompressionTypes.GZIP, messages: [bomb] })
    const passed = Promise.withResolvers<number>()
    const { log, counted } = noting()
    const watcher = new Watcher({ topics: [jobs], onPassed: ({ offset }) => passed.resolve(offset) }, log)
    await watcher.reader.start()
    expect(await passed.promise).toBe(1)
    // It is not reported again with the next fetches.
    await watcher.reader.nextHeartbeat()
    await watcher.reader.nextHeartbeat()
    expect(counted()).toBe(1)
    expect(watcher.batches).toEqual([])
  })

  test('is passed over by a reader up to the end of the log', async () => {
    const { jobs } = await makeTopics(['jobs'])
    await writeAll(jobs)
    const { log, errors, counted } = noting()
    const values: string[] = []
    let heard = 0
    await log.readToEnd({
      topics: [jobs],
      onUnread: () => void heard++,
      onRecord: ({ value }) => void values.push(value?.toString() ?? ''),
      onProgress() {},
      signal: AbortSignal.timeout(60_000),
    })
    expect(values).toEqual(['before', 'packed', 'after'])
    expect(errors).toHaveLength(1)
    expect([heard, counted()]).toEqual([1, 1])
  })

  test('is not reported if its transaction was aborted, and ends with it', async () => {
    const { jobs } = await makeTopics(['jobs'])
    const producer = await rawProducer({ transactionalId: jobs })
    const transaction = await producer.transaction()
    await transaction.send({ topic: jobs, compression: CompressionTypes.GZIP, messages: [bomb] })
    await transaction.abort()
    const writer = await openTransactional(`${jobs}-2`)
    await writer.commit([{ topic: jobs, partition: 0, key: 'k', value: text('committed') }])
    const { log, counted } = noting()
    const watcher = new Watcher({ topics: [jobs] }, log)
    await watcher.reader.start()
    await watcher.until(() => watcher.values.includes('committed'))
    expect(watcher.values).toEqual(['committed'])
    expect(counted()).toBe(0)
  })
})

test('a consumer of other code in this process reads as before', async () => {
  const { jobs } = await makeTopics(['jobs'])
  await writeAll(jobs)
  const watcher = new Watcher({ topics: [jobs] })
  await watcher.reader.start()
  await watcher.until(() => watcher.values.includes('after'))
  const consumer = ended(rawKafka().consumer({ groupId: `g-${randomUUID()}` }))
  await consumer.connect()
  await consumer.subscribe({ topics: [jobs], fromBeginning: true })
  const sizes: number[] = []
  const done = Promise.withResolvers<void>()
  await consumer.run({
    eachMessage: async ({ message: { value } }) => {
      sizes.push(value?.length ?? 0)
      if (sizes.length === 5) done.resolve()
    },
  })
  await done.promise
  expect(sizes).toEqual([6, unpackedBytesMax, 6, 6, 5])
})
