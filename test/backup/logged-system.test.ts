/** What a backup reads is complete, also if compaction removes entries while it reads; and a restore that fails at its end starts nobody. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { BackupWriter } from '../../src/backup/backup-file.ts'
import { readSystem } from '../../src/backup/logged-system.ts'
import { Restoring } from '../../src/backup/restoring.ts'
import { parts, Scratch } from '../../src/backup/scratch.ts'
import { codecsOfSchemas, ownSchemas } from '../../src/kafka/index.ts'
import type { BoundedRead } from '../../src/kafka/reading/index.ts'
import type { RecordOut } from '../../src/ports/index.ts'
import { metaKey, restoringKey, stateKey } from '../../streams/state/index.ts'
import { topicNames } from '../../streams/topics/index.ts'

const folder = await mkdtemp(join(tmpdir(), 'duelog-logged-'))
afterAll(() => rm(folder, { recursive: true, force: true }))

const codecs = codecsOfSchemas(ownSchemas())
const names = topicNames('p.')
const signal = new AbortController().signal

/** A compacted log of one partition: each read takes `readMs`, and while it runs the entry of the job is written again, and the old one goes. */
function busyLog(readMs: readonly number[]) {
  const clock = { now: 0 }
  const reads: number[] = []
  let end = 1
  const readToEnd = async ({ topics, begin, onRecord }: BoundedRead) => {
    const topic = topics[0] ?? ''
    if (topic !== names.state) return []
    const from = begin?.get(`${topic}/0`) ?? 0
    const [to, took] = [end, readMs[reads.length] ?? 0]
    reads.push(from)
    clock.now += took
    if (took > 10_000) end++
    else
      await onRecord({
        ...{ topic, partition: 0, offset: to - 1, timestampMs: 0, headers: {} },
        ...{ key: stateKey('a'), value: Buffer.from(`${to}`) },
      })
    return [{ topic, partition: 0, earliest: 0, from, to }]
  }
  return { reads, clock, log: { readToEnd } as never }
}

async function stateOf(readMs: readonly number[]): Promise<{ reads: number[]; state: string | undefined }> {
  const { reads, clock, log } = busyLog(readMs)
  const scratch = await Scratch.open(folder)
  try {
    const options = { cluster: { log, names }, codecs, scratch, onProgress() {}, signal, steadyMs: () => clock.now }
    await readSystem(options)
    const found = await scratch.partsOf(0, 'a')
    return { reads, state: found.find(({ part }) => part === parts.state)?.value.toString() }
  } finally {
    await scratch.close()
  }
}

it('a state that was written again during a long read is read again, from where that read ended', async () => {
  expect(await stateOf([1_000])).toEqual({ reads: [0], state: '1' })
  expect(await stateOf([60_000, 20_000, 1_000])).toEqual({ reads: [0, 1, 2], state: '3' })
  await expect(stateOf(Array.from({ length: 100 }, () => 60_000))).rejects.toMatchObject({ code: 'not-ready' })
})

it('the positions and the ends of the markers are one transaction, and nothing of them is written before it', async () => {
  const file = join(folder, 'empty.backup')
  const header = {
    ...{ createdAt: 1, duelog: '1.0.0', clusterId: 'c', prefix: 'o.', partitions: 3, pools: [], ends: [] },
    ...{ zoneRules: '', live: false, schemas: ownSchemas() },
  }
  const backup = await BackupWriter.create(file, header)
  await backup.end({ jobs: 0 })
  const [written, committed]: RecordOut[][] = [[], []]
  const writer = {
    write: async (records: RecordOut[]) => {
      written?.push(...records)
      return new Map(records.map(({ topic, partition }) => [`${topic}/${partition}`, 0]))
    },
    close: async () => {},
  }
  const transactionalWriter = async () => ({
    commit: async (records: RecordOut[]) => void committed?.push(...records),
    close: async () => {},
  })
  const scratch = await Scratch.open(folder)
  const cluster = { log: { transactionalWriter }, names } as never
  const options = { file, signal, onProgress() {} }
  const all = { options, cluster, codecs, scratch, writer, header, partitions: 3, jobs: 0 }
  await new Restoring(all).all().finally(() => scratch.close())
  const isEnd = ({ key, value }: RecordOut): boolean =>
    metaKey('position').equals(key as Buffer) || (value === null && restoringKey.equals(key as Buffer))
  expect(written?.filter((record) => Buffer.isBuffer(record.key) && isEnd(record))).toEqual([])
  expect(committed?.map(({ partition, value }) => [partition, value !== null])).toEqual(
    [0, 1, 2].flatMap((partition) => [
      [partition, true],
      [partition, false],
    ]),
  )
})
