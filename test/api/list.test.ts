import { describe, expect, it } from 'vitest'
import type { JobView } from '../../src/ground/ports/owner-queries.ts'
import { listJobs } from '../../src/server/api/jobs/job-list.ts'
import { listMsMax, listsAtOnce } from '../../src/server/api/schemas/limits.ts'
import { atNoonDefinition, createSystem, type MemorySystem } from './system-in-memory.ts'

async function all({ api }: MemorySystem, query = ''): Promise<{ ids: string[]; pages: number[] }> {
  const ids: string[] = []
  const pages: number[] = []
  let cursor: string | null = null
  do {
    const answer = await api.instance.inject(`/v1/jobs?${query}${cursor === null ? '' : `&cursor=${cursor}`}`)
    expect(answer.statusCode).toBe(200)
    const page = answer.json() as { jobs: { id: string }[]; cursor: string | null }
    ids.push(...page.jobs.map((job) => job.id))
    pages.push(page.jobs.length)
    cursor = page.cursor
  } while (cursor !== null && pages.length < 1_000)
  return { ids, pages }
}

describe('GET /v1/jobs', () => {
  it('builds few pages at once, however many are requested', async () => {
    await using system = createSystem()
    for (let index = 0; index < 30; index++) system.add(`j${index}`)
    const list = system.owner.list.bind(system.owner)
    let [asked, most] = [0, 0]
    system.owner.list = async (...given) => {
      most = Math.max(most, ++asked)
      await new Promise(setImmediate)
      asked--
      return list(...given)
    }
    const pages = await Promise.all(Array.from({ length: 50 }, () => system.api.instance.inject('/v1/jobs')))
    expect(pages.map((page) => page.json().jobs.length)).toEqual(pages.map(() => 30))
    expect(most).toBe(listsAtOnce * system.partitions)
  })

  it('ends a page whose search takes long with a cursor', async () => {
    let steadyMs = 0
    const calls: (string | undefined)[] = []
    const owner = {
      async list(_partition: number, _filter: unknown, _limit: number, after?: string) {
        calls.push(after)
        steadyMs += listMsMax
        return { jobs: [], looked: 10_500, next: `job-${calls.length}` }
      },
    }
    const reading = { ask: (_partition: number, question: (jobs: typeof owner) => unknown) => question(owner) } as never
    const page = (cursor?: string) => listJobs(reading, 1, { filter: {}, limit: 10, cursor }, { steadyMs: () => steadyMs })
    const { cursor, searched } = await page()
    expect(searched).toBe(10_500)
    await page(cursor)
    expect(calls).toEqual([undefined, 'job-1'])
  })

  it('gives every job of all partitions once, in the order of ids, page by page', async () => {
    await using system = createSystem({ partitions: 8 })
    const ids = Array.from({ length: 357 }, (_, index) => `job/${String(index).padStart(4, '0')}`)
    for (const id of ids.toReversed()) system.add(id)
    for (const limit of [1, 7, 100, 1_000]) {
      const found = await all(system, `limit=${limit}`)
      expect(found.ids).toEqual(ids)
      expect(Math.max(...found.pages)).toBeLessThanOrEqual(limit)
    }
    expect((await all(system)).pages).toEqual([100, 100, 100, 57])
  })

  it('orders ids by their bytes, as the store does', async () => {
    await using system = createSystem()
    const ids = ['a', 'é', '\uffee', '\u{1f600}', 'Z', 'a/b', 'a b']
    for (const id of ids) system.add(id)
    const wanted = ids.toSorted((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)))
    expect((await all(system, 'limit=2')).ids).toEqual(wanted)
  })

  it('filters by status, tag, handler and due time', async () => {
    await using system = createSystem()
    const tagged = { ...atNoonDefinition(), tags: ['red'] }
    const other = { ...atNoonDefinition(), target: { ...atNoonDefinition().target, handler: 'mail' } }
    system.add('a', { definition: tagged, nextFireAt: Date.UTC(2031, 0, 1) })
    system.add('b', { definition: other, status: 'PAUSED', nextFireAt: Date.UTC(2032, 0, 1) })
    system.add('c', { nextFireAt: null })
    expect((await all(system, 'tag=red')).ids).toEqual(['a'])
    expect((await all(system, 'handler=mail')).ids).toEqual(['b'])
    expect((await all(system, 'idContains=b')).ids).toEqual(['b'])
    expect((await all(system, 'status=PAUSED')).ids).toEqual(['b'])
    expect((await all(system, 'dueBefore=2031-06-01T00:00:00%2B02:00')).ids).toEqual(['a'])
    expect((await all(system, `dueBefore=${Date.UTC(2033, 0, 1)}`)).ids).toEqual(['a', 'b'])
    expect((await all(system, 'status=INVALID')).ids).toEqual([])
  })

  it('finds rare jobs although owners stop searching before they find one', async () => {
    await using system = createSystem({ partitions: 3 })
    const ids = Array.from({ length: 90 }, (_, index) => `j${String(index).padStart(3, '0')}`)
    for (const id of ids) system.add(id)
    const wanted = ids.filter((_, index) => index % 30 === 29)
    let calls = 0
    // Each call reads one job only.
    system.owner.list = async (partition, _filter, _limit, after) => {
      calls++
      const own = [...system.owner.jobs.values()].filter(
        (job) => job.partition === partition && (after === undefined || job.id > after),
      )
      const [first] = own.toSorted((left, right) => (left.id < right.id ? -1 : 1))
      const jobs: JobView[] = first !== undefined && wanted.includes(first.id) ? [first] : []
      return { jobs, looked: 1, ...(own.length > 1 && { next: first?.id }) }
    }
    const found = await all(system, 'tag=rare')
    expect(found.ids).toEqual(wanted)
    expect(found.pages).toContain(0)
    expect(calls).toBeLessThan(3 * 90)
  })

  it('ends a page of large jobs early and continues with the next', async () => {
    await using system = createSystem()
    const large = { ...atNoonDefinition(), payload: Buffer.alloc(512 * 1024), contentType: 'application/octet-stream' }
    const ids = Array.from({ length: 40 }, (_, index) => `j${String(index).padStart(3, '0')}`)
    for (const id of ids) system.add(id, { definition: large })
    const found = await all(system, 'limit=1000')
    expect(found.ids).toEqual(ids)
    expect(found.pages).toEqual([16, 16, 8])
  })

  it('answers 503 while any partition has no active owner', async () => {
    await using system = createSystem()
    system.owner.notReady.add(2)
    const answer = await system.api.instance.inject('/v1/jobs')
    expect(answer.json()).toMatchObject({ status: 503, code: 'not-ready' })
    expect(answer.headers['retry-after']).toBe('1')
  })
})
