/** The route of the lines of a run, over a log in memory: what it finds, what it skips, where it ends. */
import { describe, expect, it } from 'vitest'
import type { RunLog, RunLogLine } from '../../schemas/generated.ts'
import { DuelogError } from '../../src/ground/errors/errors.ts'
import type { Position, RangeReader, RecordIn, TopicPartition } from '../../src/ground/ports/log.ts'
import { runLogAfterMs, runLogBeforeMs } from '../../src/server/api/schemas/limits.ts'
import { hiddenHash } from '../../streams/text/hashes.ts'
import { partitionOf } from '../../streams/topics/topics.ts'
import { apiTokens, operator, viewer } from './attackers.ts'
import { activeRun, createSystem, finishedRun, memoryCodec, names, nowMs } from './system-in-memory.ts'

const codec = memoryCodec<RunLog, RunLog>()

/** Partitions of run-logs. Each request gives at most three records. */
class MemoryRanges implements RangeReader {
  readonly records: RecordIn[] = []
  readonly asked: { fromMs: number; toMs: number | undefined }[] = []
  reads = 0
  atOnce = 0
  mostAtOnce = 0
  /** Each read waits for it. */
  gate: Promise<void> = Promise.resolve()

  add(jobId: string, timestampMs: number, value: Buffer | null, key = jobId): void {
    const partition = partitionOf(jobId, 4)
    const offset = 5 + this.#of({ topic: names.runLogs, partition }).length
    this.records.push({ topic: names.runLogs, partition, offset, timestampMs, key: Buffer.from(key), value, headers: {} })
  }

  #of({ topic, partition }: TopicPartition): RecordIn[] {
    return this.records.filter((record) => record.topic === topic && record.partition === partition)
  }

  async range(place: TopicPartition, fromMs: number, toMs: number | undefined) {
    this.asked.push({ fromMs, toMs })
    const all = this.#of(place)
    const end = 5 + all.length
    const of = (ms: number): number => all.find(({ timestampMs }) => timestampMs >= ms)?.offset ?? end
    return { from: of(fromMs), to: toMs === undefined ? end : of(toMs) }
  }

  async read(position: Position) {
    this.reads++
    this.mostAtOnce = Math.max(this.mostAtOnce, ++this.atOnce)
    await this.gate
    this.atOnce--
    const records = this.#of(position).filter(({ offset }) => offset >= position.offset)
    return { records: records.slice(0, 3), next: records.slice(0, 3).at(-1)?.offset ?? position.offset }
  }
  async close() {}
}

type Page = { lines: RunLogLine[]; cursor: string | null; caughtUp: boolean }
const line = (text: string, more: Partial<RunLogLine> = {}): RunLogLine => ({
  ...{ at: nowMs, level: 'info', text, fields: null, shortened: false },
  ...more,
})
const log = (jobId: string, lines: RunLogLine[], more: Partial<RunLog> = {}): Buffer =>
  codec.encode({ jobId, runNo: 1, life: '', attempt: 1, worker: 'w@h:1:b', firstNo: 1, lines, ...more })

function started(options: Parameters<typeof createSystem>[0] = {}) {
  const ranges = new MemoryRanges()
  const system = createSystem({ runLogs: { ranges, codec }, ...options })
  const get = (path: string, headers = {}) => system.api.instance.inject({ url: path, headers })
  const textsOf = async (path: string) => (await get(path)).json().lines.map(({ text }: RunLogLine) => text)
  return { ranges, system, get, textsOf, [Symbol.asyncDispose]: () => system[Symbol.asyncDispose]() }
}
const lines = '/v1/jobs/a/runs/1/logs'

