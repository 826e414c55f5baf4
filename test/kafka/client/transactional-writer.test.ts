import { describe, expect, test } from 'vitest'
import { apiKeys } from '../../tools/tcp-proxy.ts'
import { makeTopics, openLog, openThroughProxy, openTransactional, readAll, text } from '../harness.ts'

describe('a transactional writer', () => {
  test('commits records of several topics and returns the first offset of each partition', async () => {
    const { state, out } = await makeTopics(['state', 'out'], 2)
    const writer = await openTransactional(state)
    const first = await writer.commit([
      { topic: state, partition: 1, key: 'a', value: text('1') },
      { topic: out, partition: 0, key: 'a', value: text('2') },
      { topic: state, partition: 1, key: 'b', value: text('3') },
    ])
    expect(Object.fromEntries(first)).toEqual({ [`${state}/1`]: 0, [`${out}/0`]: 0 })
    const second = await writer.commit([{ topic: state, partition: 1, key: 'c', value: null }])
    // The commit marker of the first transaction took offset 2.
    expect(Object.fromEntries(second)).toEqual({ [`${state}/1`]: 3 })
  })

  test('needs three requests, however much a transaction writes', async () => {
    const { state, out } = await makeTopics(['state', 'out'], 3)
    const { proxy, log } = await openThroughProxy({})
    const writer = await openTransactional(state, log)
    const records = [0, 1, 2].flatMap((partition) =>
      [state, out].map((topic) => ({ topic, partition, key: 'k', value: text(`${partition}`) })),
    )
    await writer.commit(records)
    const since = proxy.requests.length
    await writer.commit(records)
    const { addPartitionsToTxn, produce, endTxn } = apiKeys
    // The first request is refused while the previous transaction is ending, and is repeated.
    const asked = proxy.requests.slice(since).map(({ apiKey }) => apiKey)
    expect(asked.filter((key, index) => key !== asked[index - 1])).toEqual([addPartitionsToTxn, produce, endTxn])
  })

  test('opens with the error of its fence, and fences nobody', async () => {
    const { state } = await makeTopics(['state'])
    const record = { topic: state, partition: 0, key: 'k', value: text('1') }
    const old = await openTransactional(state)
    const refusal = new Error('not a member')
    await expect(openLog().transactionalWriter(state, { mayFence: () => Promise.reject(refusal) })).rejects.toBe(refusal)
    await old.commit([record])
    await openLog()
      .transactionalWriter(state, { mayFence: () => Promise.resolve(), first: { topic: state, partition: 0 } })
      .then((it) => it.close())
    await expect(old.commit([record])).rejects.toMatchObject({ code: 'fenced' })
  })

  test('commits nothing for no records', async () => {
    const { state } = await makeTopics(['state'])
    const writer = await openTransactional(state)
    expect((await writer.commit([])).size).toBe(0)
    expect((await writer.commit([{ topic: state, partition: 0, key: 'a', value: text('1') }])).size).toBe(1)
  })

  test('is fenced by a later writer of its id and then stays finished', async () => {
    const { state } = await makeTopics(['state'])
    const record = (value: string) => ({ topic: state, partition: 0, key: 'k', value: text(value) })
    const old = await openTransactional(state)
    await old.commit([record('before')])
    const successor = await openTransactional(state)
    await expect(old.commit([record('zombie')])).rejects.toMatchObject({ code: 'fenced' })
    await expect(old.commit([record('zombie')])).rejects.toThrow(/finished/)
    await successor.commit([record('after')])
    expect(await readAll(state)).toEqual(['before', 'after'])
  })

  test('has its open transaction aborted by the fence', async () => {
    const { state } = await makeTopics(['state'])
    const record = (value: string) => ({ topic: state, partition: 0, key: 'k', value: text(value) })
    const { proxy, log } = await openThroughProxy({ holdRequest: (apiKey) => apiKey === apiKeys.endTxn })
    const old = await openTransactional(state, log)
    const ending = proxy.asked(apiKeys.endTxn)
    const commit = old.commit([record('open')])
    const refused = expect(commit).rejects.toMatchObject({ code: 'fenced' })
    await ending
    const successor = await openTransactional(state)
    await successor.commit([record('after')])
    proxy.release()
    await refused
    expect(await readAll(state)).toEqual(['after'])
  })

  test('reports a lost answer to its commit as an unknown outcome, which the next writer resolves', async () => {
    const { state } = await makeTopics(['state'])
    const { proxy, log } = await openThroughProxy({ dropResponse: (apiKey) => apiKey === apiKeys.endTxn })
    const old = await openTransactional(state, log)
    const lost = proxy.answered(apiKeys.endTxn)
    const commit = old.commit([{ topic: state, partition: 0, key: 'k', value: text('once') }])
    const refused = expect(commit).rejects.toMatchObject({ code: 'broker-unavailable' })
    await lost
    proxy.cut()
    await refused
    await openTransactional(state)
    // The broker had performed the commit: the record is there, once.
    expect(await readAll(state)).toEqual(['once'])
  })

  test('the next writer of the same process finishes a commit that never arrived', async () => {
    const { state } = await makeTopics(['state'])
    const { proxy, log } = await openThroughProxy({ holdRequest: (apiKey) => apiKey === apiKeys.endTxn })
    const old = await openTransactional(state, log)
    const ending = proxy.asked(apiKeys.endTxn)
    const refused = expect(old.commit([{ topic: state, partition: 0, key: 'k', value: text('once') }])).rejects.toMatchObject({
      code: 'broker-unavailable',
    })
    await ending
    proxy.cut()
    proxy.release()
    await refused
    const next = await openTransactional(state, log)
    await next.commit([{ topic: state, partition: 0, key: 'k', value: text('after') }])
    expect(await readAll(state)).toEqual(['once', 'after'])
  })

  test('sends more than a batch may hold in several requests of the same transaction', async () => {
    const { state } = await makeTopics(['state'])
    const writer = await openTransactional(state)
    const big = Buffer.alloc(400_000, 'x')
    const records = Array.from({ length: 7 }, (_, index) => ({ topic: state, partition: 0, key: String(index), value: big }))
    const offsets = await writer.commit(records)
    expect(offsets.get(`${state}/0`)).toBe(0)
    expect(await readAll(state)).toHaveLength(7)
    expect((await writer.commit([{ topic: state, partition: 0, key: 'k', value: null }])).get(`${state}/0`)).toBe(9)
  })

  test('refuses a record that no batch can hold, and a topic that does not exist', async () => {
    const { state } = await makeTopics(['state'])
    const first = await openTransactional(state)
    const huge = { topic: state, partition: 0, key: 'k', value: Buffer.alloc(1_100_000) }
    await expect(first.commit([huge])).rejects.toMatchObject({ code: 'payload-too-large' })
    const second = await openTransactional(state)
    const nowhere = { topic: `${state}.nowhere`, partition: 0, key: 'k', value: null }
    await expect(second.commit([nowhere])).rejects.toMatchObject({ code: 'unsafe-topic' })
  })
})
