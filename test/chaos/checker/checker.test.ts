/**
 * A check that cannot fail is worthless. The checker reads logs with faults, in topics of the real broker, and must name each
 * fault.
 */
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { appendFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import avro from 'avsc'
import { Kafka, logLevel, type Message } from 'kafkajs'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { brokers, openLog, registryUrl } from '../../kafka/harness.ts'
import { Canary } from './canary.ts'
import { Checker, type CheckerVerdict, type FindingKind, findingKinds } from './checker.ts'
import { makeCheckerEnvironment } from './environment.ts'

const run = promisify(execFile)
const patience = { timeout: 60_000, interval: 100 }
let folder: string
let python: string
const kafka = new Kafka({ brokers, clientId: 'chaos-checker-test', logLevel: logLevel.NOTHING })

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'duelog-checker-'))
  python = await makeCheckerEnvironment(folder)
}, 300_000)
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Topics of one test, the log of definitions, and records as owners write them. */
async function openHistory(): Promise<History> {
  const prefix = `check-${randomUUID().slice(0, 8)}.`
  const [executions, target] = [`${prefix}executions.default.normal`, `${prefix}target`]
  const config = { 'message.timestamp.type': 'LogAppendTime' }
  const plans = [executions, target].map((topic) => ({ topic, schema: 'execution', config }) as const)
  await openLog().ensureTopics({ plans, partitions: 2, replication: 1 })
  const schema = await readFile(new URL('../../../schemas/execution.avsc', import.meta.url), 'utf8')
  const answer = await fetch(`${registryUrl}/subjects/${executions}-value/versions`, {
    method: 'POST',
    headers: { 'content-type': 'application/vnd.schemaregistry.v1+json' },
    body: JSON.stringify({ schema }),
  })
  const { id } = (await answer.json()) as { id: number }
  const head = Buffer.alloc(5)
  head.writeInt32BE(id, 1)
  const type = avro.Type.forSchema(JSON.parse(schema) as avro.Schema)
  const home = join(folder, prefix)
  await mkdir(join(home, 'starts'), { recursive: true })
  await writeFile(join(home, 'definitions.jsonl'), '')
  return { prefix, executions, target, home, encode: (value) => Buffer.concat([head, type.toBuffer(value)]) }
}

interface History {
  prefix: string
  executions: string
  target: string
  home: string
  encode(value: object): Buffer
}

const every = 1_000

/** Defines job `id`, due each second from `first` on. */
const define = (history: History, id: string, first: number, topic = false): Promise<void> =>
  appendFile(join(history.home, 'definitions.jsonl'), `${JSON.stringify({ op: 'define', id, first, every, topic })}\n`)

const execution = (history: History, jobId: string, first: number, number: number, attempt = 1): Message => {
  const nominal = first + number * every
  const value = history.encode({
    ...{ jobId, runNo: number + 1, attempt, life: '', specOffset: 0, handler: 'x', scheduledFor: nominal, dueAt: nominal },
    ...{ dispatchedAt: nominal, trigger: 'SCHEDULE', payload: null, contentType: null, headers: {}, pool: 'default' },
    ...{ priority: 'NORMAL', attemptTimeoutMs: 1, leaseMs: 1, startDeadlineAt: nominal, pinTo: null },
    ...{ httpTarget: null, topicTarget: null, cause: null },
  })
  return { key: jobId, value, partition: 0 }
}

const targetRecord = (jobId: string, first: number, number: number): Message => ({
  key: jobId,
  value: null,
  partition: 1,
  headers: {
    'duelog-job-id': jobId,
    'duelog-run-no': String(number + 1),
    'duelog-scheduled-for': String(first + number * every),
  },
})

async function write(topic: string, messages: Message[]): Promise<void> {
  const producer = kafka.producer()
  await producer.connect()
  await producer.send({ topic, messages })
  await producer.disconnect()
}

/** Writes in a transaction that is aborted. */
async function writeAborted(topic: string, messages: Message[]): Promise<void> {
  const producer = kafka.producer({ transactionalId: randomUUID(), maxInFlightRequests: 1, idempotent: true })
  await producer.connect()
  const transaction = await producer.transaction()
  await transaction.send({ topic, messages })
  await transaction.abort()
  await producer.disconnect()
}

/** Resolves with the verdict of the checker after it has read a last occurrence, which belongs to a job of its own. */
async function judge(history: History, until: number): Promise<CheckerVerdict> {
  const last = Date.now() - every
  await define(history, 'last', last)
  await define(history, 'last-target', last)
  const checker = await Checker.start(python, {
    ...{ brokers: brokers.join(','), registryUrl, prefix: history.prefix, targetTopics: [history.target] },
    definitions: join(history.home, 'definitions.jsonl'),
    starts: join(history.home, 'starts'),
  })
  try {
    await write(history.executions, [execution(history, 'last', last, 0)])
    await write(history.target, [targetRecord('last-target', last, 0)])
    await vi.waitFor(async () => {
      const { partitions } = await checker.status()
      const { fires } = await checker.status()
      expect(Object.keys(partitions)).toEqual(expect.arrayContaining(['0', '1']))
      expect(fires).toBeGreaterThanOrEqual(2)
    }, patience)
    return await checker.verdict(until)
  } finally {
    await checker.stop()
  }
}