describe('lines of a run', () => {
  it('are shown in their order with attempt, number, worker and fields, and those of other runs and jobs are not', async () => {
    await using set = started()
    set.system.add('a', { active: [activeRun(1)] })
    set.ranges.add('a', nowMs, log('a', [line('one', { fields: '{"n":1,"s":"x","b":true,"z":null}' }), line('two')]))
    set.ranges.add('a', nowMs, log('a', [line('other run')], { runNo: 2 }))
    // Another job of the partition, and a record under the key of this job that names another.
    set.ranges.add('a', nowMs, log('b', [line('other job')]), 'b')
    set.ranges.add('a', nowMs, log('b', [line('false name')]))
    set.ranges.add('a', nowMs, log('a', [line('three', { level: 'error', shortened: true })], { attempt: 2, firstNo: 7 }))
    const answer = await set.get(lines)
    expect(answer.statusCode).toBe(200)
    const common = { at: '2030-01-01T00:00:00.000Z', worker: 'w@h:1:b' }
    expect(answer.json()).toEqual({
      lines: [
        {
          ...common,
          level: 'info',
          text: 'one',
          fields: { n: 1, s: 'x', b: true, z: null },
          shortened: false,
          attempt: 1,
          no: 1,
        },
        { ...common, level: 'info', text: 'two', fields: null, shortened: false, attempt: 1, no: 2 },
        { ...common, level: 'error', text: 'three', fields: null, shortened: true, attempt: 2, no: 7 },
      ],
      ...{ cursor: expect.any(String), caughtUp: true, unreadable: 0 },
    })
  })

  it('are looked for from the start of the run to a minute after its end; then the cursor is null', async () => {
    await using set = started()
    const finished = { ...finishedRun(1), attempts: 1, startedAt: nowMs + 3_000, finishedAt: nowMs + 9_000 }
    set.system.add('a', { lastRun: finished })
    set.system.owner.finished.set('a', [finished])
    set.ranges.add('a', nowMs - runLogBeforeMs, log('a', [line('before')]))
    set.ranges.add('a', nowMs + 3_000, log('a', [line('in')]))
    set.ranges.add('a', nowMs + 9_000 + runLogAfterMs, log('a', [line('after')]))
    expect((await set.get(lines)).json()).toMatchObject({ lines: [{ text: 'in' }], cursor: null, caughtUp: true })
    expect(set.ranges.asked).toEqual([{ fromMs: nowMs + 3_000 - runLogBeforeMs, toMs: nowMs + 9_000 + runLogAfterMs }])
    const retried = { ...finished, attempts: 3, scheduledFor: nowMs - 60_000 }
    set.system.owner.finished.set('a', [retried])
    await set.get(lines)
    expect(set.ranges.asked[1]?.fromMs).toBe(nowMs - 60_000 - runLogBeforeMs)
  })

  it('continue at the cursor, within a record too, without a repeated or a missing line, also while more arrive', async () => {
    await using set = started()
    set.system.add('a', { active: [activeRun(1)] })
    const expected: string[] = []
    for (let record = 0; record < 9; record++) {
      const texts = Array.from({ length: record % 4 }, (_, index) => `${record}.${index}`)
      expected.push(...texts)
      set.ranges.add(
        'a',
        nowMs,
        log(
          'a',
          texts.map((text) => line(text)),
          { firstNo: expected.length },
        ),
      )
    }
    for (const limit of [1, 2, 3, 100]) {
      const found: string[] = []
      let cursor: string | null = null
      for (let caughtUp = false; !caughtUp; ) {
        const page: Page = (await set.get(`${lines}?limit=${limit}${cursor === null ? '' : `&cursor=${cursor}`}`)).json()
        expect(page.lines.length).toBeLessThanOrEqual(limit)
        found.push(...page.lines.map(({ text }: RunLogLine) => text))
        cursor = page.cursor
        caughtUp = page.caughtUp
      }
      expect(found).toEqual(expected)
      set.ranges.add('a', nowMs, log('a', [line(`late ${limit}`)], { firstNo: 100 + limit }))
      expect((await set.get(`${lines}?cursor=${cursor}`)).json()).toMatchObject({ lines: [{ text: `late ${limit}` }] })
      set.ranges.records.pop()
    }
  })

  it('of an earlier life of the job with the same run number are not among them', async () => {
    await using set = started()
    set.system.add('a', { active: [activeRun(1)] })
    set.ranges.add('a', nowMs - 1_000, log('a', [line('of the deleted job')], { life: '3-abc' }))
    set.ranges.add('a', nowMs, log('a', [line('of this one')], { life: '9-abd' }))
    set.ranges.add('a', nowMs, log('a', [line('of a worker that says no life')]))
    set.system.owner.life = '9-abd'
    expect(await set.textsOf(lines)).toEqual(['of this one', 'of a worker that says no life'])
  })

  it('that were written twice are shown once', async () => {
    await using set = started()
    set.system.add('a', { active: [activeRun(1)] })
    for (let times = 0; times < 2; times++) set.ranges.add('a', nowMs, log('a', [line('once'), line('same')]))
    expect(await set.textsOf(lines)).toEqual(['once', 'same'])
    expect(await set.textsOf(`${lines}?limit=1`)).toEqual(['once'])
  })

  it('of a run that is no longer kept are found by the time at which it started', async () => {
    await using set = started()
    set.ranges.add('a', nowMs, log('a', [line('kept')]))
    const unknown = await set.get(lines)
    expect([unknown.statusCode, unknown.json().detail]).toEqual([404, expect.stringContaining('say by from')])
    const found = await set.get(`${lines}?from=${nowMs - 5}&to=2030-01-01T00:00:09Z`)
    expect(found.json()).toMatchObject({ lines: [{ text: 'kept' }], cursor: null })
    expect((await set.get(`${lines}?from=yesterday`)).statusCode).toBe(400)
    expect((await set.get(`${lines}?from=5&cursor=bm9uZQ`)).json()).toMatchObject({ code: 'bad-request' })
  })
})

