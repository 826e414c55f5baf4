import { expect, it } from 'vitest'
import type { GroupReaderOptions, Log } from '../../../src/ground/ports/log.ts'
import { LogFollower } from '../../../src/tools/auditor/reading/log-follower.ts'
import type { FactCodecs } from '../../../src/tools/auditor/reading/record-facts.ts'
import { topicNames } from '../../../streams/topics/topics.ts'

const names = topicNames('t.')
const executions = names.executions('p', 'NORMAL')
const decode = (bytes: Buffer) => JSON.parse(String(bytes))
const codecs = { execution: { decode }, event: { decode }, deadLetter: { decode } } as unknown as FactCodecs

it('the follower begins at the present ends of the topics of its pool, and delivers each later record once', async () => {
  let reader: GroupReaderOptions | undefined
  const log = {
    reader(options: GroupReaderOptions) {
      reader = options
      return { start: async () => {} }
    },
    admin: async () => ({ offsets: async () => [{ partition: 0, earliest: 0, next: 5 }], close: async () => {} }),
  } as unknown as Log
  const read: string[] = []
  const follower = new LogFollower({
    ...{ log, codecs, names, pool: 'p', instance: 'test', group: 'test-1' },
    onFact: ({ kind, jobId }) => void read.push(`${kind} ${jobId}`),
    onError: (error) => void read.push(error.message),
  })
  await follower.startAtEnd()
  expect(reader).toMatchObject({ groupId: names.group('test-1'), instance: 'test' })
  expect([...(reader?.topics ?? [])].sort()).toEqual(
    [
      ...['high', 'normal', 'low'].flatMap((level) => [`t.executions.p.${level}`, `t.executions.p.${level}.ahead`]),
      ...['t.execution-events', 't.executions.dlq'],
    ].sort(),
  )
  const give = async (...offsets: number[]): Promise<void> => {
    const records = offsets.map((offset) => ({
      ...{ topic: executions, partition: 0, offset, timestampMs: 0, key: Buffer.from('k'), headers: {} },
      value: Buffer.from(JSON.stringify({ jobId: `job-${offset}` })),
    }))
    await reader?.onBatch({ topic: executions, partition: 0, records, highWatermark: 9 })
  }
  await give(4, 5)
  await give(5, 6)
  expect(read).toEqual(['dispatch job-5', 'dispatch job-6'])
  expect(reader?.onAssigned([], 1)?.positions).toContainEqual({ topic: executions, partition: 0, offset: 7 })
})
