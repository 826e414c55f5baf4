/** The outcomes of a run's attempts: they succeed, fail, are retried, hang, give up. */
import { hostname } from 'node:os'
import avro, { type Schema } from 'avsc'
import { expect, test } from 'vitest'
import { schemaTexts } from '../../schemas/texts.ts'
import { topicPlans } from '../../streams/topics/topics.ts'
import { openLog, Watcher } from '../kafka/harness.ts'
import { openDuelog } from './harness.ts'

const duelog = await openDuelog()
const now = { schedule: { delayMs: 0 } }
const failing = { ...now, target: { handler: 'fail-always' } }

/** The time between the attempts of a job, by its handler's clock. */
async function gaps(id: string, attempts: number): Promise<number[]> {
  const calls = await duelog.called(id, attempts)
  return calls.slice(1).map(({ at }, index) => at - (calls[index]?.at ?? 0))
}

test('the return value of a handler is kept as the result; payload, content type and headers are as defined', async () => {
  await duelog.put('result', {
    ...now,
    payload: '<a/>',
    contentType: 'application/xml',
    headers: { tenant: 'acme' },
    priority: 9,
  })
  const [call] = await duelog.called('result')
  expect(call?.run.contentType).toBe('application/xml')
  expect(call?.run.payloadBytes?.toString()).toBe('<a/>')
  expect(call?.run.headers.tenant?.toString()).toBe('acme')
  const [execution] = await duelog.executions('result', 1)
  expect(execution).toMatchObject({ priority: 'HIGH', priorityLevel: 9, topic: duelog.names.executions('default', 'HIGH') })
  const job = await duelog.jobThat('result', ({ succeeded }) => succeeded === 1)
  expect(job.lastRun).toMatchObject({ status: 'SUCCEEDED', result: { attempt: 1 }, errors: [] })
})

test('a run that has ended has one record on the topic runs, which a plain Avro client can read', async () => {
  const runs = new Watcher({ topics: [duelog.names.runs] })
  await runs.reader.start()
  await duelog.put('recorded', { ...now, tags: ['a', 'b'] })
  const type = avro.Type.forSchema(JSON.parse(schemaTexts['ended-run']) as Schema)
  const recordsOf = (id: string) =>
    runs.records
      .filter(({ key }) => key?.toString() === id)
      .map(({ value }) => type.fromBuffer((value ?? Buffer.alloc(0)).subarray(5)) as Record<string, unknown>)
  await runs.until(() => recordsOf('recorded').length > 0)
  // The second job comes later in the same order of commits: by then a second record of the first would be there.
  const again = '{recorded}again'
  await duelog.put(again, { ...failing, retry: { maxAttempts: 1 } })
  await runs.until(() => recordsOf(again).length === 1)
  const job = await duelog.jobThat('recorded', ({ succeeded }) => succeeded === 1)
  expect(recordsOf('recorded')).toMatchObject([
    {
      ...{ jobId: 'recorded', runNo: 1, outcome: 'SUCCEEDED', handler: 'echo', pool: 'default', tags: ['a', 'b'], attempts: 1 },
      ...{ scheduledFor: Date.parse(job.lastRun?.scheduledFor ?? ''), finishedAt: Date.parse(job.lastRun?.finishedAt ?? '') },
      ...{ reason: null, errorType: null },
    },
  ])
  const [{ result, resultBytes } = {}] = recordsOf('recorded')
  expect(JSON.parse(String(result))).toEqual(job.lastRun?.result)
  expect(String(result)).toHaveLength(Number(resultBytes))
  expect(recordsOf(again)).toMatchObject([{ outcome: 'DEAD', reason: 'attempts', errorType: 'Error' }])
})

test('pool: the run goes to the topic that the workers of this pool read', async () => {
  const lane = new Watcher({ topics: [duelog.names.executions('reports', 'NORMAL')] })
  await lane.reader.start()
  await duelog.put('pooled', { ...now, target: { handler: 'echo', pool: 'reports' } })
  await duelog.called('pooled')
  await lane.until(() => lane.records.length === 1)
  expect(lane.records[0]?.key?.toString()).toBe('pooled')
})

