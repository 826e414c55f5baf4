import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { apiKeys } from '../../../tools/tcp-proxy.ts'
import { makeTopics, readAll } from '../../harness.ts'
import { message, proxied, rawKafka, rawProducer } from './raw.ts'

describe('kafkajs transactions', () => {
  test('leave the producer unusable when the answer to EndTxn is lost, although the broker committed', async () => {
    const { t } = await makeTopics(['t'])
    const proxy = await proxied({ dropResponse: (apiKey) => apiKey === apiKeys.endTxn })
    const producer = await rawProducer({ transactionalId: t }, rawKafka({ socketFactory: proxy.socketFactory }))
    const transaction = await producer.transaction()
    await transaction.send({ topic: t, messages: [message('once')] })
    const lost = proxy.answered(apiKeys.endTxn)
    const refused = expect(transaction.commit()).rejects.toThrow()
    await lost
    proxy.cut()
    await refused
    proxy.release()
    for (let attempt = 0; attempt < 2; attempt++)
      await expect(producer.transaction()).rejects.toThrow(/Invalid transition|COMMITTING/)
    expect(await readAll(t)).toEqual(['once'])
  })

  test('need five round trips each, because coordinators are looked up again', async () => {
    const { t } = await makeTopics(['t'])
    const proxy = await proxied()
    const producer = await rawProducer({ transactionalId: t }, rawKafka({ socketFactory: proxy.socketFactory }))
    const commit = async (): Promise<void> => {
      const transaction = await producer.transaction()
      await transaction.send({ topic: t, messages: [message('x')] })
      await transaction.commit()
    }
    await commit()
    await commit()
    // Earlier requests may repeat while the markers of the first are being written.
    expect(proxy.requests.slice(-5).map(({ apiKey }) => apiKey)).toEqual([
      apiKeys.findCoordinator,
      apiKeys.addPartitionsToTxn,
      apiKeys.produce,
      apiKeys.findCoordinator,
      apiKeys.endTxn,
    ])
  })

  test('begin without a request once the producer id is known, so one can begin ahead', async () => {
    const { t } = await makeTopics(['t'])
    const proxy = await proxied()
    const producer = await rawProducer({ transactionalId: t }, rawKafka({ socketFactory: proxy.socketFactory }))
    await (await producer.transaction()).abort()
    const before = proxy.requests.length
    await producer.transaction()
    expect(proxy.requests).toHaveLength(before)
  })

  test('fence an open transaction of their id, and retry whatever the retry settings are', async () => {
    const { t } = await makeTopics(['t'])
    const old = await rawProducer({ transactionalId: t })
    const open = await old.transaction()
    await open.send({ topic: t, messages: [message('open')] })
    const proxy = await proxied()
    const settings = { retries: 0 }
    const kafka = rawKafka({ socketFactory: proxy.socketFactory, retry: settings })
    const successor = await rawProducer({ transactionalId: t, retry: settings }, kafka)
    // The first InitProducerId is answered CONCURRENT_TRANSACTIONS while the open one is being aborted.
    const transaction = await successor.transaction()
    expect(proxy.requests.filter(({ apiKey }) => apiKey === apiKeys.initProducerId).length).toBeGreaterThan(1)
    await transaction.abort()
    await expect(open.commit()).rejects.toMatchObject({ type: 'INVALID_PRODUCER_EPOCH' })
    expect(await readAll(t)).toEqual([])
  })

  test('commit offsets with TxnOffsetCommit 0 or 1, without member or generation, so they fence nobody', async () => {
    const { t } = await makeTopics(['t'])
    const proxy = await proxied()
    const producer = await rawProducer({ transactionalId: t }, rawKafka({ socketFactory: proxy.socketFactory }))
    const transaction = await producer.transaction()
    await transaction.sendOffsets({
      consumerGroupId: `nobody-${randomUUID()}`,
      topics: [{ topic: t, partitions: [{ partition: 0, offset: '0' }] }],
    })
    await transaction.commit()
    const version = proxy.requests.find(({ apiKey }) => apiKey === apiKeys.txnOffsetCommit)?.apiVersion
    expect(version).toBeLessThanOrEqual(1)
  })
})

describe('an idempotent kafkajs producer', () => {
  test('silently loses the batch that follows one whose answers were lost', async () => {
    const { t } = await makeTopics(['t'])
    const proxy = await proxied({ dropResponse: (apiKey) => apiKey === apiKeys.produce })
    const retry = { retries: 1, initialRetryTime: 10 }
    const kafka = rawKafka({ socketFactory: proxy.socketFactory, requestTimeout: 300, retry })
    const producer = await rawProducer({ idempotent: true, retry }, kafka)
    await expect(producer.send({ topic: t, messages: [message('unknown')] })).rejects.toThrow()
    proxy.release()
    // It reuses the sequence number: the broker takes it for a repeat of the first and acknowledges it.
    await producer.send({ topic: t, messages: [message('lost')] })
    expect(await readAll(t)).toEqual(['unknown'])
  })
})
