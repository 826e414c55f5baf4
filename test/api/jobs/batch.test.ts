import { once } from 'node:events'
import { request } from 'node:http'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pino } from 'pino'
import { describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../../src/ground/clock/clock.ts'
import { DuelogError } from '../../../src/ground/errors/errors.ts'
import { jsonReader, ReadingTurns } from '../../../src/server/api/http/request-values.ts'
import { batchAnswer } from '../../../src/server/api/jobs/batch.ts'
import { JobWrites } from '../../../src/server/api/jobs/job-writes.ts'
import { batchGroupsMax, bodyBytesMax } from '../../../src/server/api/schemas/limits.ts'
import { atNoon, codecs, createSystem, MemoryLog, names } from '../system-in-memory.ts'

const ndjson = { 'content-type': 'application/x-ndjson' }
const line = (id: string): string => JSON.stringify({ id, ...atNoon })
const send = async (payload: string | Buffer, system = createSystem()) => {
  await using used = system
  const answer = await used.api.instance.inject({ method: 'POST', url: '/v1/jobs/batch', headers: ndjson, payload })
  const results = answer.body
    .split('\n')
    .filter((text) => text !== '')
    .map((text) => JSON.parse(text))
  return { answer, results, written: used.log.written }
}

const turns = { reading: new ReadingTurns(systemClock), caller: 'one' }

describe('POST /v1/jobs/batch', () => {
  it('answers 10,000 lines in order, and a bad line does not stop the others', async () => {
    const bad = [
      '{"id":"x"',
      '{"id":"","a":1}',
      '{"id":"b","schedule":{}}',
      '[]',
      'null',
      '{"id":"p","__proto__":{}}',
      JSON.stringify(atNoon),
    ]
    const lines = Array.from({ length: 10_000 }, (_, index) =>
      index % 100 === 99 ? (bad[((index / 100) % bad.length) | 0] ?? '') : line(`j${index}`),
    )
    const { answer, results, written } = await send(`${lines.join('\n')}\n`)
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['content-type']).toBe('application/x-ndjson')
    expect(results.map((result) => result.line)).toEqual(Array.from({ length: 10_000 }, (_, index) => index + 1))
    expect(results.filter((result) => !result.ok)).toHaveLength(100)
    for (const result of results) {
      expect(result.ok).toBe(result.line % 100 !== 0)
      if (!result.ok) expect(['bad-request', 'bad-definition', 'bad-job-id']).toContain(result.code)
    }
    expect(written.map((record) => record.key)).toEqual(results.filter((result) => result.ok).map((result) => result.id))
  })

  it('tells each line its own offset', async () => {
    const { results, written } = await send(Array.from({ length: 50 }, (_, index) => line(`j${index % 7}`)).join('\n'))
    const next = new Map<number, number>()
    for (const [index, { id, partition, offset, etag }] of results.entries()) {
      expect(written[index]?.key).toBe(id)
      expect(offset).toBe(next.get(partition) ?? 0)
      expect(etag).toBe(`"${partition}.${offset}"`)
      next.set(partition, offset + 1)
    }
  })

  it('ends with whether the owners have applied all of it, if the caller waits for that', async () => {
    await using system = createSystem()
    const payload = `${line('a')}\nnot json\n${line('b')}\n`
    const { body } = await system.api.instance.inject({
      method: 'POST',
      url: '/v1/jobs/batch?wait=applied',
      headers: ndjson,
      payload,
    })
    expect(
      body
        .trimEnd()
        .split('\n')
        .map((text) => JSON.parse(text)),
    ).toEqual([
      expect.objectContaining({ line: 1, ok: true }),
      expect.objectContaining({ line: 2, ok: false }),
      expect.objectContaining({ line: 3, ok: true }),
      { applied: true },
    ])
    expect((await system.api.instance.inject({ method: 'GET', url: '/v1/jobs/b' })).statusCode).toBe(200)
  })
  it('reports the error of a line and the job it names', async () => {
    const { results } = await send(`{"id":"a","schedule":{"cron":"x"},"target":{"handler":"h"}}\n{"id":"a\\u0000"}\n{bad\n`)
    expect(results[0]).toMatchObject({
      line: 1,
      ok: false,
      id: 'a',
      code: 'bad-definition',
      problems: [{ field: 'schedule.cron' }],
    })
    expect(results[1]).toMatchObject({ line: 2, ok: false, code: 'bad-job-id' })
    expect(results[2]).toMatchObject({ line: 3, ok: false, code: 'bad-request', retriable: false })
  })

  it('accepts lines that end with CR LF, blank lines, a last line without an end, and no lines at all', async () => {
    const { results } = await send(`${line('a')}\r\n\r\n  \n${line('b')}\n\n${line('é')}`)
    expect(results.map((result) => [result.line, result.id])).toEqual([
      [1, 'a'],
      [4, 'b'],
      [6, 'é'],
    ])
    expect((await send('')).results).toEqual([])
    expect((await send('\n\n')).results).toEqual([])
  })

  it('refuses a line that is over the limit or not in UTF-8, and reads the next', async () => {
    const long = Buffer.from(`{"id":"${'x'.repeat(bodyBytesMax)}"}\n`)
    const broken = Buffer.concat([Buffer.from('{"id":"'), Buffer.from([0xff]), Buffer.from('"}\n')])
    const { results, written } = await send(Buffer.concat([long, broken, Buffer.from(line('a'))]))
    expect(results.map((result) => result.code ?? result.id)).toEqual(['payload-too-large', 'bad-request', 'a'])
    expect(written).toHaveLength(1)
  })

  it('reports a failed write for each of its lines, and continues', async () => {
    const system = createSystem()
    let call = 0
    system.log.hold = () => {
      if (call++ === 0) throw new DuelogError('broker-unavailable', 'No broker.')
    }
    const lines = Array.from({ length: 5_000 }, (_, index) => line(`j${index}`))
    const { results } = await send(lines.join('\n'), system)
    const failed = results.filter((result) => !result.ok)
    expect(failed.length).toBeGreaterThan(0)
    expect(failed.length).toBeLessThan(5_000)
    expect(failed.every((result) => result.code === 'broker-unavailable' && result.retriable && result.id)).toBe(true)
    expect(results).toHaveLength(5_000)
  })

  it('fails only the line whose content the brokers refuse, and so does a parallel PUT', async () => {
    await using system = createSystem()
    const { write } = system.log
    system.log.write = async (records) => {
      if (records.some(({ key }) => key === 'bad')) throw new DuelogError('payload-too-large', 'Too large for its topic.')
      return write.call(system.log, records)
    }
    const put = (id: string) => system.api.instance.inject({ method: 'PUT', url: `/v1/jobs/${id}`, payload: atNoon })
    const batch = (ids: string[]) =>
      system.api.instance.inject({ method: 'POST', url: '/v1/jobs/batch', headers: ndjson, payload: ids.map(line).join('\n') })
    const [lines, good, bad] = await Promise.all([batch(['a', 'bad', 'b']), put('c'), put('bad')])
    const results = lines.body.trim().split('\n')
    expect(results.map((text) => JSON.parse(text).code ?? JSON.parse(text).id)).toEqual(['a', 'payload-too-large', 'b'])
    expect([good.statusCode, bad.statusCode, bad.json().code]).toEqual([200, 413, 'payload-too-large'])
    expect(new Set(system.log.written.map(({ key }) => key))).toEqual(new Set(['a', 'b', 'c']))
  })

  it('takes 20,000 lines over a connection while it answers, and keeps few of them in memory', async () => {
    await using system = createSystem()
    const url = await system.api.listen('127.0.0.1', 0)
    const count = 20_000
    let sent = 0
    let answered = 0
    let mostUnanswered = 0
    function* lines(): Generator<string> {
      while (sent < count) {
        mostUnanswered = Math.max(mostUnanswered, sent - answered)
        yield `${Array.from({ length: 100 }, () => line(`${String(sent++)}-${'x'.repeat(200)}`)).join('\n')}\n`
      }
    }
    const call = request(`${url}/v1/jobs/batch`, { method: 'POST', headers: ndjson })
    Readable.from(lines()).pipe(call)
    const [answer] = await once(call, 'response')
    for await (const result of createInterface({ input: answer })) {
      const { ok, line: at, id } = JSON.parse(result)
      expect([ok, at, id.split('-')[0]]).toEqual([true, answered + 1, String(answered)])
      answered++
    }
    expect([answered, system.log.written.length]).toEqual([count, count])
    expect(mostUnanswered).toBeLessThan(count)
    expect(Math.max(...system.log.calls)).toBeLessThanOrEqual(4_000)
    const { records } = (await system.api.instance.inject('/v1/audit')).json()
    expect(records).toMatchObject([{ action: 'BATCH', outcome: 'DONE', done: count, refused: 0, jobId: null }])
  })

  it('answers a line before the next is sent', async () => {
    await using system = createSystem()
    const url = await system.api.listen('127.0.0.1', 0)
    const call = request(`${url}/v1/jobs/batch`, { method: 'POST', headers: ndjson })
    call.write(`${line('a')}\n`)
    const [answer] = await once(call, 'response')
    const [first] = await once(answer, 'data')
    expect(JSON.parse(String(first))).toMatchObject({ line: 1, ok: true, id: 'a' })
    call.end(line('b'))
    expect(await text(answer)).toContain('"id":"b"')
  })

  it('writes the complete lines of a request that is cut off, never a part of one', async () => {
    await using system = createSystem()
    const url = await system.api.listen('127.0.0.1', 0)
    const call = request(`${url}/v1/jobs/batch`, { method: 'POST', headers: ndjson })
    call.on('error', () => {})
    call.write(`${line('a')}\n${line('b')}`)
    const [answer] = await once(call, 'response')
    answer.on('error', () => {})
    await once(answer, 'data')
    const closed = new Promise((resolve) => answer.once('close', resolve))
    call.destroy()
    await closed
    expect((await fetch(`${url}/livez`)).status).toBe(200)
    expect(system.log.written.map((record) => record.key)).toEqual(['a'])
  })

  it('is no fault of the server if the caller is gone before the first line of the answer', async () => {
    const lines: string[] = []
    const logger = pino({ level: 'error' }, { write: (line: string) => void lines.push(line) })
    await using system = createSystem({ logger })
    const url = await system.api.listen('127.0.0.1', 0)
    const answered = new Promise<number>((resolve) =>
      system.api.instance.server.once('request', (_request, reply) => reply.once('close', () => resolve(reply.statusCode))),
    )
    const [asked, durable] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    system.log.hold = () => {
      asked.resolve()
      return durable.promise
    }
    const call = request(`${url}/v1/jobs/batch`, { method: 'POST', headers: ndjson })
    call.on('error', () => {})
    call.end(`${line('a')}\n`)
    await asked.promise
    call.destroy()
    await answered
    durable.resolve()
    // The stream of the answer ends before a later request is answered.
    expect((await fetch(`${url}/livez`)).status).toBe(200)
    expect(lines).toEqual([])
    expect(system.log.written.map(({ key }) => key)).toEqual(['a'])
  })

  it('survives a cut-off request while the maximum number of groups is being written', async () => {
    const log = new MemoryLog()
    const durable = Promise.withResolvers<void>()
    log.hold = () => durable.promise
    const writes = new JobWrites({
      ...({} as ConstructorParameters<typeof JobWrites>[0]),
      ...{ writer: log, codecs, names, partitions: 4 },
    })
    const cut = Promise.withResolvers<void>()
    async function* body(): AsyncGenerator<Buffer> {
      for (let group = 0; group < batchGroupsMax; group++) yield Buffer.from(`${line(`j${group}`)}\n`)
      cut.resolve()
      throw new Error('aborted')
    }
    const unheard: unknown[] = []
    const note = (error: unknown): void => void unheard.push(error)
    process.on('unhandledRejection', note)
    onTestFinished(() => void process.off('unhandledRejection', note))
    const read = jsonReader((json, done) => done(null, JSON.parse(json)))
    const answer = text(batchAnswer(body(), { writes, read, ...turns, onFault: () => {}, onEnd: async () => {} }))
    await cut.promise
    // Node reports unhandled rejections at the end of a turn of the event loop.
    for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate)
    durable.resolve()
    await expect(answer).rejects.toThrow('aborted')
    expect(unheard).toEqual([])
    expect(log.written).toHaveLength(batchGroupsMax)
  })

  it('reads no further while the caller does not read the answers', async () => {
    const log = new MemoryLog()
    const writes = new JobWrites({
      ...({} as ConstructorParameters<typeof JobWrites>[0]),
      writer: log,
      codecs,
      names,
      partitions: 4,
    })
    const groupLines = 200
    let given = 0
    async function* body(): AsyncGenerator<Buffer> {
      for (; given < 2_000; given++)
        yield Buffer.from(`${Array.from({ length: groupLines }, (_, index) => line(`j${given}-${index}`)).join('\n')}\n`)
    }
    const read = jsonReader((json, done) => done(null, JSON.parse(json)))
    const answer = batchAnswer(Readable.from(body(), { objectMode: true, highWaterMark: 1 }), {
      writes,
      read,
      ...turns,
      onFault: () => {},
      onEnd: async () => {},
    })
    await once(answer, 'readable')
    // Everything that can continue without the reader continues within these turns.
    for (let turn = 0; turn < 200; turn++) await new Promise(setImmediate)
    expect(given).toBeLessThan(40)
    answer.destroy()
  })
})
