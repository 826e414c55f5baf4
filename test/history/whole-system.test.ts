/** The history as its users see it: a whole Duelog on a real broker, by HTTP, command line and library, and its topic by Apache Avro. */
import { execFile } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test, vi } from 'vitest'
import type { HistoryRunInfo } from '../../src/clients/library/client.ts'
import { createClient } from '../../src/clients/library/create-client.ts'
import type { HistoryPage } from '../../src/ground/answers/answers.ts'
import { artifactFolder } from '../../src/program/embedded/artifacts.ts'
import { findJava } from '../../src/program/embedded/java.ts'
import type { StartContext } from '../../src/program/embedded/options.ts'
import { duelogHere } from '../cli/built-program.ts'
import { registryUrl, Watcher } from '../kafka/harness.ts'
import { openDuelog } from '../semantics/harness.ts'

const duelog = await openDuelog()
const once = { schedule: { delayMs: 0 }, retry: { maxAttempts: 1 } }
const patience = { timeout: 60_000, interval: 100 }

async function historyOf(query: string): Promise<HistoryPage> {
  const { status, body } = await duelog.ask('GET', `/v1/history?${query}`)
  expect(status).toBe(200)
  return body as HistoryPage
}

const until = (query: string, count: number): Promise<HistoryPage> =>
  vi.waitUntil(async () => {
    const page = await historyOf(query)
    return page.runs.length >= count && page
  }, patience) as Promise<HistoryPage>

test('ended runs are in the history once each, after a restart too, and after their job is deleted', async () => {
  const ids = ['a', 'b', 'c'].map((name) => `kept-${name}`)
  for (const id of ids) await duelog.put(id, { ...once, tags: ['kept'], payload: { id } })
  await duelog.put('kept-dead', { ...once, target: { handler: 'give-up' }, tags: ['kept'] })
  const { runs } = await until('tag=kept', 4)
  expect(runs.map(({ runId }) => runId).sort()).toEqual(['kept-a/1', 'kept-b/1', 'kept-c/1', 'kept-dead/1'])
  expect(runs.find(({ jobId }) => jobId === 'kept-a')).toMatchObject({
    ...{ outcome: 'SUCCEEDED', handler: 'echo', pool: 'default', tags: ['kept'], attempts: 1, trigger: 'SCHEDULE' },
    ...{ result: { payload: { id: 'kept-a' }, attempt: 1 }, errorType: null, durationMs: expect.any(Number) },
  })
  expect((await historyOf('outcome=DEAD&errorText=CUSTOMER&idPrefix=kept-')).runs).toMatchObject([
    { runId: 'kept-dead/1', errorType: 'NonRetryableError', errorMessage: 'there is no such customer' },
  ])
  await duelog.remove('kept-b')
  await duelog.without(async () => {})
  await duelog.put('kept-later', { ...once, tags: ['kept'] })
  expect((await until('tag=kept', 5)).runs).toHaveLength(5)
  expect((await historyOf('jobId=kept-b')).runs).toMatchObject([{ runId: 'kept-b/1', outcome: 'SUCCEEDED' }])
})

test('pages continue where the last one ended, and counts are those of the pages', async () => {
  for (let index = 0; index < 7; index++) await duelog.put(`paged-${index}`, once)
  await until('idPrefix=paged-', 7)
  const ids: string[] = []
  let cursor: string | null = null
  do {
    const page: HistoryPage = await historyOf(`idPrefix=paged-&limit=3${cursor === null ? '' : `&cursor=${cursor}`}`)
    ids.push(...page.runs.map(({ jobId }) => jobId))
    cursor = page.cursor
  } while (cursor !== null)
  expect(ids.toSorted()).toEqual(Array.from({ length: 7 }, (_, index) => `paged-${index}`))
  const { body } = await duelog.ask('GET', '/v1/history/counts?idPrefix=paged-')
  expect(body).toMatchObject({ bucketMs: 3_600_000, total: { SUCCEEDED: 7 }, countedFrom: null })
})

