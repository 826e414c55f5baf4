/** The audit trail: what it says about changes, and a topic that also has invalid records. */
import { expect, it, onTestFinished, vi } from 'vitest'
import { systemClock } from '../../src/ground/clock/clock.ts'
import { DuelogError } from '../../src/ground/errors/errors.ts'
import type { Batch } from '../../src/ground/ports/log.ts'
import { definitionChanges } from '../../src/server/api/audit-trail/audit-hook.ts'
import { type AuditTrailOptions, createAuditTrail } from '../../src/server/api/audit-trail/audit-trail.ts'
import { auditChangesMax, auditKeptBytesMax } from '../../src/server/api/schemas/limits.ts'
import { completeDefinition } from '../../streams/definitions/definition-json.ts'
import { markOf } from '../../streams/state/refusals.ts'
import { topicNames } from '../../streams/topics/topics.ts'
import { apiTokens, operator, viewer } from './attackers.ts'
import { createSystem } from './system-in-memory.ts'

const names = topicNames('t.')
const text = (value: string): Buffer => Buffer.from(value)

/** A log that has these values on its topic. */
function trailOver(values: readonly (Buffer | null)[], decode: AuditTrailOptions['codec']['decode']) {
  const reader = (options: { onBatch(batch: Batch): Promise<void> }) => ({
    start: async () => {
      const records = values.map((value, offset) => ({
        ...{ topic: names.audit, partition: 0, offset, timestampMs: 1, byBroker: true, key: text('a'), value, headers: {} },
      }))
      await options.onBatch({ topic: names.audit, partition: 0, highWatermark: values.length, records } as unknown as Batch)
    },
    stop: async () => {},
  })
  return createAuditTrail({
    log: { reader } as unknown as AuditTrailOptions['log'],
    admin: { offsets: async () => [{ partition: 0, earliest: 0, next: values.length }] } as unknown as AuditTrailOptions['admin'],
    codec: { decode } as unknown as AuditTrailOptions['codec'],
    names,
    instance: 'test',
    clock: systemClock,
  })
}

const job = {
  schedule: { cron: '0 3 * * *' },
  target: { handler: 'send' },
  headers: { 'x-key': 'hidden-one' },
  payload: 'private',
}

interface Shown {
  action: string
  changes: object[]
}

it('what a definition changed is found without reading its payload, which may have half a megabyte', () => {
  const parsed = vi.spyOn(JSON, 'parse')
  onTestFinished(() => parsed.mockRestore())
  const job = { schedule: { at: 1 }, target: { handler: 'h' }, contentType: 'application/json' }
  const [before, after] = ['[1]', '[1,2]'].map((payload) => completeDefinition({ ...job, payload: text(payload) }))
  expect(definitionChanges(before, after)).toEqual([{ field: 'payload', before: '"3 bytes"', after: '"5 bytes"' }])
  expect(parsed.mock.calls.filter(([json]) => json.startsWith('[1'))).toEqual([])
})

it('operators see who changed which field of a job from what to what, without payloads and credentials', async () => {
  await using system = createSystem({ apiTokens })
  const { instance } = system.api
  const ask = (method: 'PUT' | 'DELETE', payload?: object, condition: object = {}) =>
    instance.inject({
      method,
      url: '/v1/jobs/a?wait=applied',
      headers: { ...operator, ...condition },
      ...(payload && { payload }),
    })
  await ask('PUT', job)
  const changed = { schedule: { cron: '0 4 * * *' }, headers: { 'x-key': 'hidden-two' }, payload: 'privately', tags: ['eu'] }
  await ask('PUT', { ...job, ...changed }, { 'if-match': '*' })
  await ask('DELETE')
  const answer = await instance.inject({ url: '/v1/audit?jobId=a', headers: operator })
  const [deleted, replaced, created] = answer.json().records as [Shown, Shown, Shown]
  expect(created.changes).toContainEqual({ field: 'schedule.cron', before: null, after: '"0 3 * * *"' })
  expect(replaced).toMatchObject({ actor: 'ci', action: 'PUT', filter: null, jobIds: [] })
  expect(replaced.changes).toEqual([
    { field: 'schedule.cron', before: '"0 3 * * *"', after: '"0 4 * * *"' },
    { field: 'headers.x-key', before: '"***"', after: '"***"' },
    { field: 'payload', before: '"9 bytes"', after: '"11 bytes"' },
    { field: 'tags', before: null, after: '["eu"]' },
  ])
  expect(deleted.changes).toContainEqual({ field: 'target.handler', before: '"send"', after: null })
  expect(answer.body).not.toMatch(/hidden|private/)
  expect((await instance.inject({ url: '/v1/audit', headers: viewer })).statusCode).toBe(403)
})

