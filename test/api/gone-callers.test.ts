/** Lists and forecasts that another process computes. It learns for which caller they are, and when that caller disconnects. */
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { expect, it, vi } from 'vitest'
import { DuelogError } from '../../src/ground/errors/errors.ts'
import type { Asker } from '../../src/ground/ports/owner-views.ts'
import type { OwnerDirectory } from '../../src/server/peers/owner-directory.ts'
import { peerToken } from '../../src/server/peers/peer-note.ts'
import { remoteQueries } from '../../src/server/peers/remote-queries.ts'
import { createSystem } from './system-in-memory.ts'

const apiTokens = [
  { role: 'viewer', token: 'one-long-enough-token', name: 'one' },
  { role: 'viewer', token: 'two-long-enough-token', name: 'two' },
] as const

const paths = ['/v1/jobs?handler=none', '/v1/runs', '/v1/dead-letters', '/v1/forecast', '/v1/forecast/jobs?from=0']

it.each(paths)('%s is asked in the name of its caller, and ends when the caller disconnects', async (path) => {
  await using owner = createSystem({ apiTokens })
  const askers: Asker[] = []
  const asked = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  /** It never ends by itself. */
  const wait = (asker: Asker = { caller: '' }): Promise<never> => {
    askers.push(asker)
    asked[Math.floor((askers.length - 1) / owner.partitions)]?.resolve()
    return new Promise((_, reject) => asker.signal?.addEventListener('abort', () => reject(asker.signal?.reason)))
  }
  owner.owner.list = (_partition, _filter, _limit, _after?: string, asker?: Asker) => wait(asker)
  owner.owner.deadRuns = (_partition, _query, asker?: Asker) => wait(asker)
  owner.owner.forecast = (_partition, _range, asker?: Asker) => wait(asker)
  owner.owner.dueJobs = (_partition, _range, asker?: Asker) => wait(asker)
  const remote = remoteQueries(await owner.api.listen('127.0.0.1', 0), { token: peerToken(apiTokens), timeoutMs: 60_000 })
  const asking: OwnerDirectory['ask'] = (_partition, question) => question(remote)
  const owners = { ask: asking, hasCopy: () => false } as unknown as OwnerDirectory
  await using front = createSystem({ apiTokens, owners })
  const url = await front.api.listen('127.0.0.1', 0)
  const ask = (token: string, gone: AbortController) =>
    fetch(`${url}${path}`, { headers: { authorization: `Bearer ${token}` }, signal: gone.signal }).catch(() => 'gone')
  const gone = new AbortController()
  const one = ask('one-long-enough-token', gone)
  await asked[0]?.promise
  const two = ask('two-long-enough-token', gone)
  await asked[1]?.promise
  const ended = askers.map(({ signal }) => new Promise((resolve) => signal?.addEventListener('abort', resolve)))
  gone.abort()
  expect(await Promise.all([one, two])).toEqual(['gone', 'gone'])
  // The test checks that each of them is told.
  await Promise.all(ended)
  expect(new Set(askers.map(({ caller }) => caller)).size).toBe(2)
})

it.each(paths)('%s ends in the other partitions when one partition refuses it', async (path) => {
  await using system = createSystem({ apiTokens })
  const others: Promise<unknown>[] = []
  const wait = (partition: number, asker?: Asker): Promise<never> => {
    if (partition === 0) return Promise.reject(new DuelogError('overloaded', 'Too many wait.'))
    const ended = new Promise((resolve) => asker?.signal?.addEventListener('abort', resolve))
    others.push(ended)
    return ended.then(() => Promise.reject(asker?.signal?.reason))
  }
  system.owner.list = (partition, _filter, _limit, _after?: string, asker?: Asker) => wait(partition, asker)
  system.owner.deadRuns = (partition, _query, asker?: Asker) => wait(partition, asker)
  system.owner.forecast = (partition, _range, asker?: Asker) => wait(partition, asker)
  system.owner.dueJobs = (partition, _range, asker?: Asker) => wait(partition, asker)
  const headers = { authorization: 'Bearer one-long-enough-token' }
  const answer = await system.api.instance.inject({ url: path, headers })
  expect([answer.statusCode, answer.json().code, answer.headers['retry-after']]).toEqual([503, 'overloaded', '1'])
  expect(others).toHaveLength(system.partitions - 1)
  await Promise.all(others)
})

/** Sends a request, disconnects when `begun` is true, and resolves when the server has seen the close. */
async function goneFrom(system: ReturnType<typeof createSystem>, path: string, body: unknown, begun: () => boolean) {
  const url = await system.api.listen('127.0.0.1', 0)
  const connected = once(system.api.instance.server, 'connection') as Promise<[Socket]>
  const gone = new AbortController()
  const headers = { 'content-type': 'application/json' }
  const init = { method: 'POST', headers, body: JSON.stringify(body), signal: gone.signal }
  const asked = fetch(`${url}${path}`, init).catch(() => 'gone')
  const [socket] = await connected
  const closed = once(socket, 'close')
  await vi.waitUntil(begun, { interval: 1, timeout: 60_000 })
  gone.abort()
  expect(await asked).toBe('gone')
  await closed
}
const preview = (schedule: object, count: number) =>
  ({ method: 'POST', url: '/v1/schedules/preview', payload: { schedule, count } }) as const

it('a plan does not ask owners for cycles after its caller has disconnected', async () => {
  await using system = createSystem()
  const held = Promise.withResolvers<undefined>()
  const asked: string[] = []
  const stored = system.owner.stored.bind(system.owner)
  system.owner.stored = (partition, id) => {
    if (!id.startsWith('after-')) return stored(partition, id)
    asked.push(id)
    return held.promise
  }
  const jobs = Array.from({ length: 50 }, (_, index) => ({
    ...{ id: `j-${index}`, target: { handler: 'noop' } },
    ...{ schedule: { everyMs: 60_000 }, onSuccess: [`after-${index}`] },
  }))
  await goneFrom(system, '/v1/jobs/plan', { jobs }, () => asked.length > 0)
  held.resolve(undefined)
  expect((await system.api.instance.inject(preview({ everyMs: 1_000 }, 1))).statusCode).toBe(200)
  expect(asked).toEqual(['after-0'])
})
