/** Standby reads: what the answer says about them, and what is not done with them. */
import { describe, expect, it } from 'vitest'
import { atNoon, createSystem, finishedRun } from '../system-in-memory.ts'

/** A system whose partitions are all restoring, with a copy that is 7 records behind. */
function restoring() {
  const system = createSystem()
  for (const partition of [0, 1, 2, 3]) system.owner.notReady.add(partition)
  system.owner.behindRecords = 7
  return system
}
const get = (system: ReturnType<typeof createSystem>, url: string) => system.api.instance.inject({ method: 'GET', url })

describe('a read with stale=true', () => {
  it('is answered by the owner while there is one, with its ETag', async () => {
    await using system = createSystem()
    system.owner.behindRecords = 7
    system.add('a')
    const answer = await get(system, '/v1/jobs/a?stale=true')
    expect([answer.statusCode, answer.headers['duelog-stale'], typeof answer.headers.etag]).toEqual([200, undefined, 'string'])
    expect((await get(system, '/v1/jobs?stale=true')).json()).not.toHaveProperty('stale')
  })

  it.for(['/v1/jobs/a', '/v1/jobs/a/why', '/v1/jobs/a/runs', '/v1/runs/a/1'])(
    'of %s names the partition that a standby answered for, and how far it is behind',
    async (path) => {
      await using system = restoring()
      const { partition } = system.add('a')
      system.owner.finished.set('a', [finishedRun(1)])
      const answer = await get(system, `${path}?stale=true`)
      expect([answer.statusCode, answer.headers['duelog-stale']]).toEqual([200, `${partition};behind=7`])
      expect(answer.headers.etag).toBeUndefined()
      const refused = await get(system, path)
      expect([refused.statusCode, refused.headers['retry-after']]).toEqual([503, '1'])
      expect(refused.json().detail).toContain('?stale=true')
    },
  )

  it.for(['/v1/jobs', '/v1/dead-letters'])('of %s names all such partitions in the body too', async (path) => {
    await using system = restoring()
    system.owner.notReady.delete(2)
    system.add('a', { deadRuns: [1] })
    const answer = await get(system, `${path}?stale=true`)
    expect(answer.statusCode).toBe(200)
    expect(answer.json().stale).toEqual([0, 1, 3].map((partition) => ({ partition, behindRecords: 7 })))
    expect(answer.headers['duelog-stale']).toBe('0;behind=7, 1;behind=7, 3;behind=7')
    expect(answer.headers.etag).toBeUndefined()
  })

  it('reports 404 of a standby as stale too', async () => {
    await using system = restoring()
    const answer = await get(system, '/v1/jobs/nobody?stale=true')
    expect([answer.statusCode, answer.headers['duelog-stale']]).toEqual([404, expect.stringMatching(/^\d;behind=7$/)])
  })

  it('is refused like any other if there is no standby', async () => {
    await using system = restoring()
    system.owner.behindRecords = null
    system.add('a')
    const answer = await get(system, '/v1/jobs/a?stale=true')
    expect(answer.statusCode).toBe(503)
    expect((await get(system, '/v1/jobs/a')).json().detail).not.toContain('stale')
  })

  it('is not accepted for a write or a wait', async () => {
    await using system = restoring()
    for (const [method, url] of [
      ['PUT', '/v1/jobs/a?stale=true'],
      ['DELETE', '/v1/jobs/a?wait=applied&stale=true'],
      ['GET', '/v1/jobs/a?wait=applied&stale=true'],
    ] as const) {
      const answer = await system.api.instance.inject({ method, url, ...(method === 'PUT' && { payload: atNoon }) })
      expect([answer.statusCode, answer.json().code]).toEqual([400, 'bad-request'])
    }
    expect(system.log.written).toEqual([])
  })
})

describe('the list of partitions', () => {
  it('shows the standbys', async () => {
    await using system = restoring()
    const { partitions } = (await get(system, '/v1/partitions')).json()
    expect(partitions[0].standbys).toEqual([
      { instance: 's@h:2:b', url: 'http://h:2', phase: 'following', behindRecords: 7, zoneRules: '2026a' },
    ])
    expect(partitions[1].standbys).toEqual([])
  })
})
