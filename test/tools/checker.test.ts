import { randomUUID } from 'node:crypto'
import { Kafka, logLevel } from 'kafkajs'
import { expect, test } from 'vitest'
import type { ExecutionInput } from '../../schemas/generated.ts'
import type { RecordOut } from '../../src/ground/ports/log.ts'
import { createCodecs } from '../../src/log/kafka/avro/codecs.ts'
import { connectLog } from '../../src/log/kafka/log.ts'
import { noTarget } from '../../streams/runs/dispatch.ts'
import { topicNames, topicPlans } from '../../streams/topics/topics.ts'
import { Checker } from './checker.ts'
import { audit, clean, type Occurrence, type SeenEvent, type SeenExecution } from './checker-audit.ts'

const at = 1_000_000

function seen(jobId: string, runNo: number, more: Partial<SeenExecution> = {}): SeenExecution {
  const scheduledFor = more.scheduledFor ?? at
  return {
    jobId,
    runNo,
    attempt: 1,
    life: '',
    specOffset: 0,
    handler: 'noop',
    scheduledFor,
    dueAt: scheduledFor,
    dispatchedAt: scheduledFor - 50,
    appendedAt: scheduledFor - 50,
    trigger: 'SCHEDULE',
    payload: null,
    contentType: null,
    headers: {},
    pool: 'default',
    priority: 'NORMAL',
    priorityLevel: null,
    attemptTimeoutMs: 1,
    leaseMs: 1,
    startDeadlineAt: 1,
    pinTo: null,
    ...noTarget,
    cause: null,
    topic: 't',
    partition: 0,
    offset: 0,
    ahead: false,
    ...more,
  }
}

const started = (jobId: string, runNo: number, startedAt: number): SeenEvent => ({
  type: 'SUCCEEDED',
  jobId,
  runNo,
  attempt: 1,
  specOffset: 0,
  at: startedAt,
  worker: '',
  startedAt,
  result: null,
  error: null,
  progress: null,
  message: null,
  partition: 0,
  offset: 0,
})

const expected: Occurrence[] = [
  { jobId: 'a', scheduledFor: at },
  { jobId: 'b', scheduledFor: at },
  { jobId: 'b', scheduledFor: at + 10 },
]
const right = [seen('a', 1), seen('b', 1), seen('b', 2, { scheduledFor: at + 10 })]

test('finds nothing where each occurrence was dispatched once and started when it was due', () => {
  expect(audit(expected, right, [started('a', 1, at), started('b', 2, at + 10)])).toEqual(clean)
})

test.for([
  ['an occurrence without an execution', 'lost', right.slice(1), []],
  ['one attempt dispatched twice', 'duplicate', [...right, seen('a', 1, { offset: 9 })], []],
  ['two runs for one nominal time', 'duplicate', [...right, seen('a', 2, { offset: 9 })], []],
  ['a second attempt dispatched twice', 'duplicate', [...right, seen('a', 1, { attempt: 2 }), seen('a', 1, { attempt: 2 })], []],
  ['a dispatch before the lead', 'early', [seen('a', 1, { dispatchedAt: at - 101 }), ...right.slice(1)], []],
  ['a record that was written before the lead', 'early', [seen('a', 1, { appendedAt: at - 101 }), ...right.slice(1)], []],
  [
    'a dispatch ahead of the greatest lead',
    'early',
    [seen('a', 1, { ahead: true, dispatchedAt: at - 120_001 }), ...right.slice(1)],
    [],
  ],
  ['a due time before the nominal time', 'early', [seen('a', 1, { dueAt: at - 1 }), ...right.slice(1)], []],
  ['a start before the due time', 'early', right, [started('a', 1, at - 1)]],
  ['a missing run number', 'gaps', [right[0], right[1], seen('b', 3, { scheduledFor: at + 10 })], []],
  ['a run for a time that nobody asked for', 'unexpected', [...right, seen('c', 1)], []],
] as [string, keyof typeof clean, SeenExecution[], SeenEvent[]][])('tells %s', ([, kind, executions, events]) => {
  const found = audit(expected, executions, events)
  expect(found[kind]).toHaveLength(1)
  const others = Object.entries(found).filter(([name]) => name !== kind && !(kind === 'duplicate' && name === 'gaps'))
  expect(others.flatMap(([, lines]) => lines)).toEqual([])
})

test('sees on the real log what was planted there, and not what was aborted', async ({ onTestFinished }) => {
  const brokers = (process.env.DUELOG_TEST_BROKERS ?? '').split(',')
  const prefix = `c-${randomUUID().slice(0, 8)}.`
  const names = topicNames(prefix)
  const plans = topicPlans(names, ['default'])
  const log = connectLog({ brokers, clientId: 'planter' })
  await log.ensureTopics({ plans, partitions: 2, replication: 1 })
  const codecs = await createCodecs({ registryUrl: process.env.DUELOG_TEST_REGISTRY ?? '', plans })
  const checker = await Checker.open({ brokers, prefix, partitions: 2 })
  onTestFinished(() => checker.close())
  const now = Date.now()
  const record = (jobId: string, more: Partial<ExecutionInput> = {}, ahead = false) => {
    const {
      topic: _,
      partition: __,
      offset: ___,
      appendedAt: ____,
      ahead: _____,
      ...execution
    } = seen(jobId, 1, { scheduledFor: now })
    return {
      topic: names.executions('default', 'NORMAL', ahead),
      partition: jobId.length % 2,
      key: jobId,
      value: codecs.execution.encode({ ...execution, ...more }),
    }
  }
  const writer = await log.transactionalWriter(`${prefix}planter`)
  onTestFinished(() => writer.close())
  await writer.commit([record('fine'), record('twice'), record('ahead', { dueAt: now + 5_000 }, true)])
  await writer.commit([record('twice'), record('early', { dueAt: now + 5_000 })])
  await abort(brokers, `${prefix}aborter`, record('aborted'))

  const wanted = ['fine', 'twice', 'ahead', 'early', 'never'].map((jobId) => ({ jobId, scheduledFor: now }))
  const found = await checker.audit(wanted)
  expect(found.lost).toEqual([`never@${now}`])
  expect(found.duplicate).toEqual([expect.stringContaining('twice/1#1')])
  expect(found.early).toEqual([expect.stringContaining('early/1')])
  expect(found.unexpected).toEqual([])
  expect(await checker.writtenAtAll()).toBe(checker.executions.length + 1)
})

/** Writes a record in a transaction and aborts it. The record stays in the log. */
async function abort(brokers: string[], transactionalId: string, { topic, ...message }: RecordOut): Promise<void> {
  const producer = new Kafka({ brokers, logLevel: logLevel.NOTHING }).producer({
    transactionalId,
    maxInFlightRequests: 1,
    idempotent: true,
  })
  await producer.connect()
  const transaction = await producer.transaction()
  await transaction.send({ topic, messages: [message] })
  await transaction.abort()
  await producer.disconnect()
}
