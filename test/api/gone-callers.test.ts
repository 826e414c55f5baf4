/** Lists and forecasts of another process: it hears for whom they are, and that they are not wanted any more. */
import { expect, it } from 'vitest'
import type { OwnerDirectory } from '../../src/api/owner-directory.ts'
import { peerToken } from '../../src/api/peers.ts'
import { remoteQueries } from '../../src/api/remote-queries.ts'
import { DuelogError } from '../../src/errors.ts'
import type { Asker } from '../../src/ports.ts'
import { createSystem } from './system-in-memory.ts'

const apiTokens = [
  { role: 'viewer', token: 'one-long-enough-token', name: 'one' },
  { role: 'viewer', token: 'two-long-enough-token', name: 'two' },
] as const

const paths = ['/v1/jobs?handler=none', '/v1/runs', '/v1/dead-letters', '/v1/forecast']

it.each(paths)('%s is for its caller, and as long as that is there', async (path) => {
  await using owner = createSystem({ apiTokens })
  const askers: Asker[] = []
  const asked = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  /** It would never end by itself. */
  const wait = (asker: Asker = { caller: '' }): Promise<never> => {
    askers.push(asker)
    asked[Math.floor((askers.length - 1) / owner.partitions)]?.resolve()
    return new Promise((_, reject) => asker.signal?.addEventListener('abort', () => reject(asker.signal?.reason)))
  }
  owner.owner.list = (_partition, _filter, _limit, _after?: string, asker?: Asker) => wait(asker)
  owner.owner.forecast = (_partition, _range, asker?: Asker) => wait(asker)
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
  // That each of them hears of it is what is tested.
  await Promise.all(ended)
  expect(new Set(askers.map(({ caller }) => caller)).size).toBe(2)
})

it.each(paths)('%s that one partition refuses waits in no other', async (path) => {
  await using system = createSystem({ apiTokens })
  const others: Promise<unknown>[] = []
  const wait = (partition: number, asker?: Asker): Promise<never> => {
    if (partition === 0) return Promise.reject(new DuelogError('overloaded', 'Too many wait.'))
    const ended = new Promise((resolve) => asker?.signal?.addEventListener('abort', resolve))
    others.push(ended)
    return ended.then(() => Promise.reject(asker?.signal?.reason))
  }
  system.owner.list = (partition, _filter, _limit, _after?: string, asker?: Asker) => wait(partition, asker)
  system.owner.forecast = (partition, _range, asker?: Asker) => wait(partition, asker)
  const headers = { authorization: 'Bearer one-long-enough-token' }
  const answer = await system.api.instance.inject({ url: path, headers })
  expect([answer.statusCode, answer.json().code, answer.headers['retry-after']]).toEqual([503, 'overloaded', '1'])
  expect(others).toHaveLength(system.partitions - 1)
  await Promise.all(others)
})
