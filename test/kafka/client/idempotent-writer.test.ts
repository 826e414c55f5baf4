import { describe, expect, test } from 'vitest'
import { keyPartitionOf, partitionOf } from '../../../streams/topics/topics.ts'
import { apiKeys } from '../../tools/tcp-proxy.ts'
import { makeTopics, openThroughProxy, openWriter, readAll, text } from '../harness.ts'

describe('a writer', () => {
  test('gives every concurrent call the offsets of its own records, in the order of the calls', async () => {
    const { jobs } = await makeTopics(['jobs'])
    const writer = await openWriter()
    const offsets = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        writer.write([
          { topic: jobs, key: 'a', value: text(`${index}a`) },
          { topic: jobs, key: 'b', value: text(`${index}b`) },
        ]),
      ),
    )
    expect(offsets.map((map) => map.get(`${jobs}/0`))).toEqual(Array.from({ length: 50 }, (_, index) => 2 * index))
    const values = await readAll(jobs)
    expect(values).toEqual(Array.from({ length: 50 }, (_, index) => [`${index}a`, `${index}b`]).flat())
  })

  test('sends the calls that arrive while one is in flight together as the next request', async () => {
    const { jobs } = await makeTopics(['jobs'])
    const { proxy, log } = await openThroughProxy({})
    const writer = await openWriter(log)
    const write = (value: string) => writer.write([{ topic: jobs, key: 'a', value: text(value) }])
    await write('known')
    const since = proxy.requests.length
    const first = write('first')
    await new Promise(setImmediate)
    const others = Array.from({ length: 50 }, (_, index) => write(`${index}`))
    const offsets = (await Promise.all([first, ...others])).map((map) => map.get(`${jobs}/0`))
    expect(offsets).toEqual(Array.from({ length: 51 }, (_, index) => index + 1))
    expect(proxy.requests.slice(since).filter(({ apiKey }) => apiKey === apiKeys.produce)).toHaveLength(2)
  })

  test('gives joined calls exact offsets when another writer writes to the partition between their batches', async () => {
    const { jobs } = await makeTopics(['jobs'])
    const writers = [await openWriter(), await openWriter()]
    const written = await Promise.all(
      writers.flatMap((writer, which) =>
        Array.from({ length: 12 }, async (_, index) => {
          const value = Buffer.alloc(300_000, `${which}/${index};`)
          const offsets = await writer.write([{ topic: jobs, key: 'a', value }])
          return { offset: offsets.get(`${jobs}/0`), value: value.toString() }
        }),
      ),
    )
    const values = await readAll(jobs)
    for (const { offset, value } of written) expect(values[offset ?? -1] === value).toBe(true)
  })

  test('sends a record without partition to the partition of its key hash', async () => {
    const { jobs } = await makeTopics(['jobs'], 5)
    const writer = await openWriter()
    for (const key of ['a', 'job-7', 'ärger', '日本', 'a{b}c', '{d}e']) {
      const offsets = await writer.write([{ topic: jobs, key, value: text(key) }])
      expect([...offsets.keys()]).toEqual([`${jobs}/${keyPartitionOf(key, 5)}`])
      const ofJob = await writer.write([{ topic: jobs, ofJob: true, key, value: text(key) }])
      expect([...ofJob.keys()]).toEqual([`${jobs}/${partitionOf(key, 5)}`])
    }
  })

  test('fails only the call whose topic or partition does not exist', async () => {
    const { jobs } = await makeTopics(['jobs'], 2)
    const writer = await openWriter()
    const results = await Promise.allSettled([
      writer.write([{ topic: jobs, key: 'a', value: text('good') }]),
      writer.write([{ topic: `${jobs}.nowhere`, key: 'a', value: text('bad') }]),
      writer.write([{ topic: jobs, partition: 2, key: 'a', value: text('bad') }]),
    ])
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected'])
    expect(results[1]).toMatchObject({ reason: { code: 'unsafe-topic' } })
  })

  test('works again after the broker refused a batch', async () => {
    const { jobs } = await makeTopics(['jobs'], 1, { 'max.message.bytes': '2000' })
    const writer = await openWriter()
    await writer.write([{ topic: jobs, key: 'a', value: text('first') }])
    const large = { topic: jobs, key: 'a', value: Buffer.alloc(5_000) }
    await expect(writer.write([large])).rejects.toMatchObject({ code: 'payload-too-large' })
    await writer.write([{ topic: jobs, key: 'a', value: text('second') }])
    expect(await readAll(jobs)).toEqual(['first', 'second'])
  })

  test('fails only the call whose record the broker refuses, whatever its partition', async () => {
    const { jobs } = await makeTopics(['jobs'], 1, { 'max.message.bytes': '2000' })
    const other = (await makeTopics(['jobs'])).jobs
    const writer = await openWriter()
    // The writer then knows all three topics, and writes the following records together.
    await Promise.allSettled(
      [jobs, other, '__consumer_offsets'].map((topic) => writer.write([{ topic, key: 'a', value: text('first') }])),
    )
    const results = await Promise.allSettled([
      writer.write([{ topic: jobs, key: 'a', value: text('before') }]),
      writer.write([{ topic: '__consumer_offsets', key: 'a', value: text('bad') }]),
      writer.write([{ topic: other, key: 'a', value: text('other') }]),
      writer.write([{ topic: jobs, key: 'a', value: Buffer.alloc(5_000) }]),
      writer.write([{ topic: jobs, key: 'a', value: text('after') }]),
    ])
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'rejected', 'fulfilled'])
    expect(results[3]).toMatchObject({ reason: { code: 'payload-too-large' } })
    expect(await readAll(jobs)).toEqual(['first', 'before', 'after'])
    expect(await readAll(other)).toEqual(['first', 'other'])
  })

  test('does not lose the write that follows one whose answers were lost', async () => {
    const { jobs } = await makeTopics(['jobs'])
    const { proxy, log } = await openThroughProxy(
      { dropResponse: (apiKey) => apiKey === apiKeys.produce },
      { requestTimeoutMs: 2_000 },
    )
    const writer = await openWriter(log)
    await expect(writer.write([{ topic: jobs, key: 'a', value: text('unknown') }])).rejects.toMatchObject({
      code: 'broker-unavailable',
    })
    proxy.release()
    await writer.write([{ topic: jobs, key: 'a', value: text('next') }])
    expect(await readAll(jobs)).toEqual(['unknown', 'next'])
  })

  test('refuses writes after it was closed, and closes twice', async () => {
    const { jobs } = await makeTopics(['jobs'])
    const writer = await openWriter()
    await writer.close()
    await writer.close()
    await expect(writer.write([{ topic: jobs, key: 'a', value: null }])).rejects.toThrow(/closed/)
  })
})