const counts = (verdict: CheckerVerdict): Partial<Record<FindingKind, number>> =>
  Object.fromEntries(findingKinds.map((kind) => [kind, verdict.findings[kind].count] as const).filter(([, count]) => count > 0))

test('a correct log has no findings, and records of aborted transactions are not seen', async () => {
  const history = await openHistory()
  const first = Date.now() - 5_500
  await define(history, 'well', first)
  await define(history, 'mail', first)
  await write(history.executions, [execution(history, 'well', first, 0), execution(history, 'well', first, 1)])
  await writeAborted(history.executions, [execution(history, 'well', first, 1), execution(history, 'well', first, 2)])
  await write(history.executions, [execution(history, 'well', first, 2), execution(history, 'well', first, 2, 2)])
  await write(history.target, [targetRecord('mail', first, 0), targetRecord('mail', first, 1), targetRecord('mail', first, 2)])
  const verdict = await judge(history, first + 2 * every)
  expect(counts(verdict)).toEqual({})
  expect(verdict.expected).toBe(6)
  expect(verdict.longestMs).toBeGreaterThan(5_000)
})

test('the checker names each occurrence that is lost, doubled or early, in executions and in target topics', async () => {
  const history = await openHistory()
  const first = Date.now() - 5_500
  const later = Date.now() + 60_000
  for (const id of ['lost', 'doubled', 'retried-twice']) await define(history, id, first)
  for (const id of ['mail-lost', 'mail-doubled']) await define(history, id, first)
  for (const id of ['early', 'mail-early']) await define(history, id, later)
  const of = (id: string, ...numbers: number[]): Message[] => numbers.map((number) => execution(history, id, first, number))
  await write(history.executions, [
    ...of('lost', 0, 2),
    ...of('doubled', 0, 1, 1, 2),
    ...of('retried-twice', 0, 1, 2),
    execution(history, 'retried-twice', first, 1, 2),
    execution(history, 'retried-twice', first, 1, 2),
    execution(history, 'early', later, 0),
  ])
  const inputRecords = (id: string, ...numbers: number[]): Message[] => numbers.map((number) => targetRecord(id, first, number))
  await write(history.target, [
    ...inputRecords('mail-lost', 1, 2),
    ...inputRecords('mail-doubled', 0, 1, 2, 2),
    targetRecord('mail-early', later, 0),
  ])
  const verdict = await judge(history, first + 2 * every)
  expect(counts(verdict)).toEqual({ lost: 2, duplicate: 3, early: 2 })
  const named = (kind: FindingKind): string[] =>
    verdict.findings[kind].list.map((text) => /[\w-]+ of \d+|early/.exec(text)?.[0] ?? text)
  expect(named('lost').sort()).toEqual([`lost of ${first + every}`, `mail-lost of ${first}`])
  expect(named('duplicate').sort()).toEqual([
    `doubled of ${first + every}`,
    `mail-doubled of ${first + 2 * every}`,
    `retried-twice of ${first + every}`,
  ])
})

test('the checker names undefined jobs, wrong numbers, wrong partitions, and handlers that began early', async () => {
  const history = await openHistory()
  const first = Date.now() - 5_500
  for (const id of ['misnumbered', 'moved', 'hasty']) await define(history, id, first)
  const wrong = execution(history, 'misnumbered', first + every, 0)
  await write(history.executions, [
    ...[execution(history, 'misnumbered', first, 0), wrong, execution(history, 'hasty', first, 0)],
    ...[execution(history, 'moved', first, 0), { ...execution(history, 'moved', first, 1), partition: 1 }],
    ...[execution(history, 'nobody', first, 0), execution(history, 'hasty', first + 1, 0)],
  ])
  await writeFile(
    join(history.home, 'starts', '1.tsv'),
    `hasty\t1\t1\t${first}\t${first - 7}\t1\nhasty\t1\t1\t${first}\t${first + 9}\t1\n`,
  )
  const verdict = await judge(history, first)
  expect(counts(verdict)).toEqual({ unknown: 2, misnumbered: 1, misrouted: 1, 'early-start': 1 })
  expect(verdict).toMatchObject({ startedAgain: 1, startedAgainInProcess: 1 })
})

test('the canary measures a short write time while the broker is up', async () => {
  const topic = `check-${randomUUID().slice(0, 8)}`
  await openLog().ensureTopics({ plans: [{ topic, schema: 'execution', config: {} }], partitions: 2, replication: 1 })
  const canary = await Canary.start(python, { brokers: brokers.join(','), topic, partitions: 2 })
  try {
    await canary.window(Date.now())
    await vi.waitFor(async () => expect(await canary.gapMs()).toBeGreaterThan(0), patience)
    const admin = kafka.admin()
    await admin.connect()
    onTestFinished(() => admin.disconnect())
    // Writes to each partition again until the checker has read it.
    await vi.waitFor(async () => {
      for (const { high } of await admin.fetchTopicOffsets(topic)) expect(Number(high)).toBeGreaterThan(2)
    }, patience)
  } finally {
    await canary.stop()
  }
})

test('an overdue occurrence is a missing one, and each is checked once', async () => {
  const { stdout } = await run(python, ['-B', fileURLToPath(new URL('overdue-trial.py', import.meta.url))])
  expect(stdout.trim()).toBe('200 histories agree')
})