it('a PUT without a condition, for which no owner is asked, has in the trail what it wrote', async () => {
  await using system = createSystem()
  const { instance } = system.api
  for (const tags of [['eu'], ['us']]) await instance.inject({ method: 'PUT', url: '/v1/jobs/a', payload: { ...job, tags } })
  const { records } = (await instance.inject('/v1/audit?jobId=a')).json()
  for (const [index, tag] of ['us', 'eu'].entries()) {
    expect(records[index].changes).toContainEqual({ field: 'tags', before: null, after: `["${tag}"]` })
    expect(records[index].changes).toContainEqual({ field: 'schedule.cron', before: null, after: '"0 3 * * *"' })
  }
})

it('the fields of a change and their values are limited', () => {
  const large = completeDefinition({
    schedule: { at: 1 },
    target: { http: { url: `https://x.org/${'a'.repeat(900)}` } },
  } as never)
  const many = {
    ...large,
    headers: Object.fromEntries(Array.from({ length: 80 }, (_, index) => [`accept-${index}`, Buffer.from('x')])),
  }
  const changes = definitionChanges(undefined, { ...many, tags: Array.from({ length: 16 }, () => 'é'.repeat(64)) })
  expect(changes).toHaveLength(auditChangesMax)
  expect(
    definitionChanges(undefined, { ...large, tags: ['é'.repeat(64), 'u'.repeat(64), 'v'.repeat(64), 'w'.repeat(64)] }),
  ).toContainEqual(expect.objectContaining({ field: 'tags', after: expect.stringMatching(/^.{200}…$/) }))
  expect(definitionChanges(large, large)).toEqual([])
})

it('a batch names its first jobs, so that the trail of a job has it', async () => {
  await using system = createSystem()
  const { instance } = system.api
  const lines = ['a', 'b'].map((id) => JSON.stringify({ id, ...job })).join('\n')
  const headers = { 'content-type': 'application/x-ndjson' }
  await instance.inject({ method: 'POST', url: '/v1/jobs/batch', headers, payload: lines })
  const { records } = (await instance.inject('/v1/audit?jobId=b')).json()
  expect(records).toMatchObject([{ action: 'BATCH', done: 2, jobIds: ['a', 'b'] }])
  expect((await instance.inject('/v1/audit?jobId=c')).json().records).toEqual([])
})

it('a change of many is in the trail of each job that it reached', async () => {
  const many = { ...event, jobId: null, filter: '{"tag":"eu"}' }
  const events = [
    { ...many, action: 'PAUSE_MANY', target: 'one' },
    { ...many, action: 'PAUSE_MANY', target: 'other' },
    { ...many, action: 'RESUME_MANY', target: 'one' },
    { ...many, action: 'PAUSE_POOL', target: 'one', filter: null },
  ]
  const trail = trailOver(
    events.map((_, at) => Buffer.from([at])),
    (bytes) => ({ ...events[bytes[0] ?? 0], at: bytes[0] }) as never,
  )
  const recentCommands = [5, markOf('operation/one/pause')]
  const found = async (filter: object): Promise<number[]> => (await trail.page(filter, 20)).records.map(({ at }) => at)
  expect(await found({ jobId: 'a', recentCommands })).toEqual([0])
  expect(await found({ jobId: 'a', recentCommands: [] })).toEqual([])
  await trail.stop()
})

it('the trail of a job is there while no owner answers', async () => {
  await using system = createSystem()
  const { instance } = system.api
  await instance.inject({ method: 'PUT', url: '/v1/jobs/a', payload: job })
  for (let partition = 0; partition < 4; partition++) system.owner.notReady.add(partition)
  const { records } = (await instance.inject('/v1/audit?jobId=a')).json()
  expect(records).toMatchObject([{ action: 'PUT' }])
})

it('the trail is searched by time, and keeps the newest records that fit', async () => {
  const bytes = Math.ceil(auditKeptBytesMax / 3)
  const values = Array.from({ length: 9 }, () => Buffer.alloc(bytes))
  let at = 0
  const trail = trailOver(values, () => ({ ...event, at: ++at }) as never)
  const atOf = async (filter: object): Promise<number[]> => (await trail.page(filter, 20)).records.map((record) => record.at)
  expect(await atOf({ from: 8, to: 9 })).toEqual([8])
  // Six of these are too many, so that two were left, and three came after them.
  expect(await atOf({})).toEqual([9, 8, 7, 6, 5])
  await trail.stop()
})

const event = { at: 5, actor: 'anna', action: 'PUT', jobId: 'a', jobIds: [] }
const undecodable = new DuelogError('undecodable', 'Bytes are not an AuditEvent.')

it('the audit trail is served although foreign records are between its records', async () => {
  const trail = trailOver([text('good'), text('thrown'), text('rejected'), null, text('good')], (bytes) => {
    // Like codecs: at once if the schema is known, later if the registry must be asked.
    if (bytes.toString() === 'thrown') throw undecodable
    if (bytes.toString() === 'rejected') return Promise.reject(undecodable)
    return event as never
  })
  const { records } = await trail.page({}, 10)
  expect(records.map(({ offset }) => offset)).toEqual([4, 0])
  await trail.stop()
})