describe('records that no worker of ours wrote', () => {
  it('are skipped, counted, and end nothing', async () => {
    await using set = started({
      runLogs: undefined,
    })
    expect((await set.get('/v1/jobs/a/runs/1/logs?from=1')).json().code).toBe('not-ready')
    await using real = started()
    const garbage = {
      ...codec,
      decode: (bytes: Buffer) => {
        if (bytes[0] !== 123) throw new DuelogError('undecodable', 'garbage')
        return codec.decode(bytes)
      },
    }
    await using system = createSystem({ runLogs: { ranges: real.ranges, codec: garbage } })
    system.add('a', { active: [activeRun(1)] })
    real.ranges.add('a', nowMs, Buffer.from([0, 1, 2]))
    real.ranges.add('a', nowMs, null)
    real.ranges.add('a', nowMs, log('a', [line('after it')]))
    const answer = (await system.api.instance.inject({ url: lines })).json()
    expect(answer).toMatchObject({ lines: [{ text: 'after it' }], unreadable: 1, caughtUp: true })
  })

  it('are bounded again: levels, texts, fields and workers', async () => {
    await using set = started()
    set.system.add('a', { active: [activeRun(1)] })
    const odd = [
      line('x'.repeat(100_000), { level: '<b>', fields: '{"deep":{"a":1}}' }),
      line('y', { fields: 'no json', at: -1e18 }),
      line('z', { fields: `{"f":"${'f'.repeat(5_000)}"}` }),
    ]
    set.ranges.add('a', nowMs, log('a', odd, { worker: 'w'.repeat(9_000) }))
    const { lines: shown } = (await set.get(lines)).json()
    expect(shown.map(({ text, level, fields, shortened }: RunLogLine) => [text.length, level, fields, shortened])).toEqual([
      [4_096, 'info', null, true],
      [1, 'info', null, true],
      [1, 'info', null, true],
    ])
    expect(shown[0].worker).toHaveLength(512)
  })

  it('in any number and size end an answer, which goes on at its cursor', async () => {
    await using set = started()
    set.system.add('a', { active: [activeRun(1)] })
    for (let record = 0; record < 40; record++)
      set.ranges.add(
        'a',
        nowMs,
        log(
          'a',
          Array.from({ length: 250 }, () => line('t'.repeat(4_000))),
          { firstNo: 1 + record * 250 },
        ),
      )
    let count = 0
    let cursor = ''
    let answers = 0
    for (let caughtUp = false; !caughtUp; answers++) {
      const answer = await set.get(`${lines}?limit=1000${cursor}`)
      expect(answer.body.length).toBeLessThan(3_000_000)
      count += answer.json().lines.length
      caughtUp = answer.json().caughtUp
      cursor = `&cursor=${answer.json().cursor}`
    }
    expect(count).toBe(10_000)
    expect(answers).toBeGreaterThan(10)
    // Records of other jobs fill an answer too: it has no lines, and a cursor.
    set.ranges.records.length = 0
    for (let record = 0; record < 40; record++) set.ranges.add('a', nowMs, Buffer.alloc(1_000_000), 'b')
    set.ranges.add('a', nowMs, log('a', [line('last')]))
    set.ranges.reads = 0
    const first = (await set.get(lines)).json()
    expect(first).toMatchObject({ lines: [], caughtUp: false, cursor: expect.any(String) })
    expect(set.ranges.reads).toBeLessThan(8)
  })
})

