/** What a backup reads is complete, or it fails; and a restore that fails at its end starts nobody. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import type { DuelogError } from '../../src/ground/errors/index.ts'
import type { RecordIn, RecordOut } from '../../src/ground/ports/log.ts'
import type { BoundedRead } from '../../src/log/kafka/index.ts'
import { codecsOfSchemas, ownSchemas } from '../../src/log/kafka/index.ts'
import { Chance } from '../../src/testing/simulation/chance.ts'
import { BackupWriter, kinds } from '../../src/tools/backup/backup-file.ts'
import { readSystem } from '../../src/tools/backup/logged-system.ts'
import { Restoring } from '../../src/tools/backup/restoring.ts'
import { Scratch } from '../../src/tools/backup/scratch.ts'
import { metaKey, restoringKey, stateKey } from '../../streams/state/index.ts'
import { topicNames } from '../../streams/topics/index.ts'

const folder = await mkdtemp(join(tmpdir(), 'duelog-logged-'))
afterAll(() => rm(folder, { recursive: true, force: true }))

const codecs = codecsOfSchemas(ownSchemas())
const names = topicNames('p.')
const signal = new AbortController().signal

/** job-state of one partition, whose owner writes and whose broker compacts while it is read. Times are numbers of transactions. */
class CompactedLog {
  readonly #chance: Chance
  readonly #busy: number
  #records: { offset: number; key: Buffer; value: Buffer | null; at: number }[] = []
  #end = 0
  /** Compaction leaves what comes from here on: the segment that is written. */
  #active = 0
  #now = 0
  /** Each write: the transaction, the job, and whether it was deleted. */
  readonly writes: { at: number; job: string; value: string | null }[] = []
  reads = 0

  constructor(seed: number, busy: number) {
    this.#chance = new Chance(seed)
    this.#busy = busy
    for (let count = 0; count < 30; count++) this.#step()
  }