test('a pool without topics makes its job INVALID with the reason, and other jobs fire; with topics, it runs', async () => {
  const ids = ['lost-1', 'lost-2', 'lost-3', 'lost-4']
  for (const id of ids) await duelog.put(id, { ...now, target: { handler: 'echo', pool: 'gpu' } })
  for (const id of ids)
    expect(await duelog.job(id)).toMatchObject({ status: 'INVALID', reason: expect.stringContaining('Pool gpu') })
  for (const id of ['beside-1', 'beside-2', 'beside-3', 'beside-4']) {
    await duelog.put(id, now)
    await duelog.called(id)
  }
  const plans = topicPlans(duelog.names, ['gpu'])
  await openLog().ensureTopics({ plans, partitions: 2, replication: 1 })
  for (const id of ids) await duelog.jobThat(id, ({ active }) => active[0]?.status === 'DISPATCHED')
})

test('pinTo: the workers of that host run it', async () => {
  await duelog.put('pinned', { ...now, pinTo: hostname() })
  const [call] = await duelog.called('pinned')
  expect(call?.run.attempt).toBe(1)
})

test('retry with maxAttempts: each attempt waits for its backoff; the last failure is a dead letter that can be redriven', async () => {
  await duelog.put('dies', { ...failing, retry: { maxAttempts: 3, backoff: { fixed: { delayMs: 300 } } } })
  for (const gap of await gaps('dies', 3)) expect(gap).toBeGreaterThanOrEqual(300)
  const job = await duelog.jobThat('dies', ({ deadRuns }) => deadRuns.length === 1)
  expect(job).toMatchObject({ failed: 1, lastRun: { status: 'DEAD', attempts: 3 } })
  expect(job.lastRun?.errors.at(-1)).toMatchObject({ attempt: 3, message: 'attempt 3 of dies fails' })
  const letters = await duelog.ask('GET', '/v1/dead-letters')
  expect(JSON.stringify(letters.body)).toContain('"dies"')
  await duelog.onRun('dies', 1, 'redrive')
  await duelog.called('dies', 4)
})

test('backoff linear, exponential and list grow as defined', async () => {
  const cases = {
    linear: { backoff: { linear: { stepMs: 250 } }, least: [250, 500] },
    exponential: { backoff: { exponential: { baseMs: 200, factor: 3, maxMs: 500 } }, least: [200, 500] },
    list: { backoff: { list: [150, 600] }, least: [150, 600] },
  }
  for (const [id, { backoff }] of Object.entries(cases)) await duelog.put(id, { ...failing, retry: { maxAttempts: 3, backoff } })
  for (const [id, { least }] of Object.entries(cases)) {
    const waited = await gaps(id, 3)
    for (const [index, gap] of waited.entries()) expect(gap).toBeGreaterThanOrEqual(least[index] ?? 0)
  }
})

test('jitter of the backoff only shortens it, at most by its share', async () => {
  await duelog.put('jittered', { ...failing, retry: { maxAttempts: 2, backoff: { fixed: { delayMs: 400 } }, jitter: 0.5 } })
  const [gap] = await gaps('jittered', 2)
  expect(gap).toBeGreaterThanOrEqual(200)
})

test('a failure that is marked final, or is named in nonRetryable, is not retried', async () => {
  await duelog.put('final', { ...now, target: { handler: 'give-up' } })
  await duelog.put('declined', { ...now, target: { handler: 'named' }, retry: { nonRetryable: ['CardDeclined'] } })
  for (const id of ['final', 'declined']) {
    const job = await duelog.jobThat(id, ({ deadRuns }) => deadRuns.length === 1)
    expect(job.lastRun).toMatchObject({ status: 'DEAD', attempts: 1 })
  }
})

test('a handler may name its own delay', async () => {
  await duelog.put('later', { ...now, target: { handler: 'ask-later' } })
  const [gap] = await gaps('later', 2)
  expect(gap).toBeGreaterThanOrEqual(700)
})

test('maxAgeMs: no attempt begins after it, however many are left', async () => {
  const retry = { maxAttempts: 100, backoff: { fixed: { delayMs: 600 } }, maxAgeMs: 1_000 }
  await duelog.put('aged', { ...failing, retry })
  const job = await duelog.jobThat('aged', ({ deadRuns }) => deadRuns.length === 1)
  expect(job.lastRun?.attempts).toBeLessThanOrEqual(2)
})

