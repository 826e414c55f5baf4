/** Several writers write to one partition, as users do in `jobs` and `job-commands`: their aborted records are not delivered. */
import type { Producer, Transaction } from 'kafkajs'
import { expect, test } from 'vitest'
import { makeTopics, openLog, openWriter, text, Watcher } from '../harness.ts'
import { message, rawProducer } from './canaries/raw.ts'

async function twoTransactions(topic: string): Promise<[Transaction, Transaction]> {
  const [a, b] = await Promise.all(['a', 'b'].map((id) => rawProducer({ transactionalId: `${topic}.${id}` })))
  return [await (a as Producer).transaction(), await (b as Producer).transaction()]
}

async function seenOf(topic: string, log = openLog()): Promise<string[]> {
  await (await openWriter()).write([{ topic, partition: 0, key: 'k', value: text('end') }])
  const watcher = new Watcher({ topics: [topic] }, log)
  await watcher.reader.start()
  await watcher.until(() => watcher.values.includes('end'))
  return watcher.values
}

test('if the first that began is the last that ends', async () => {
  const { jobs } = await makeTopics(['jobs'])
  const [a, b] = await twoTransactions(jobs)
  await a.send({ topic: jobs, messages: [message('a')] })
  await b.send({ topic: jobs, messages: [message('b')] })
  await b.abort()
  await a.abort()
  expect(await seenOf(jobs)).toEqual(['end'])
})

test('if a fetch begins in the middle of both', async () => {
  const { jobs } = await makeTopics(['jobs'])
  const [a, b] = await twoTransactions(jobs)
  const large = 'x'.repeat(600)
  for (const transaction of [a, b, b, a]) await transaction.send({ topic: jobs, messages: [message(large)] })
  await a.abort()
  await b.abort()
  expect(await seenOf(jobs, openLog({ fetchPartitionBytes: 1_500 }))).toEqual(['end'])
})
