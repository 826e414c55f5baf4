/** Requests that calls of the API become. The routes themselves are proved by all that call them. */
import { expect, test } from 'vitest'
import { type ApiRequest, apiOver, pagesOf, pathOf, problemIn } from '../../src/ground/answers/calls.ts'

const requests: ApiRequest[] = []
const api = apiOver(async (request) => {
  requests.push(request)
  return 'answered'
})
const requestOf = async (call: Promise<unknown>): Promise<ApiRequest | undefined> => {
  expect(await call).toBe('answered')
  return requests.pop()
}

test('parameters go where the route has them, and what is undefined goes nowhere', async () => {
  const { signal } = new AbortController()
  const definition = { schedule: { everyMs: 5_000 }, target: { handler: 'log' } }
  const put = api.putJob({ id: 'a/{b} ?&', wait: 'ended', timeoutMs: 7, ifMatch: '"0.1"', body: definition, signal })
  expect(await requestOf(put)).toEqual({
    ...{ method: 'PUT', path: '/v1/jobs/a%2F%7Bb%7D%20%3F%26?wait=ended&timeoutMs=7' },
    ...{ headers: { 'content-type': 'application/json', 'if-match': '"0.1"' }, body: definition },
    ...{ signal, waitMs: 7, isStream: false },
  })
  const list = await requestOf(api.listJobs({ tag: 'a=b&c', handler: undefined, active: true, limit: 5 }))
  expect(list).toMatchObject({ method: 'GET', path: '/v1/jobs?tag=a%3Db%26c&active=true&limit=5', headers: {}, waitMs: 0 })
  expect(list?.body).toBeUndefined()
  expect((await requestOf(api.getProof()))?.path).toBe('/v1/proof')
})

test('an id cannot become a part of the route', async () => {
  const request = await requestOf(api.cancelRun({ jobId: '{runNo}', runNo: 3 }))
  expect(request?.path).toBe('/v1/runs/%7BrunNo%7D/3/cancel')
  await expect(api.getJob({ id: '\ud800' })).rejects.toThrow(URIError)
  expect(requests).toEqual([])
})

test('a body of lines and an answer that is no JSON are streams', async () => {
  const lines = (async function* () {})()
  const batch = await requestOf(api.writeJobs({ wait: 'applied', body: lines }))
  expect(batch).toMatchObject({ path: '/v1/jobs/batch?wait=applied', headers: { 'content-type': 'application/x-ndjson' } })
  expect([batch?.body, batch?.isStream]).toEqual([lines, true])
  expect((await requestOf(api.listenEvents()))?.isStream).toBe(true)
})

test('an address is shown without a request', () => {
  expect(pathOf('putJob', { id: 'hello', wait: 'applied' })).toBe('/v1/jobs/hello?wait=applied')
  expect(requests).toEqual([])
})

test('a problem is one of Duelog, or none', () => {
  const problem = { code: 'not-found', detail: 'There is no job a.' }
  expect(problemIn(JSON.stringify(problem))).toEqual(problem)
  for (const text of ['', '<html>', 'null', '{"code":"not-found"}', '{"code":5,"detail":"x"}'])
    expect(problemIn(text)).toBeUndefined()
})

test('pages are read to the end, each with the cursor of the one before', async () => {
  const cursors: (string | undefined)[] = []
  const found: number[] = []
  const pages = pagesOf(async (cursor) => {
    cursors.push(cursor)
    return { items: [cursors.length], cursor: cursors.length < 3 ? `after ${cursors.length}` : null }
  })
  for await (const { items } of pages) found.push(...items)
  expect(found).toEqual([1, 2, 3])
  expect(cursors).toEqual([undefined, 'after 1', 'after 2'])
})