test('attemptTimeoutMs: the signal of the handler is aborted, and the attempt fails', async () => {
  await duelog.put('slow', { ...now, target: { handler: 'hold' }, attemptTimeoutMs: 500, retry: { maxAttempts: 1 } })
  const job = await duelog.jobThat('slow', ({ deadRuns }) => deadRuns.length === 1)
  expect(duelog.callsOf('slow')[0]?.run.signal.reason).toMatchObject({ name: 'AttemptTimeout' })
  expect(job.lastRun?.errors[0]?.type).toBe('AttemptTimeout')
})

test('a long run keeps its lease, and shows progress and message meanwhile', async () => {
  await duelog.put('long', { ...now, target: { handler: 'hold' }, leaseMs: 1_000 })
  const [call] = await duelog.called('long')
  call?.run.heartbeat({ progress: 0.4, message: 'half way' })
  const job = await duelog.jobThat('long', ({ active }) => active[0]?.progress === 0.4)
  expect(job.active[0]).toMatchObject({ status: 'RUNNING', message: 'half way', attempts: 1 })
  call?.release()
  expect(await duelog.jobThat('long', ({ succeeded }) => succeeded === 1)).toMatchObject({ lastRun: { attempts: 1 } })
})

test('startDeadlineMs: a run that no worker takes in time expires with its reason', async () => {
  await duelog.put('untaken', {
    ...now,
    target: { handler: 'echo' },
    pinTo: 'a-worker-that-is-not-there',
    startDeadlineMs: 1_000,
  })
  const job = await duelog.jobThat('untaken', ({ active, lastRun }) => active.length === 0 && lastRun !== null)
  expect(job.lastRun).toMatchObject({ status: 'EXPIRED' })
  expect(await duelog.why('untaken')).toContainEqual(expect.objectContaining({ code: 'start-deadline' }))
})

test('onSuccess and onFailure: the named jobs run after it, each once', async () => {
  const never = { schedule: { at: Date.now() + 86_400_000 } }
  for (const id of ['then', 'then-also', 'otherwise']) await duelog.put(id, never)
  await duelog.put('good', { ...now, onSuccess: ['then', 'then-also'], onFailure: ['otherwise'] })
  await duelog.put('bad', { ...now, target: { handler: 'give-up' }, onSuccess: ['then'], onFailure: ['otherwise'] })
  for (const id of ['then', 'then-also', 'otherwise']) {
    const [call] = await duelog.called(id)
    expect(call?.run.runNo).toBe(1)
    const job = await duelog.jobThat(id, ({ lastRun }) => lastRun !== null)
    expect(job.lastRun).toMatchObject({ trigger: 'FOLLOW_UP', status: 'SUCCEEDED' })
  }
})

test('trigger runs a job now, with a payload of its own, and does not change its schedule', async () => {
  const time = new Date(Date.now() + 86_400_000).toISOString()
  await duelog.put('on-demand', { schedule: { at: time }, payload: 'usual' })
  await duelog.command('on-demand', 'trigger', { payload: 'special' })
  const [call] = await duelog.called('on-demand')
  expect(call?.run.payload).toBe('special')
  expect(await duelog.job('on-demand')).toMatchObject({ nextFireAt: time })
})

test('a waiting retry can be cancelled', async () => {
  await duelog.put('waiting', { ...failing, retry: { maxAttempts: 5, backoff: { fixed: { delayMs: 60_000 } } } })
  await duelog.jobThat('waiting', ({ active }) => active[0]?.status === 'RETRY_WAIT')
  await duelog.onRun('waiting', 1, 'cancel')
  expect(await duelog.jobThat('waiting', ({ active }) => active.length === 0)).toMatchObject({ lastRun: { status: 'CANCELLED' } })
})

test('a run whose handler no worker has says so in why; workers say which handlers they have', async () => {
  const { workers } = (await duelog.ask('GET', '/v1/workers')).body as { workers: { pools: { handlers: string[] }[] }[] }
  expect(workers[0]?.pools[0]?.handlers).toEqual(expect.arrayContaining(['echo', 'hold', 'http', 'noop']))
  await duelog.put('unknown-handler', { ...now, target: { handler: 'send-mail' }, retry: { maxAttempts: 1 } })
  await duelog.jobThat('unknown-handler', ({ active }) => active[0]?.waitsFor === 'HANDLER')
  expect(await duelog.why('unknown-handler')).toContainEqual(
    expect.objectContaining({
      code: 'no-handler',
      text: 'Run 1 waits: no worker of pool default has the handler send-mail. It loses no attempt.',
    }),
  )
})
