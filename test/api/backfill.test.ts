/** Occurrences by command: a backfill with its range, count, progress and end, and the skip of the next one. */
import { describe, expect, it } from 'vitest'
import type { JobCommand, JobDefinition } from '../../schemas/generated.ts'
import { codecs, createSystem, type MemorySystem, names, nowMs } from './system-in-memory.ts'

const post = (system: MemorySystem, url: string, payload?: object) =>
  system.api.instance.inject({ method: 'POST', url, ...(payload !== undefined && { payload }) })
const sent = ({ log }: MemorySystem): JobCommand[] =>
  log.written.map(({ topic, value }) => {
    expect(topic).toBe(names.commands)
    return codecs.command.decode(value as Buffer) as JobCommand
  })

describe('a backfill', () => {
  it('takes its range in ISO 8601 or epoch ms', async () => {
    await using system = createSystem()
    system.add('a')
    const answer = await post(system, '/v1/jobs/a/backfill', { from: '2029-12-31T00:00:00+01:00', to: nowMs })
    expect(answer.statusCode).toBe(200)
    expect(sent(system)).toMatchObject([{ type: 'BACKFILL', from: Date.UTC(2029, 11, 30, 23), to: nowMs }])
  })
  it.each([
    ['no range', {}],
    ['no end', { from: 0 }],
    ['an end that is no time', { from: 0, to: 'tomorrow' }],
    ['a range that is empty', { from: 5, to: 5 }],
    ['a range the wrong way round', { from: 6, to: 5 }],
    ['a word it does not know', { from: 5, to: 6, until: 7 }],
    ['an end in the future', { from: 5, to: nowMs + 60_001 }],
  ])('with %s is refused', async (_, body) => {
    await using system = createSystem()
    system.add('a')
    expect((await post(system, '/v1/jobs/a/backfill', body)).json()).toMatchObject({ status: 400, code: 'bad-request' })
    expect(system.log.written).toEqual([])
  })
})

describe('the range of a backfill', () => {
  it('ends now for a client whose clock is a little ahead', async () => {
    await using system = createSystem()
    system.add('a')
    expect((await post(system, '/v1/jobs/a/backfill', { from: 0, to: nowMs + 60_000 })).statusCode).toBe(200)
    expect(sent(system)).toMatchObject([{ type: 'BACKFILL', from: 0, to: nowMs }])
  })
  it('is counted before, and nothing is written', async () => {
    await using system = createSystem()
    const given = system.add('b').definition as JobDefinition
    const definition = { ...given, schedule: { ...given.schedule, at: null, everyMs: 60_000 } }
    system.add('a', { definition, anchorAt: nowMs - 30_000 })
    const answer = await post(system, '/v1/jobs/a/backfill/count', { from: nowMs - 300_000, to: nowMs })
    const [first, last] = [nowMs - 270_000, nowMs - 30_000].map((at) => new Date(at).toISOString())
    expect(answer.json()).toEqual({ occurrences: 5, isMore: false, first, last })
    const many = await post(system, '/v1/jobs/a/backfill/count', { from: 0, to: nowMs })
    expect(many.json()).toMatchObject({ occurrences: 100_000, isMore: true })
    expect((await post(system, '/v1/jobs/a/backfill/count', { from: 0, to: nowMs + 60_001 })).statusCode).toBe(400)
    expect(system.log.written).toEqual([])
  })
  it('has progress in the job, and an end', async () => {
    await using system = createSystem()
    system.add('a', { backfill: { commandId: 'b', from: 0, to: 9_000, nextAt: 3_000, made: 3 } })
    const { backfill } = (await system.api.instance.inject('/v1/jobs/a')).json()
    const [from, to, nextAt] = [0, 9_000, 3_000].map((at) => new Date(at).toISOString())
    expect(backfill).toEqual({ id: 'b', from, to, nextAt, made: 3 })
    expect((await post(system, '/v1/jobs/a/backfill/cancel')).statusCode).toBe(200)
    expect(sent(system)).toMatchObject([{ type: 'BACKFILL', discard: true, from: null, to: null }])
  })
})

describe('the skip of the next occurrence', () => {
  it('names the time that the caller saw, or the next one', async () => {
    await using system = createSystem()
    system.add('a', { nextFireAt: nowMs + 5_000 })
    expect((await post(system, '/v1/jobs/a/skip')).json()).toMatchObject({ applied: true })
    expect((await post(system, '/v1/jobs/a/skip', { at: '2029-12-31T00:00:00+01:00' })).statusCode).toBe(200)
    expect(sent(system)).toMatchObject([
      { type: 'CANCEL_RUN', runNo: null, from: nowMs + 5_000, discard: false },
      { type: 'CANCEL_RUN', runNo: null, from: Date.UTC(2029, 11, 30, 23) },
    ])
  })
  it('is refused without one, and for a time that is none', async () => {
    await using system = createSystem()
    system.add('a', { nextFireAt: null, status: 'COMPLETED' })
    expect((await post(system, '/v1/jobs/a/skip')).json()).toMatchObject({ status: 409, code: 'command-refused' })
    expect((await post(system, '/v1/jobs/a/skip', { at: 'soon' })).statusCode).toBe(400)
    expect(system.log.written).toEqual([])
  })
})
