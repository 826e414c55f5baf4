import { gunzipSync } from 'node:zlib'
import { afterAll, describe, expect, it } from 'vitest'
import { createSystem } from '../system-in-memory.ts'

const { api, put } = await filled()
afterAll(() => api.stop())

async function filled() {
  const system = createSystem()
  const put = (id: string) =>
    system.api.instance.inject({
      ...{ method: 'PUT', url: `/v1/jobs/${id}` },
      payload: { schedule: { everyMs: 1_000 }, target: { handler: 'noop' }, tags: ['many', 'same', 'tags'] },
    })
  for (let index = 0; index < 50; index++) await put(`job-${index}`)
  return { api: system.api, put }
}

const list = (encoding?: string, url = '/v1/jobs?limit=50') =>
  api.instance.inject({ method: 'GET', url, headers: encoding === undefined ? {} : { 'accept-encoding': encoding } })

describe('compressed answers', () => {
  it('are smaller and the same, for callers that accept them', async () => {
    const plain = await list()
    expect([plain.headers['content-encoding'], plain.headers.vary]).toEqual([undefined, 'accept-encoding'])
    const small = await list('br;q=1, gzip;q=0.8')
    expect(small.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'accept-encoding' })
    expect(Number(small.headers['content-length'])).toBe(small.rawPayload.length)
    expect(gunzipSync(small.rawPayload).toString()).toBe(plain.payload)
    expect(small.rawPayload.length).toBeLessThan(plain.payload.length / 5)
    expect(plain.json().jobs).toHaveLength(50)
  })

  it.each(['identity', 'gzip;q=0', 'gzip; q=0.000', 'xgzip', 'gzipx', '', ','.repeat(5_000), `${','.repeat(30)}gzip`])(
    'are not sent to a caller that says %j',
    async (encoding) => {
      expect((await list(encoding)).headers['content-encoding']).toBeUndefined()
    },
  )

  it('are only those of some length', async () => {
    expect((await list('gzip', '/v1/session')).headers['content-encoding']).toBeUndefined()
    expect((await list('gzip', '/v1/jobs/job-1')).statusCode).toBe(200)
    expect((await put('one-more')).headers['content-encoding']).toBeUndefined()
  })

  it('go as they are while others are being compressed', async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, () => list('gzip')))
    const texts = answers.map(({ rawPayload, headers }) =>
      headers['content-encoding'] === 'gzip' ? gunzipSync(rawPayload).toString() : rawPayload.toString(),
    )
    expect(new Set(texts).size).toBe(1)
  })
})

describe('an answer that the caller has already', () => {
  const ask = (url: string, etag?: unknown) =>
    api.instance.inject({ method: 'GET', url, headers: etag === undefined ? {} : { 'if-none-match': String(etag) } })

  it('is not sent again, until it has changed', async () => {
    const first = await ask('/v1/jobs?limit=20&idPrefix=job-')
    const { etag } = first.headers
    expect(String(etag)).toMatch(/^W\/"[\w-]{27}"$/)
    for (const known of [etag, `"other", ${String(etag)}`, String(etag).slice(2)]) {
      const again = await ask('/v1/jobs?limit=20&idPrefix=job-', known)
      expect([again.statusCode, again.payload, again.headers.etag]).toEqual([304, '', etag])
      expect(again.headers['content-type']).toBeUndefined()
    }
    expect((await ask('/v1/jobs?limit=21&idPrefix=job-', etag)).statusCode).toBe(200)
    expect((await ask('/v1/jobs?limit=20&idPrefix=job-', 'W/"x", *, ,,"')).statusCode).toBe(200)
    await put('job-00')
    const changed = await ask('/v1/jobs?limit=20&idPrefix=job-', etag)
    expect([changed.statusCode, changed.json().jobs.length]).toEqual([200, 20])
    expect(changed.headers.etag).not.toBe(etag)
  })

  it('is sent if it is a job, whose ETag is its version, or a problem', async () => {
    const job = await ask('/v1/jobs/job-1')
    expect(job.headers.etag).not.toMatch(/^W\//)
    expect((await ask('/v1/jobs/job-1', job.headers.etag)).statusCode).toBe(200)
    const missing = await ask('/v1/jobs/none')
    expect([missing.statusCode, missing.headers.etag]).toEqual([404, undefined])
    expect((await ask('/v1/session')).headers.etag).toBeUndefined()
  })
})