it('without their topic are answered with what is missing and what to do', async () => {
  await using set = started()
  set.system.add('a', { active: [activeRun(1)] })
  set.ranges.range = async () => {
    throw new DuelogError('unsafe-topic', 'Looking up times failed.')
  }
  const answer = await set.get(lines)
  expect([answer.statusCode, answer.json()]).toMatchObject([
    503,
    { code: 'unsafe-topic', detail: expect.stringMatching(/topic \S+run-logs does not exist.*duelog topics apply/) },
  ])
})

it('at most four requests read at once, and one that nobody waits for does not begin', async () => {
  await using set = started()
  set.system.add('a', { active: [activeRun(1)] })
  for (let record = 0; record < 5; record++) set.ranges.add('a', nowMs, log('a', [line('x')], { firstNo: record + 1 }))
  const { promise, resolve } = Promise.withResolvers<void>()
  set.ranges.gate = promise
  const answers = Array.from({ length: 12 }, () => set.get(lines))
  await expect.poll(() => set.ranges.atOnce).toBe(4)
  resolve()
  for (const answer of await Promise.all(answers)) expect(answer.json().lines).toHaveLength(5)
  expect(set.ranges.mostAtOnce).toBe(4)
})

describe('a viewer', () => {
  const job = {
    schedule: { at: '2031-01-01T12:00:00Z' },
    target: { handler: 'noop' },
    headers: { 'x-key': 'hidden-key-0123456789' },
  }
  const put = (set: ReturnType<typeof started>, payload: object) =>
    set.system.api.instance.inject({ method: 'PUT', url: '/v1/jobs/a', headers: operator, payload })
  const said = [
    line('with hidden-key-0123456789 in it', { fields: '{"key":"hidden-key-0123456789","hidden-key-0123456789":1,"n":2}' }),
    // Cut within the value.
    line(`${'x'.repeat(20)}hidden-key-01…`, { shortened: true }),
  ]

  it('sees lines without the values that the job sends to others, whole or cut; an operator sees them', async () => {
    await using set = started({ apiTokens })
    await put(set, job)
    const stored = set.system.owner.jobs.get('a')
    stored?.active.push({ ...activeRun(1), specOffset: stored.offset })
    set.ranges.add('a', nowMs, log('a', said))
    const seen = await set.get(lines, viewer)
    expect(seen.body).not.toContain('hidden')
    expect(seen.json().lines).toMatchObject([
      { text: 'with *** in it', fields: { key: '***', '***': 1, n: 2 } },
      { text: `${'x'.repeat(20)}***` },
    ])
    expect((await set.get(lines, operator)).json().lines[0].text).toBe('with hidden-key-0123456789 in it')
  })

  it('sees no text of runs made with other headers, of unreadable definitions, and of runs that are no longer kept', async () => {
    await using set = started({ apiTokens })
    await put(set, job)
    const madeWith = hiddenHash(set.system.owner.jobs.get('a')?.definition ?? expect.fail())
    set.system.owner.finished.set('a', [{ ...finishedRun(1), hiddenHash: madeWith }])
    set.ranges.add('a', nowMs, log('a', said))
    expect((await set.get(lines, viewer)).json().lines[0].text).toBe('with *** in it')
    await put(set, { ...job, headers: { 'x-key': 'rotated' } })
    const unread = async (query = '') => {
      const seen = await set.get(`${lines}${query}`, viewer)
      expect(seen.statusCode).toBe(200)
      expect(seen.body).not.toContain('hidden')
      expect(seen.json().lines[0]).toMatchObject({ text: '***', level: 'info', no: 1 })
    }
    await unread()
    set.system.owner.finished.clear()
    await unread('?from=1')
    Object.assign(set.system.owner.jobs.get('a') ?? {}, { definition: undefined, active: [activeRun(1)] })
    await unread()
  })
})
