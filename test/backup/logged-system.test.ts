/** What a backup reads is complete, or it fails; and a restore that fails at its end starts nobody. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { BackupWriter, kinds } from '../../src/backup/backup-file.ts'
import { readSystem } from '../../src/backup/logged-system.ts'
import { Restoring } from '../../src/backup/restoring.ts'
import { parts, Scratch } from '../../src/backup/scratch.ts'
import { codecsOfSchemas, ownSchemas } from '../../src/kafka/index.ts'
import type { BoundedRead } from '../../src/kafka/reading/index.ts'
import type { RecordIn, RecordOut } from '../../src/ports/index.ts'
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

/** A system that wrote its position in job-state, and these records to `jobs`, of which the position covers the first. */
function smallLog(end: number, records: Partial<RecordIn>[] = [], states: Partial<RecordIn>[] = []) {
  const offsets = { claimOffset: 0, commandsOffset: 0, eventsOffset: 0, jobsOffset: 1, committedAt: 1, zoneRules: '' }
  const position = codecs.state.encode({ position: offsets })
  const all = { [names.state]: [...states, { key: metaKey('position'), value: position }], [names.jobs]: records } as Record<
    string,
    object[]
  >
  const readToEnd = async ({ topics, onRecord }: BoundedRead) => {
    for (const topic of topics)
      for (const [offset, record] of (all[topic] ?? []).entries())
        await onRecord({ topic, partition: 0, offset, timestampMs: 0, headers: {}, key: null, value: null, ...record })
    return topics.map((topic) => ({ topic, partition: 0, earliest: 0, from: 0, to: topic === names.jobs ? end : 1 }))
  }
  return { log: { readToEnd } as never, names }
}

it('a log of definitions that ends before what its owner has read is refused: a new leader hides its end, or it was lost', async () => {
  const scratch = await Scratch.open(folder)
  const options = { codecs, scratch, onProgress() {}, signal }
  try {
    await expect(readSystem({ ...options, cluster: smallLog(0) })).rejects.toMatchObject({
      code: 'not-ready',
      message: expect.stringMatching(/^p\.jobs\/0 ends at 0, and the owner has read it up to 1\. .*Try again/),
    })
    expect((await readSystem({ ...options, cluster: smallLog(1) })).ends).toEqual([
      { topic: names.state, partition: 0, offset: 1 },
      { topic: names.jobs, partition: 0, offset: 1 },
      { topic: names.commands, partition: 0, offset: 1 },
    ])
  } finally {
    await scratch.close()
  }
})

it('a system whose restore has not ended is refused, and one whose restore has ended is not', async () => {
  const scratch = await Scratch.open(folder)
  const options = { codecs, scratch, onProgress() {}, signal }
  const marks = (...values: (Buffer | null)[]) => values.map((value) => ({ key: restoringKey, value }))
  try {
    const ended = await readSystem({ ...options, cluster: smallLog(1, [], marks(Buffer.of(0), null)) })
    expect(ended.positions.size).toBe(1)
    await expect(readSystem({ ...options, cluster: smallLog(1, [], marks(Buffer.of(0))) })).rejects.toThrow('has not ended')
  } finally {
    await scratch.close()
  }
})

it('what the intake has written behind its position is left out unless it is decided, because the intake takes it again', async () => {
  const scratch = await Scratch.open(folder)
  const of = (key: string, source?: string): Partial<RecordIn> => ({
    key: Buffer.from(key),
    headers: source === undefined ? {} : { 'duelog-source': Buffer.from(source) },
  })
  const records = [
    of('decided', 'foreign/0/9'),
    of('before', 'foreign/0/4'),
    of('at', 'foreign/0/5'),
    of('elsewhere', 'foreign/1/9'),
    of('of-another', 'other/0/9'),
    of('of-a-client'),
  ]
  const foreign = { topic: 'foreign', partition: 0, offset: 5 }
  try {
    const system = await readSystem({
      ...{ codecs, scratch, onProgress() {}, signal, intakePositions: async () => [foreign] },
      cluster: smallLog(6, records),
    })
    const kept: string[] = []
    for await (const { id } of scratch.jobs(0)) kept.push(id)
    expect(kept).toEqual(['before', 'decided', 'elsewhere', 'of-a-client', 'of-another'])
    expect(system.intake).toEqual([foreign])
  } finally {
    await scratch.close()
  }
})

const header = {
  ...{ createdAt: 1, duelog: '1.0.0', clusterId: 'c', prefix: 'o.', partitions: 3, pools: [], ends: [] },
  ...{ zoneRules: '', live: false, schemas: ownSchemas() },
}

/** A restore of a file with these pending definitions into a log that only notes what is written and committed. */
async function restoring(pending: Buffer[] = []) {
  const file = join(folder, `${pending.length}.backup`)
  await rm(file, { force: true })
  const backup = await BackupWriter.create(file, header)
  for (const [index, body] of pending.entries())
    await backup.put(kinds.pending, { id: `job-${index}`, raw: true, headers: {} }, body)
  await backup.end({ jobs: 0 })
  const written: RecordOut[][] = []
  const committed: RecordOut[] = []
  const next = new Map<string, number>()
  const writer = {
    write: async (records: RecordOut[]) => {
      written.push(records)
      const first = new Map<string, number>()
      for (const { topic, partition } of records) {
        const place = `${topic}/${partition}`
        if (!first.has(place)) first.set(place, next.get(place) ?? 0)
        next.set(place, (next.get(place) ?? 0) + 1)
      }
      return first
    },
    close: async () => {},
  }
  const transactionalWriter = async () => ({
    commit: async (records: RecordOut[]) => void committed.push(...records),
    close: async () => {},
  })
  const scratch = await Scratch.open(folder)
  const cluster = { log: { transactionalWriter }, names } as never
  const options = { file, signal, onProgress() {} }
  const all = { options, cluster, codecs, scratch, writer, header, partitions: 3, jobs: 0 }
  const run = (beforeEnd?: () => Promise<void>) => new Restoring(all).all(beforeEnd).finally(() => scratch.close())
  return { run, written, committed }
}

it('the positions and the ends of the markers are one transaction, and nothing of them is written before it', async () => {
  const { run, written, committed } = await restoring()
  await run()
  const isEnd = ({ key, value }: RecordOut): boolean =>
    metaKey('position').equals(key as Buffer) || (value === null && restoringKey.equals(key as Buffer))
  expect(written.flat().filter((record) => Buffer.isBuffer(record.key) && isEnd(record))).toEqual([])
  expect(committed.map(({ partition, value }) => [partition, value !== null])).toEqual(
    [0, 1, 2].flatMap((partition) => [
      [partition, true],
      [partition, false],
    ]),
  )
})

it('a restore whose last check fails lets nobody begin', async () => {
  const { run, committed } = await restoring()
  await expect(run(() => Promise.reject(new Error('the old system runs')))).rejects.toThrow('the old system runs')
  expect(committed).toEqual([])
})

it('definitions that are not decided are written in portions, however large they are', async () => {
  const { run, written } = await restoring(Array.from({ length: 20 }, () => Buffer.alloc(512 * 1024)))
  await run()
  const bytesOf = (records: RecordOut[]): number =>
    records.reduce((sum, { topic, value }) => sum + (topic === names.jobs ? (value?.length ?? 0) : 0), 0)
  const bytes = written.map(bytesOf)
  expect(bytes.reduce((sum, each) => sum + each, 0)).toBe(20 * 512 * 1024)
  expect(Math.max(...bytes)).toBeLessThan(9 * 1024 * 1024)
})
