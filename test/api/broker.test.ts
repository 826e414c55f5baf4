/** Writes through the API to the real broker, and owners found through a real consumer group. */
import { randomUUID } from 'node:crypto'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/ground/clock/clock.ts'
import { newMetrics } from '../../src/ground/metrics/metrics.ts'
import type { GroupReader, LogAdmin, LogWriter, RecordIn } from '../../src/ground/ports/log.ts'
import { type Codecs, createCodecs } from '../../src/log/kafka/avro/codecs.ts'
import { connectLog } from '../../src/log/kafka/log.ts'
import { type Api, createApi } from '../../src/server/api/api.ts'
import { type AuditTrail, createAuditTrail } from '../../src/server/api/audit-trail/audit-trail.ts'
import { createOwnerDirectory } from '../../src/server/peers/owner-directory.ts'
import { remoteQueries } from '../../src/server/peers/remote-queries.ts'
import { partitionOf, topicNames, topicPlans } from '../../streams/topics/topics.ts'
import { atNoon, MemoryOwner, view } from './system-in-memory.ts'

const partitions = 4
const prefix = `t-${randomUUID().slice(0, 8)}.`
const names = topicNames(prefix)
const log = connectLog({ brokers: (process.env.DUELOG_TEST_BROKERS ?? '').split(','), clientId: 'duelog-test-api' })
const owner = new MemoryOwner(partitions)
const records: RecordIn[] = []
const applied = new Map<string, number>()
let wakes: (() => void)[] = []

let codecs: Codecs
let writer: LogWriter
let admin: LogAdmin
let reader: GroupReader
let trail: AuditTrail
/** The process that owns all partitions, and one that owns none and finds it through the group. */
let owning: Api
let asking: Api

/** A minimal owner: it applies definitions as it reads them. */
async function apply(record: RecordIn): Promise<void> {
  const id = String(record.key)
  if (record.topic === names.jobs) {
    if (record.value === null) owner.jobs.delete(id)
    else owner.jobs.set(id, view(id, await codecs.definition.decode(record.value), record.partition, record.offset))
  } else if (record.value !== null) {
    const job = owner.jobs.get(id)
    const command = await codecs.command.decode(record.value)
    if (job !== undefined) owner.triggered(job, command)
  }
  records.push(record)
  applied.set(`${record.topic}/${record.partition}`, record.offset)
}

beforeAll(async () => {
  const plans = topicPlans(names, ['default'])
  await log.ensureTopics({ plans, partitions, replication: 1 })
  codecs = await createCodecs({ plans, registryUrl: process.env.DUELOG_TEST_REGISTRY ?? '' })
  writer = await log.writer()
  admin = await log.admin()
  owner.applied = async (partition, { jobs = -1, commands = -1 }) => {
    const reached = (topic: string, offset: number): boolean => (applied.get(`${topic}/${partition}`) ?? -1) >= offset
    while (!reached(names.jobs, jobs) || !reached(names.commands, commands)) await new Promise<void>((wake) => wakes.push(wake))
    return true
  }
  const directory = (local?: MemoryOwner) =>
    createOwnerDirectory({
      ...{ admin, groupId: `${prefix}scheduler`, topic: names.jobs, partitions, local, clock: systemClock },
      remote: (url) => remoteQueries(url),
    })
  trail = createAuditTrail({ log, admin, codec: codecs.audit, names, instance: 'asking@test:1:2', clock: systemClock })
  const shared = { writer, codecs, names, partitions, admin, trail, clock: systemClock, logger: pino({ level: 'silent' }) }
  const health = () => ({ live: true, ready: true, reasons: [] })
  owning = createApi({
    ...shared,
    instance: 'owner@test:1:1',
    owners: directory(owner),
    local: owner,
    metrics: newMetrics(),
    health,
  })
  asking = createApi({ ...shared, instance: 'asking@test:1:2', owners: directory(), metrics: newMetrics(), health })
  const url = await owning.listen('127.0.0.1', 0)
  const joined = Promise.withResolvers<void>()
  reader = log.reader({
    ...{ groupId: `${prefix}scheduler`, topics: [names.jobs, names.commands], instance: 'owner@test:1:1' },
    ...{ userData: () => ({ url }), assignment: 'co-partitioned' },
    onAssigned() {
      joined.resolve()
      return undefined
    },
    async onBatch(batch) {
      for (const record of batch.records) await apply(record)
      const waiting = wakes
      wakes = []
      for (const wake of waiting) wake()
    },
    onCrash: joined.reject,
  })
  await reader.start()
  await joined.promise
  await reader.nextHeartbeat()
})

afterAll(async () => {
  await asking?.stop()
  await owning?.stop()
  await trail?.stop()
  await reader?.stop()
  await writer?.close()
  await admin?.close()
})

