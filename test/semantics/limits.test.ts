/** Limits that jobs share: what users see of a run that waits. */
import { expect, test } from 'vitest'
import { every, openDuelog } from './harness.ts'

const duelog = await openDuelog()

test('concurrencyKey and concurrencyLimit: a run over the limit is WAITING, with its reason, and starts when one ends', async () => {
  const keyed = { ...every(300), target: { handler: 'hold' }, concurrencyKey: 'crm', concurrencyLimit: 1, maxConcurrentRuns: 2 }
  await duelog.put('keyed', keyed)
  const [first] = await duelog.called('keyed')
  const job = await duelog.jobThat('keyed', ({ active }) => active.some(({ status }) => status === 'WAITING'))
  expect(job.active).toMatchObject([{ runNo: 1 }, { runNo: 2, status: 'WAITING', waitsFor: 'SLOT' }])
  expect(await duelog.why('keyed')).toContainEqual(
    expect.objectContaining({
      code: 'concurrency-limit',
      text: 'Run 2 waits for a free slot of the concurrency key crm.',
    }),
  )
  expect(duelog.callsOf('keyed')).toHaveLength(1)
  first?.release()
  const [, second] = await duelog.called('keyed', 2)
  expect(second?.run.runNo).toBe(2)
  await duelog.remove('keyed')
})

test('a waiting run can be canceled, and a raised limit starts the next ones', async () => {
  const raised = { ...every(300), target: { handler: 'hold' }, concurrencyKey: 'raised', maxConcurrentRuns: 3 }
  await duelog.put('raised', { ...raised, concurrencyLimit: 1 })
  await duelog.jobThat('raised', ({ active }) => active.length === 3)
  await duelog.onRun('raised', 2, 'cancel')
  await duelog.jobThat('raised', ({ cancelled }) => cancelled === 1)
  expect(duelog.callsOf('raised')).toHaveLength(1)
  await duelog.put('raised', { ...raised, concurrencyLimit: 2 })
  const [, next] = await duelog.called('raised', 2)
  expect(next?.run.runNo).toBe(3)
  await duelog.remove('raised')
})

test('rateLimit: attempts start at most at this rate, the others wait', async () => {
  const rateLimit = { key: 'sms', limit: 2, perMs: 900 }
  await duelog.put('rated', { ...every(200), maxRuns: 6, maxConcurrentRuns: 6, rateLimit })
  const executions = await duelog.executions('rated', 6)
  const starts = executions.map(({ dueAt }) => dueAt)
  for (const [index, at] of starts.entries()) {
    const beyond = starts[index + rateLimit.limit]
    if (beyond !== undefined) expect(beyond - at).toBeGreaterThanOrEqual(rateLimit.perMs)
  }
  await duelog.jobThat('rated', ({ succeeded }) => succeeded === 6)
  expect(await duelog.why('rated')).toContainEqual(expect.objectContaining({ code: 'rate-limit' }))
  await duelog.remove('rated')
})

test('limits that contradict the target or one another are refused with a sentence', async () => {
  const topic = { topic: { name: 'orders' } }
  const refused = async (more: Record<string, unknown>): Promise<unknown> =>
    (await duelog.ask('PUT', '/v1/jobs/refused', { ...every(1_000), target: { handler: 'echo' }, ...more })).body
  expect(await refused({ target: topic, concurrencyKey: 'k' })).toMatchObject({
    detail: expect.stringContaining('concurrencyKey'),
  })
  expect(await refused({ concurrencyLimit: 3 })).toMatchObject({ detail: expect.stringContaining('only with concurrencyKey') })
  expect(await refused({ concurrencyKey: 'a\u0000b' })).toMatchObject({ detail: expect.stringContaining('control character') })
})