test.each([
  ['cursor=abc', 'cursor'],
  ['from=yesterday', 'from'],
  ['minDurationMs=-1', 'minDurationMs'],
  ['colour=red', 'colour is not known'],
  [`cursor=${Buffer.from('9'.repeat(19)).toString('base64url')}`, 'cursor'],
])('GET /v1/history?%s is refused with a sentence', async (query, named) => {
  const { status, body } = await duelog.ask('GET', `/v1/history?${query}`)
  expect([status, (body as { detail: string }).detail]).toEqual([400, expect.stringContaining(named)])
})

test.each(['bucketMs=90000', 'from=2030-01-02T00:00:00Z&to=2030-01-01T00:00:00Z', 'from=0&bucketMs=60000'])(
  'GET /v1/history/counts?%s is refused with a sentence',
  async (query) => {
    const { status, body } = await duelog.ask('GET', `/v1/history/counts?${query}`)
    expect([status, (body as { detail: string }).detail]).toEqual([400, expect.stringMatching(/allowed: .*\.$/)])
  },
)

test('duelog history lists and counts, as a table and as JSON', async () => {
  await duelog.put('shown-1', { ...once, target: { handler: 'give-up' }, tags: ['shown'] })
  await until('tag=shown', 1)
  const run = (...args: string[]) => duelogHere(['history', ...args, '--url', duelog.url()])
  expect((await run('--tag', 'shown')).out.split('\n')[1]).toMatch(
    /^shown-1\/1 +DEAD .* give-up +NonRetryableError: there is no such customer$/,
  )
  expect((await run('--tag', 'shown', '--json')).json()).toMatchObject([{ runId: 'shown-1/1' }])
  expect((await run('--job', 'nobody')).out).toBe('No runs.\n')
  expect((await run('--counts', '--tag', 'shown')).out).toMatch(/^FROM +DEAD\n\S+ +1\ntotal +1\n$/)
  expect((await run('--counts', '--tag', 'shown', '--json')).json()).toMatchObject([{ total: { DEAD: 1 } }])
  expect(await run('--counts', '--limit', '3')).toMatchObject({ code: 2, err: expect.stringContaining('--limit') })
  expect(await run('--from', 'soon')).toMatchObject({ out: '', err: expect.stringContaining('from') })
})

test('client.history reads all pages, and client.historyCounts counts', async () => {
  const client = createClient({ url: duelog.url() })
  await duelog.put('by-client', once)
  await until('jobId=by-client', 1)
  const found: HistoryRunInfo[] = []
  for await (const run of client.history({ idPrefix: 'by-', from: Date.now() - 3_600_000 })) found.push(run)
  expect(found).toMatchObject([{ jobId: 'by-client', outcome: 'SUCCEEDED' }])
  expect(await client.historyCounts({ jobId: 'by-client' })).toMatchObject({ total: { SUCCEEDED: 1 } })
  await client.close()
})

test('Apache Avro reads the topic with the schema that the registry has for each record', async () => {
  const runs = new Watcher({ topics: [duelog.names.runs] })
  await runs.reader.start()
  await duelog.put('by-avro', { ...once, tags: ['x', 'ü'] })
  await duelog.put('by-avro-dead', { ...once, target: { handler: 'give-up' } })
  const mine = () => runs.records.filter(({ key }) => key?.toString().startsWith('by-avro'))
  await runs.until(() => mine().length === 2)
  const { runs: known } = await until('idPrefix=by-avro', 2)
  const context = { env: process.env, logDir: tmpdir(), onProgress: () => {} } as unknown as StartContext
  const jars = join(await artifactFolder('registry', context), 'lib', '*')
  const program = fileURLToPath(new URL('read-runs.java', import.meta.url))
  const values = mine().map(({ value }) => value?.toString('hex') ?? '')
  const { path } = await findJava(process.env)
  const { stdout } = await promisify(execFile)(path, ['-XX:TieredStopAtLevel=1', '-cp', jars, program, registryUrl, ...values])
  const read = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  for (const { jobId, outcome, tags, finishedAt, errorMessage, worker } of known)
    expect(read).toContainEqual(
      expect.objectContaining({ jobId, outcome, tags, finishedAt: Date.parse(finishedAt), errorMessage, worker }),
    )
  // Flat: each column of a table in ksqlDB or of a sink of Connect has one value, and tags are a list of texts.
  for (const [name, value] of Object.entries(read[0] ?? {}))
    if (name !== 'tags' && value !== null) expect(value, name).not.toBeTypeOf('object')
})