describe('with a real broker', () => {
  it('writes the requested records, at the positions that the answers name', async () => {
    const ids = Array.from({ length: 100 }, (_, index) => `put/${index}${index % 2 ? '{tag}' : ''}`)
    const answers = await Promise.all(
      ids.map((id) =>
        asking.instance.inject({
          ...{ method: 'PUT', url: `/v1/jobs/${encodeURIComponent(id)}?wait=applied`, payload: { ...atNoon, payload: { id } } },
        }),
      ),
    )
    for (const [index, answer] of answers.entries()) {
      const id = ids[index] ?? ''
      expect(answer.statusCode, answer.body).toBe(200)
      const { partition, offset } = answer.json()
      expect(partition).toBe(partitionOf(id, partitions))
      const record = records.find(
        (found) => found.topic === names.jobs && found.partition === partition && found.offset === offset,
      )
      expect(String(record?.key)).toBe(id)
      const definition = await codecs.definition.decode(record?.value as Buffer)
      expect(JSON.parse(String(definition.payload))).toEqual({ id })
    }
    const read = await asking.instance.inject(`/v1/jobs/${encodeURIComponent('put/7{tag}')}`)
    expect(read.json()).toMatchObject({ id: ids[7], etag: answers[7]?.headers.etag, definition: { payload: { id: ids[7] } } })
  })

  it('writes a batch in order, and skips its bad lines', async () => {
    const lines = Array.from({ length: 3_000 }, (_, index) =>
      index % 50 === 0 ? '{' : JSON.stringify({ id: `batch-${index}`, ...atNoon }),
    )
    const headers = { 'content-type': 'application/x-ndjson' }
    const answer = await asking.instance.inject({ method: 'POST', url: '/v1/jobs/batch', headers, payload: lines.join('\n') })
    const results = answer.body
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(results).toHaveLength(3_000)
    expect(results.filter((result) => !result.ok)).toHaveLength(60)
    for (const partition of [0, 1, 2, 3]) {
      const offset = Math.max(...results.filter((result) => result.partition === partition).map((result) => result.offset))
      await owner.applied(partition, { jobs: offset })
    }
    const keys = new Map(
      records
        .filter(({ topic }) => topic === names.jobs)
        .map((found) => [`${found.partition}.${found.offset}`, String(found.key)]),
    )
    for (const result of results) if (result.ok) expect(keys.get(`${result.partition}.${result.offset}`)).toBe(result.id)
    const page = await asking.instance.inject('/v1/jobs?limit=1000')
    expect(page.json().jobs).toHaveLength(1_000)
  })

  it('triggers and deletes through another process', async () => {
    await asking.instance.inject({ method: 'PUT', url: '/v1/jobs/one?wait=applied', payload: atNoon })
    const triggered = await asking.instance.inject({ method: 'POST', url: '/v1/jobs/one/trigger' })
    expect(triggered.json()).toMatchObject({ runId: 'one/1', applied: true })
    const deleted = await asking.instance.inject({ method: 'DELETE', url: '/v1/jobs/one?wait=applied' })
    expect(deleted.statusCode).toBe(204)
    expect((await asking.instance.inject('/v1/jobs/one')).statusCode).toBe(404)
    const { partitions: shown } = (await asking.instance.inject('/v1/partitions')).json()
    expect(shown.map((partition: { phase: string; instance: string }) => [partition.phase, partition.instance])).toEqual(
      Array(partitions).fill(['active', 'owner@test:1:1']),
    )
  })

  it('keeps in the audit trail the caller of each change, newest first, and no payload', async () => {
    const url = '/v1/jobs/audited'
    await asking.instance.inject({ method: 'PUT', url, payload: { ...atNoon, payload: { secret: 'do not tell' } } })
    await asking.instance.inject({ method: 'PUT', url, payload: atNoon, headers: { 'if-match': '"0.99999"' } })
    await asking.instance.inject({ method: 'DELETE', url })
    const page = await asking.instance.inject('/v1/audit?jobId=audited')
    const { records } = page.json()
    expect(records.map(({ action, outcome }: { action: string; outcome: string }) => [action, outcome])).toEqual([
      ['DELETE', 'DONE'],
      ['PUT', 'version-conflict'],
      ['PUT', 'DONE'],
    ])
    expect(records[2]).toMatchObject({ actor: 'local', role: null, jobId: 'audited', status: 200, instance: 'asking@test:1:2' })
    expect(page.body).not.toContain('do not tell')
    await asking.instance.inject({ method: 'DELETE', url: '/v1/jobs/nowhere' })
    const newest = (await asking.instance.inject('/v1/audit?limit=1')).json()
    expect(newest.records[0]).toMatchObject({ action: 'DELETE', outcome: 'not-found', jobId: 'nowhere' })
    const second = (await asking.instance.inject(`/v1/audit?limit=1&cursor=${newest.cursor}`)).json()
    expect(second.records[0]).toMatchObject({ action: 'DELETE', outcome: 'DONE', jobId: 'audited' })
  })
})
