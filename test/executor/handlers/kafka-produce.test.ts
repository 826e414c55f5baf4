import { expect, it } from 'vitest'
import type { Run } from '../../../src/worker/executor/handlers/handler.ts'
import { kafkaProduceHandler } from '../../../src/worker/executor/handlers/kafka-produce.ts'
import { openLog, openWriter, text, uniquePrefix, Watcher } from '../../kafka/harness.ts'

const run = (payload: unknown) => ({ payload, executionId: 'a/1' }) as unknown as Run

it('writes key, value and headers, as text or bytes, to any topic', async () => {
  const topic = `${uniquePrefix()}any`
  await openLog().ensureTopics({ plans: [{ topic, schema: 'execution', config: {} }], partitions: 2, replication: 1 })
  const writer = await openWriter()
  const produce = kafkaProduceHandler(async () => writer, 'duelog.')
  const first = await produce(
    run({ topic, partition: 1, key: { base64: '/wA=' }, value: 'v', headers: { h: 'x', b: { base64: 'AA==' } } }),
  )
  expect(first).toEqual({ topic, partition: 1, offset: 0 })
  await produce(run({ topic, partition: 1, key: 'k', value: null }))
  const seen = new Watcher({ topics: [topic] })
  await seen.reader.start()
  await seen.until(() => seen.records.length === 2)
  expect(seen.records[0]).toMatchObject({
    key: Buffer.from([255, 0]),
    value: text('v'),
    headers: { h: text('x'), b: Buffer.from([0]), 'duelog-execution-id': text('a/1') },
  })
  expect(seen.records[1]).toMatchObject({ key: text('k'), value: null })
})

it('says what is wrong with its payload, and is not tried again with it', async () => {
  const produce = kafkaProduceHandler(() => Promise.reject(new Error('asked for a writer')), 'duelog.')
  const wrong: [unknown, RegExp][] = [
    [null, /must be JSON like/],
    [{}, /payload\.topic/],
    [{ topic: 'duelog.jobs' }, /one of Duelog's own/],
    [{ topic: 't', value: 7 }, /payload\.value must be text/],
    [{ topic: 't', headers: { h: {} } }, /payload\.headers\.h must be text/],
    [{ topic: 't', partition: -1 }, /payload\.partition/],
    [{ topic: 't', vlaue: 'x' }, /payload\.vlaue is not known/],
  ]
  for (const [payload, message] of wrong)
    await expect((async () => produce(run(payload)))()).rejects.toMatchObject({ name: 'NonRetryableError', message })
})
