/** `duelog audit` on the log of a real system. */
import kafkajs from 'kafkajs'
import { expect, it, onTestFinished } from 'vitest'
import { copyFirst } from '../tools/copied-record.ts'
import { systemOfThisFile } from './built-program.ts'

const ran = new Map<string, number>()
const all = Promise.withResolvers<void>()
const runCount = 120
/** Handlers that run until they are released. */
const released = Promise.withResolvers<void>()
const holding = { size: 0, open: () => released.resolve() }
const bed = systemOfThisFile(
  'audit',
  {},
  {
    holding: () => {
      holding.size++
      return released.promise
    },
    counted: (run) => {
      ran.set(run.executionId, (ran.get(run.executionId) ?? 0) + 1)
      if (ran.size === runCount) all.resolve()
    },
  },
)

it('proves that each occurrence ran once, leaves nothing behind, and finds what was planted', async () => {
  const job = (index: number): object => ({
    ...{ id: `job-${index}`, target: { handler: index % 10 === 0 ? 'fail' : 'counted' }, payload: { times: 1 } },
    ...{
      schedule: { everyMs: 200 },
      maxRuns: 3,
      overlap: 'ALLOW',
      retry: { maxAttempts: 2, backoff: { fixed: { delayMs: 0 } } },
    },
  })
  // A tenth fails once and is retried.
  const jobs = Array.from({ length: runCount / 3 + 5 }, (_, index) => job(index)).filter(
    (_, index) => index % 10 !== 0 || index < 50,
  )
  const counted = jobs.filter((each) => (each as { target: { handler: string } }).target.handler === 'counted')
  expect(counted.length * 3).toBe(runCount)
  const input = jobs.map((each) => `${JSON.stringify(each)}\n`).join('')
  expect(await bed.feed(input, 'jobs', 'apply', '-')).toMatchObject({ code: 0 })
  await all.promise
  await expect
    .poll(async () => (await bed.run('jobs', 'list', '--status', 'COMPLETED', '--json')).json().length)
    .toBe(jobs.length)

  const clean = await bed.run('audit', '--json')
  expect(clean.json()).toEqual([
    expect.objectContaining({ clean: true, jobs: jobs.length, runs: jobs.length * 3, open: 0, findings: [] }),
  ])
  expect(clean).toMatchObject({ code: 0, err: '' })
  expect((await bed.run('audit')).out).toContain(
    "By the log each occurrence that was due ran once, or was skipped by its job's policy; none ran early.",
  )
  expect((await bed.run('audit', '--to', '2020-01-01T00:00:00Z', '--json')).json()).toEqual([
    expect.objectContaining({ clean: true, runs: 0 }),
  ])

  const kafka = new kafkajs.Kafka({ brokers: bed.env.KAFKA_BROKERS?.split(',') ?? [], logLevel: kafkajs.logLevel.NOTHING })
  const admin = kafka.admin()
  await admin.connect()
  onTestFinished(() => admin.disconnect())
  const groups = (await admin.listGroups()).groups.map(({ groupId }) => groupId)
  expect(groups.filter((group) => group.startsWith(`${bed.env.DUELOG_TOPIC_PREFIX}audit-`))).toEqual([])

  await copyFirst(`${bed.env.DUELOG_TOPIC_PREFIX}executions.default.normal`)
  const found = await bed.run('audit')
  expect(found.code).toBe(1)
  expect(found.out).toMatch(/NOT clean\.\nduplicate:\n {2}job-\d+\/1: attempt 1 was dispatched 2 times\n$/)

  const producer = kafka.producer()
  await producer.connect()
  onTestFinished(() => producer.disconnect())
  const bomb = { key: 'bomb', value: Buffer.alloc(17 * 1024 * 1024) }
  const topic = `${bed.env.DUELOG_TOPIC_PREFIX}execution-events`
  await producer.send({ topic, compression: kafkajs.CompressionTypes.GZIP, messages: [bomb] })
  const beside = (await bed.run('audit', '--json')).json()
  expect(beside).toEqual([expect.objectContaining({ runs: jobs.length * 3, unreadable: 1 })])
})

it('does not report runs that wait for a slot of their key', async () => {
  const job = { schedule: { everyMs: 200 }, target: { handler: 'holding' }, concurrencyKey: 'one', maxRuns: 4, overlap: 'ALLOW' }
  const input = ['w-1{w}', 'w-2{w}'].map((id) => `${JSON.stringify({ id, ...job })}\n`).join('')
  expect(await bed.feed(input, 'jobs', 'apply', '-')).toMatchObject({ code: 0 })
  const waiting = async () => {
    const verdict = (await bed.run('audit', '--json')).json()[0] as {
      waiting: number
      findings: { what: string }[]
    }
    expect(verdict.findings.filter(({ what }) => what.startsWith('w-'))).toEqual([])
    return verdict.waiting
  }
  await expect.poll(waiting).toBe(7)
  expect(holding.size).toBe(1)
  holding.open()
  await expect.poll(waiting).toBe(0)
})

it('says when there is nothing to audit, and refuses what is no time', async () => {
  expect(await bed.run('audit', '--topic-prefix', 'nobody.')).toMatchObject({
    code: 2,
    err: expect.stringContaining('nobody.jobs'),
  })
  expect(await bed.run('audit', '--from', 'noon')).toMatchObject({ code: 2, err: expect.stringContaining('--from') })
})

it('registers nothing: a subject that is gone stays gone', async () => {
  const subject = `${bed.env.SCHEMA_REGISTRY_URL}/subjects/${encodeURIComponent(`${bed.env.DUELOG_TOPIC_PREFIX}audit-value`)}`
  const status = async (path: string, method = 'GET'): Promise<number> => (await fetch(`${subject}${path}`, { method })).status
  expect(await status('/versions')).toBe(200)
  expect(await status('', 'DELETE')).toBe(200)
  expect(await status('/versions')).toBe(404)
  expect((await bed.run('audit')).err).toBe('')
  expect(await status('/versions')).toBe(404)
})