  #append(key: Buffer, value: Buffer | null): void {
    this.#records.push({ offset: this.#end++, key, value, at: this.#now })
  }

  #step(): void {
    const chance = this.#chance
    this.#now++
    const aborted = chance.happens(0.05)
    const jobs = new Set(Array.from({ length: chance.int(0, 3) }, () => `job-${chance.int(0, 9)}`))
    if (aborted) this.#end += 1 + jobs.size
    else if (chance.happens(0.05)) this.#append(metaKey('owner'), Buffer.of(1))
    else {
      for (const job of jobs) {
        const value = chance.happens(0.1) ? null : `${this.#now}`
        this.writes.push({ at: this.#now, job, value })
        this.#append(stateKey(job), value === null ? null : Buffer.from(value))
      }
      const offsets = { claimOffset: 0, commandsOffset: 0, eventsOffset: 0, jobsOffset: 0, zoneRules: '' }
      this.#append(metaKey('position'), codecs.state.encode({ position: { ...offsets, committedAt: this.#now } }))
    }
    // The end of the transaction.
    this.#end++
    if (chance.happens(0.2)) this.#active = this.#end
    if (!chance.happens(0.3)) return
    const last = new Map<string, number>()
    for (const { offset, key } of this.#records) if (offset < this.#active) last.set(key.toString('hex'), offset)
    this.#records = this.#records.filter(({ offset, key }) => offset >= this.#active || last.get(key.toString('hex')) === offset)
  }

  readToEnd = async ({ topics, begin, onRecord }: BoundedRead) => {
    const topic = topics[0] ?? ''
    if (topic !== names.state) return topics.map((other) => ({ topic: other, partition: 0, earliest: 0, from: 0, to: 0 }))
    this.reads++
    const [from, to] = [begin?.get(`${topic}/0`) ?? 0, this.#end]
    for (let at = from; at < to; ) {
      const record = this.#records.find(({ offset }) => offset >= at)
      if (record === undefined || record.offset >= to) break
      await onRecord({ topic, partition: 0, timestampMs: 0, headers: {}, ...record })
      at = record.offset + 1
      while (this.#chance.happens(this.#busy)) this.#step()
    }
    return [{ topic, partition: 0, earliest: 0, from, to }]
  }
}

it('all states are those of the position that is read with them, however much is written and compacted meanwhile', async () => {
  let [read, refused, again] = [0, 0, 0]
  for (let seed = 0; seed < 60; seed++) {
    const log = new CompactedLog(seed, (seed % 6) / 10)
    const scratch = await Scratch.open(folder)
    try {
      const cluster = { log: log as never, names }
      const { positions } = await readSystem({ cluster, codecs, scratch, onProgress() {}, signal })
      const until = positions.get(0)?.committedAt ?? 0
      const expected = new Map<string, string>()
      for (const { at, job, value } of log.writes) {
        if (at > until) continue
        if (value === null) expected.delete(job)
        else expected.set(job, value)
      }
      const found = new Map<string, string>()
      for await (const { id, entries } of scratch.jobs(0)) found.set(id, `${entries[0]?.value}`)
      expect(found, `seed ${seed}`).toEqual(new Map([...expected].sort()))
      read++
      if (log.reads > 2) again++
    } catch (error) {
      if ((error as DuelogError).code !== 'not-ready') throw error
      refused++
    } finally {
      await scratch.close()
    }
  }
  expect(read).toBeGreaterThan(40)
  expect(Math.min(refused, again)).toBeGreaterThan(0)
})

it('a partition of which nothing was missing stays as it is while another one is read again', async () => {
  const scratch = await Scratch.open(folder)
  let end = 1
  const readToEnd = async ({ topics, begin, onRecord }: BoundedRead) => {
    if (topics[0] !== names.state) return []
    const spans = [0, 1].map((partition) => {
      const from = begin?.get(`${names.state}/${partition}`) ?? 0
      return { topic: names.state, partition, earliest: 0, from, to: end }
    })
    // The other partition lacks an offset at first. What comes later is compacted in this one.
    const record = { topic: names.state, partition: 0, timestampMs: 0, headers: {}, value: Buffer.from(`${end}`) }
    await onRecord({ ...record, offset: end - 1, key: stateKey(`job-${end}`) })
    if (end > 1) await onRecord({ ...record, partition: 1, offset: 1, key: metaKey('owner') })
    end = 3
    return spans
  }
  const system = await readSystem({ cluster: { log: { readToEnd } as never, names }, codecs, scratch, onProgress() {}, signal })
  const found: string[] = []
  for await (const { id } of scratch.jobs(0)) found.push(id)
  await scratch.close()
  expect(found).toEqual(['job-1'])
  expect(system.ends.map(({ offset }) => offset)).toEqual([1, 3])
})

it('a log of states that nobody writes is read once, or twice if it was compacted', async () => {
  for (const [offsets, reads] of [
    [[0, 1], 1],
    [[1, 2], 2],
    [[0, 2], 2],
  ] as const) {
    let count = 0
    const readToEnd = async ({ topics, begin, onRecord }: BoundedRead) => {
      const topic = topics[0] ?? ''
      const [from, to] = [begin?.get(`${topic}/0`) ?? 0, topic === names.state ? 3 : 0]
      if (topic === names.state) count++
      for (const offset of topic === names.state && from === 0 ? offsets : [])
        await onRecord({
          ...{ topic, partition: 0, offset, timestampMs: 0, headers: {} },
          ...(offset === offsets[1] ? { key: metaKey('owner'), value: null } : { key: stateKey('a'), value: null }),
        })
      return topics.map((each) => ({ topic: each, partition: 0, earliest: 0, from, to: Math.max(from, to) }))
    }
    const scratch = await Scratch.open(folder)
    await readSystem({ cluster: { log: { readToEnd } as never, names }, codecs, scratch, onProgress() {}, signal })
    await scratch.close()
    expect(count, offsets.join()).toBe(reads)
  }
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
    return topics.map((topic) => ({
      topic,
      partition: 0,
      earliest: 0,
      from: 0,
      to: topic === names.jobs ? end : topic === names.state ? states.length + 1 : 1,
    }))
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

it('an operation that ends after the states are read has not ended in the copy: its last changes may be missing there', async () => {
  const scratch = await Scratch.open(folder)
  const record = (key: string, text: string): Partial<RecordIn> => ({ key: Buffer.from(key), value: Buffer.from(text) })
  const before = [record('ended/request', 'one'), record('ended/progress', 'done'), record('runs/request', 'two')]
  const runs = record('runs/progress', 'half')
  const after = [record('runs/progress', 'done'), record('later/request', 'three'), record('later/progress', 'done')]
  let areStatesRead = false
  const { log } = smallLog(1)
  const readToEnd = async (read: BoundedRead) => {
    const records = read.topics.includes(names.operations) ? [...before, runs, ...(areStatesRead ? after : [])] : []
    for (const [offset, each] of records.entries())
      await read.onRecord({ topic: names.operations, partition: 0, offset, ...each } as RecordIn)
    areStatesRead ||= read.topics.includes(names.state)
    return (log as { readToEnd: (read: BoundedRead) => Promise<never> }).readToEnd(read)
  }
  const system = await readSystem({ cluster: { log: { readToEnd } as never, names }, codecs, scratch, onProgress() {}, signal })
  await scratch.close()
  const found = Object.fromEntries(Array.from(system.operations, ([key, value]) => [key, `${value}`]))
  expect(found).toEqual({
    ...{ 'ended/request': 'one', 'ended/progress': 'done', 'runs/request': 'two', 'runs/progress': 'half' },
    'later/request': 'three',
  })
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
  ...{ createdAt: 1, duelog: '1.0.0', clusterId: 'c', prefix: 'o.', partitions: 3, pools: [], ends: [], intake: [] },
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
  const isBegin = (value: RecordOut['value'], key: RecordOut['key']): boolean =>
    value !== null && restoringKey.equals(key as Buffer)
  const fenced: string[] = []
  const transactionalWriter = async (id: string) => ({
    commit: async (records: RecordOut[]) => {
      if (records.every(({ value, key }) => isBegin(value, key)) && written.length === 0) fenced.push(id)
      committed.push(...records.filter(({ value, key }) => !isBegin(value, key)))
    },
    close: async () => {},
  })
  const scratch = await Scratch.open(folder)
  const cluster = { log: { transactionalWriter }, names } as never
  const options = { file, signal, onProgress() {} }
  const all = { options, cluster, codecs, scratch, writer, header, partitions: 3, jobs: 0, nowMs: Date.now }
  const run = (beforeEnd?: () => Promise<void>) => new Restoring(all).all(beforeEnd).finally(() => scratch.close())
  return { run, written, committed, fenced }
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

it('the owners of former topics of these names are fenced before a restore writes anything', async () => {
  const { run, fenced } = await restoring()
  await run()
  expect(fenced.sort()).toEqual([0, 1, 2].map((partition) => `${names.group('scheduler')}-${partition}`))
})

it('a restore whose last check fails lets nobody begin', async () => {
  const { run, committed } = await restoring()
  await expect(run(() => Promise.reject(new Error('the old system runs')))).rejects.toThrow('the old system runs')
  expect(committed).toEqual([])
})

it('definitions that are not decided are written in portions, however large they are', async () => {
  const { run, written, committed } = await restoring(Array.from({ length: 20 }, () => Buffer.alloc(512 * 1024)))
  await run()
  // They are behind the positions: only the mark at the beginning of each partition is decided.
  const entries = await Promise.all(committed.flatMap(({ value }) => (value === null ? [] : codecs.state.decode(value))))
  expect(entries.map(({ position }) => position?.jobsOffset)).toEqual([1, 1, 1])
  const bytesOf = (records: RecordOut[]): number =>
    records.reduce((sum, { topic, value }) => sum + (topic === names.jobs ? (value?.length ?? 0) : 0), 0)
  const bytes = written.map(bytesOf)
  expect(bytes.reduce((sum, each) => sum + each, 0)).toBe(20 * 512 * 1024)
  expect(Math.max(...bytes)).toBeLessThan(9 * 1024 * 1024)
})
