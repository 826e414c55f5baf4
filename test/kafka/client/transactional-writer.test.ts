import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import type { TransactionalWriter } from '../../../src/ground/ports/log.ts'
import { apiKeys, type ProxyOptions, withoutFeatures } from '../../tools/tcp-proxy.ts'
import { brokers, makeTopics, openLog, openThroughProxy, openTransactional, readAll, text } from '../harness.ts'

const { produce, endTxn, addPartitionsToTxn, findCoordinator, initProducerId } = apiKeys

/** What a broker answers to a request of any client. */
async function answerTo(frame: Buffer): Promise<Buffer> {
  const [host = '', port] = (brokers[0] ?? '').split(':')
  const socket = connect(Number(port), host, () => socket.write(frame))
  const chunks: Buffer[] = []
  for await (const chunk of socket) {
    chunks.push(chunk)
    const all = Buffer.concat(chunks)
    if (all.length >= 4 && all.length >= 4 + all.readInt32BE(0)) return all.subarray(8)
  }
  throw new Error('the broker ended the connection')
}
/** INVALID_PRODUCER_EPOCH, PRODUCER_FENCED. */
const fencedCodes = [47, 90]

describe.each([2, 1])('a transactional writer with transactions of version %i', (version) => {
  const isV2 = version === 2
  const through = (options: Partial<ProxyOptions> = {}) =>
    openThroughProxy(isV2 ? options : { unknown: withoutFeatures, ...options })
  const open = async (id: string): Promise<TransactionalWriter> => openTransactional(id, (await through()).log)

  test('commits records of several topics and returns the first offset of each partition', async () => {
    const { state, out } = await makeTopics(['state', 'out'], 2)
    const writer = await open(state)
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

  test('needs two or three requests, however much a transaction writes', async () => {
    const { state, out } = await makeTopics(['state', 'out'], 3)
    const { proxy, log } = await through()
    const writer = await openTransactional(state, log)
    const records = [0, 1, 2].flatMap((partition) =>
      [state, out].map((topic) => ({ topic, partition, key: 'k', value: text(`${partition}`) })),
    )
    await writer.commit(records)
    const since = proxy.requests.length
    await writer.commit(records)
    // The first request is refused while the previous transaction is ending, and is repeated.
    const asked = proxy.requests.slice(since).map(({ apiKey }) => apiKey)
    const expected = isV2 ? [produce, endTxn] : [addPartitionsToTxn, produce, endTxn]
    expect(asked.filter((key, index) => key !== asked[index - 1])).toEqual(expected)
  })

  test('commits the offsets of a group with its records, or alone', async () => {
    const { state } = await makeTopics(['state'])
    const groupId = `${state}.group`
    const { proxy, log } = await through()
    const writer = await openTransactional(state, log)
    const group = (offset: number) => ({ groupId, positions: [{ topic: state, partition: 0, offset }] })
    await writer.commit([{ topic: state, partition: 0, key: 'k', value: text('1') }], group(7))
    await writer.commit([], group(8))
    const admin = await openLog().admin()
    expect(await admin.committed(groupId, state)).toMatchObject([{ partition: 0, offset: 8 }])
    await admin.close()
    expect(await readAll(state)).toEqual(['1'])
    const versions = proxy.requests.filter(({ apiKey }) => apiKey === apiKeys.txnOffsetCommit)
    expect(new Set(versions.map(({ apiVersion }) => apiVersion))).toEqual(new Set([isV2 ? 5 : 1]))
  })

  test('opens with the error of its fence, and fences nobody', async () => {
    const { state } = await makeTopics(['state'])
    const record = { topic: state, partition: 0, key: 'k', value: text('1') }
    const old = await open(state)
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
    const writer = await open(state)
    expect((await writer.commit([])).size).toBe(0)
    expect((await writer.commit([{ topic: state, partition: 0, key: 'a', value: text('1') }])).size).toBe(1)
  })

  test('is fenced by a later writer of its id and then stays finished', async () => {
    const { state } = await makeTopics(['state'])
    const record = (value: string) => ({ topic: state, partition: 0, key: 'k', value: text(value) })
    const old = await open(state)
    await old.commit([record('before')])
    const successor = await open(state)
    await expect(old.commit([record('zombie')])).rejects.toMatchObject({ code: 'fenced' })
    await expect(old.commit([record('zombie')])).rejects.toThrow(/finished/)
    await successor.commit([record('after')])
    expect(await readAll(state)).toEqual(['before', 'after'])
  })

  test.each(isV2 ? (['produce', 'endTxn'] as const) : (['addPartitionsToTxn', 'produce', 'endTxn'] as const))(
    'is fenced while its %s is under way, and nothing of its transaction remains',
    async (phase) => {
      const { state } = await makeTopics(['state'])
      const record = (value: string) => ({ topic: state, partition: 0, key: 'k', value: text(value) })
      const { proxy, log } = await through({ holdRequest: (apiKey) => apiKey === apiKeys[phase] })
      const old = await openTransactional(state, log)
      const held = proxy.asked(apiKeys[phase])
      const refused = expect(old.commit([record('open')])).rejects.toMatchObject({ code: 'fenced' })
      await held
      const successor = await open(state)
      await successor.commit([record('after')])
      proxy.release()
      await refused
      await successor.commit([record('later')])
      expect(await readAll(state)).toEqual(['after', 'later'])
    },
  )

  test.each(['produce', 'findCoordinator', 'initProducerId'] as const)('repeats a %s whose answer was lost', async (what) => {
    const { state } = await makeTopics(['state'])
    const { proxy, log } = await through({ dropResponse: (apiKey) => apiKey === apiKeys[what] })
    const lost = proxy.answered(apiKeys[what])
    const committed = openTransactional(state, log).then(async (writer) => {
      await writer.commit([{ topic: state, partition: 0, key: 'k', value: text('once') }])
      return writer
    })
    await lost
    proxy.release()
    proxy.cut()
    const writer = await committed
    await writer.commit([{ topic: state, partition: 0, key: 'k', value: text('after') }])
    expect(await readAll(state)).toEqual(['once', 'after'])
  })

  test('goes on after its connections were lost between two transactions, and its coordinator was away', async () => {
    const { state } = await makeTopics(['state'])
    const { proxy, log } = await through()
    const writer = await openTransactional(state, log)
    const commit = (value: string) => writer.commit([{ topic: state, partition: 0, key: 'k', value: text(value) }])
    await commit('before')
    proxy.refuse(true)
    proxy.cut()
    const next = commit('after')
    await proxy.refused(2)
    proxy.refuse(false)
    await next
    await commit('later')
    expect(await readAll(state)).toEqual(['before', 'after', 'later'])
    const asked = proxy.requests.map(({ apiKey }) => apiKey)
    expect(asked.filter((apiKey) => apiKey === initProducerId)).toHaveLength(1)
    expect(asked.filter((apiKey) => apiKey === findCoordinator).length).toBeGreaterThan(1)
  })

  test('sends more than a batch may hold in several requests of the same transaction', async () => {
    const { state } = await makeTopics(['state'])
    const writer = await open(state)
    const big = Buffer.alloc(400_000, 'x')
    const records = Array.from({ length: 7 }, (_, index) => ({ topic: state, partition: 0, key: String(index), value: big }))
    const offsets = await writer.commit(records)
    expect(offsets.get(`${state}/0`)).toBe(0)
    expect(await readAll(state)).toHaveLength(7)
    expect((await writer.commit([{ topic: state, partition: 0, key: 'k', value: null }])).get(`${state}/0`)).toBe(9)
  })

  test('refuses a record that no batch can hold, and a topic that does not exist', async () => {
    const { state } = await makeTopics(['state'])
    const first = await open(state)
    const huge = { topic: state, partition: 0, key: 'k', value: Buffer.alloc(1_100_000) }
    await expect(first.commit([huge])).rejects.toMatchObject({ code: 'payload-too-large' })
    const second = await open(state)
    const nowhere = { topic: `${state}.nowhere`, partition: 0, key: 'k', value: null }
    await expect(second.commit([nowhere])).rejects.toMatchObject({ code: 'unsafe-topic' })
  })

  test('aborts a transaction of which a record was refused, so that readers go on before the next fence', async () => {
    const { state } = await makeTopics(['state'])
    const { out } = await makeTopics(['out'], 1, { 'max.message.bytes': '2000' })
    const writer = await open(state)
    const refused = writer.commit([
      { topic: state, partition: 0, key: 'k', value: text('refused') },
      { topic: out, partition: 0, key: 'k', value: Buffer.alloc(5_000) },
    ])
    await expect(refused).rejects.toMatchObject({ code: 'payload-too-large' })
    expect(await readAll(state)).toEqual([])
  })

  if (isV2) {
    test('asks again for a commit whose answer was lost, and goes on', async () => {
      const { state } = await makeTopics(['state'])
      const { proxy, log } = await through({ dropResponse: (apiKey) => apiKey === endTxn })
      const writer = await openTransactional(state, log)
      const lost = proxy.answered(endTxn)
      const commit = writer.commit([{ topic: state, partition: 0, key: 'k', value: text('once') }])
      await lost
      proxy.release()
      proxy.cut()
      await commit
      await writer.commit([{ topic: state, partition: 0, key: 'k', value: text('after') }])
      expect(await readAll(state)).toEqual(['once', 'after'])
      expect(proxy.requests.filter(({ apiKey }) => apiKey === initProducerId)).toHaveLength(1)
    })

    test('goes on although a commit never arrived, and a late one does not end the next transaction', async () => {
      const { state } = await makeTopics(['state'])
      let first: Buffer | undefined
      const { proxy, log } = await through({
        holdRequest: (apiKey) => apiKey === endTxn,
        onRequest: (apiKey, frame) => {
          if (apiKey === endTxn) first ??= Buffer.from(frame)
        },
      })
      const writer = await openTransactional(state, log)
      const record = (value: string) => [{ topic: state, partition: 0, key: 'k', value: text(value) }]
      const ending = proxy.asked(endTxn)
      const commit = writer.commit(record('once'))
      await ending
      proxy.cut()
      proxy.release()
      await commit
      proxy.arm()
      const next = proxy.asked(endTxn)
      const second = writer.commit(record('after'))
      await next
      // Time i32, then the error.
      expect(fencedCodes).toContain((await answerTo(first ?? Buffer.alloc(0))).readInt16BE(5))
      proxy.release()
      await second
      expect(await readAll(state)).toEqual(['once', 'after'])
    })
  } else {
    test('reports a lost answer to its commit as an unknown outcome, which the next writer resolves', async () => {
      const { state } = await makeTopics(['state'])
      const { proxy, log } = await through({ dropResponse: (apiKey) => apiKey === endTxn })
      const old = await openTransactional(state, log)
      const lost = proxy.answered(endTxn)
      const commit = old.commit([{ topic: state, partition: 0, key: 'k', value: text('once') }])
      const refused = expect(commit).rejects.toMatchObject({ code: 'broker-unavailable' })
      await lost
      proxy.cut()
      await refused
      await open(state)
      // The broker had performed the commit: the record is there, once.
      expect(await readAll(state)).toEqual(['once'])
    })

    test('the next writer of the same process finishes a commit that never arrived', async () => {
      const { state } = await makeTopics(['state'])
      const { proxy, log } = await through({ holdRequest: (apiKey) => apiKey === endTxn })
      const old = await openTransactional(state, log)
      const ending = proxy.asked(endTxn)
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
  }
})
