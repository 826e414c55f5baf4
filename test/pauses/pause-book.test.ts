/** What a process knows of the pauses while readers are lost and the registry does not answer. Pauses on a real broker: test/system. */
import { expect, it } from 'vitest'
import type { Pause } from '../../schemas/generated.ts'
import { DuelogError } from '../../src/ground/errors/errors.ts'
import { newMetrics } from '../../src/ground/metrics/metrics.ts'
import type { GroupReader, GroupReaderOptions, RecordIn } from '../../src/ground/ports/log.ts'
import { PauseBook } from '../../src/log/pauses/pause-book.ts'
import { logger } from '../model/cluster/process.ts'
import { codecs, names } from '../model/world.ts'
import { ManualClock, VirtualTime } from '../tools/manual-clock.ts'

/** A book whose readers the test drives. */
async function openBook() {
  const time = new VirtualTime()
  const readers: GroupReaderOptions[] = []
  const registry = { answers: true }
  const reader = (options: GroupReaderOptions): GroupReader => {
    readers.push(options)
    return { start: async () => {}, stop: async () => {} } as GroupReader
  }
  const admin = async () => ({ offsets: async () => [{ partition: 0, earliest: 0, next: 0 }], close: async () => {} }) as never
  const book = new PauseBook({
    log: { reader, admin },
    codec: {
      encode: (value) => codecs.pause.encode(value),
      decode: async (bytes): Promise<Pause> => {
        if (!registry.answers) throw new DuelogError('registry-unavailable', 'It does not answer.')
        return await codecs.pause.decode(bytes)
      },
    },
    ...{ names, instance: 'p', clock: new ManualClock(time), metrics: newMetrics(), logger },
  })
  await book.start()
  return { book, readers, registry, time }
}

const record = (offset: number, mode: 'PAUSE' | 'DRAIN' | null): RecordIn => ({
  ...{ topic: names.pauses, partition: 0, offset, timestampMs: 0, byBroker: true, headers: {} },
  key: Buffer.from('pool/mail'),
  value: mode === null ? null : codecs.pause.encode({ name: 'mail', mode, at: offset }),
})
const batch = (...records: RecordIn[]) => ({
  ...{ topic: names.pauses, partition: 0, records, next: (records.at(-1)?.offset ?? 0) + 1, highWatermark: 9 },
})

it('a batch of a reader that was lost while it waited for the registry does not undo what the next reader has read', async () => {
  const { book, readers, registry, time } = await openBook()
  registry.answers = false
  const late = readers[0]?.onBatch(batch(record(0, 'PAUSE'), record(1, null), record(2, 'DRAIN')))
  readers[0]?.onCrash(new Error('The session was lost.'))
  // The book reads again, and the first batch still waits.
  await time.advance(1_000)
  registry.answers = true
  await readers[1]?.onBatch(batch(record(0, 'PAUSE'), record(1, null), record(2, 'DRAIN'), record(3, null)))
  await time.advance(1_000)
  await late
  expect(readers).toHaveLength(2)
  expect(book.ofPool('mail')).toBeUndefined()
  readers[0]?.onPassed?.({ topic: names.pauses, partition: 0, offset: 9 })
  await readers[1]?.onBatch(batch(record(4, 'PAUSE')))
  expect(book.ofPool('mail')).toEqual({ at: 4, isDrained: false })
  await book.stop()
})

it('a record whose key and value name different pools pauses neither', async () => {
  const { book, readers } = await openBook()
  await readers[0]?.onBatch(batch({ ...record(0, 'PAUSE'), key: Buffer.from('pool/default') }))
  expect([book.ofPool('default'), book.ofPool('mail')]).toEqual([undefined, undefined])
  await readers[0]?.onBatch(batch(record(1, 'PAUSE')))
  expect(book.ofPool('mail')).toEqual({ at: 1, isDrained: false })
  await book.stop()
})

it('a value that cannot be decoded changes nothing, and the records after it count', async () => {
  const { book, readers } = await openBook()
  await readers[0]?.onBatch(batch(record(0, 'PAUSE'), { ...record(1, null), value: Buffer.from('nonsense') }))
  expect(book.ofPool('mail')).toEqual({ at: 0, isDrained: false })
  await readers[0]?.onBatch(batch(record(2, null)))
  expect(book.ofPool('mail')).toBeUndefined()
  await book.stop()
})
