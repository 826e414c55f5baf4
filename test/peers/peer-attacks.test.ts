/** A foreign member in the group of schedulers, and processes of one system with different tokens. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { ApiToken } from '../../src/server/api/context/context.ts'
import { createOwnerDirectory } from '../../src/server/peers/owner-directory.ts'
import { peerNote, peerToken, urlOfPeer } from '../../src/server/peers/peer-note.ts'
import { remoteQueries } from '../../src/server/peers/remote-queries.ts'
import { createProofDirectory } from '../../src/server/peers/role-directories.ts'
import { apiTokens, viewer } from '../api/attackers.ts'
import { createSystem, names } from '../api/system-in-memory.ts'

const clock = { nowMs: () => 0, steadyMs: () => 0, at: () => () => {} }

/** A server that records the requests it receives. */
async function rogue(answer: (request: IncomingMessage, response: ServerResponse) => void = (_, response) => response.end('{}')) {
  const seen: IncomingMessage['headers'][] = []
  const server = createServer((request, response) => {
    seen.push(request.headers)
    answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { seen, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

/** An API whose partitions belong to a member with this user data. */
function apiBeside(userData: unknown, tokens: readonly ApiToken[] | undefined) {
  const told: string[] = []
  const assigned = [0, 1, 2, 3].flatMap((partition) => [names.commands, names.jobs].map((topic) => ({ topic, partition })))
  const admin = { groupMembers: async () => [{ memberId: 'm', instance: 'o@h:1:b', userData, assigned }] }
  const remote = (url: string) => remoteQueries(url, { token: peerToken(tokens) })
  const urlOf = (note: unknown) => urlOfPeer(note, tokens)
  const owners = createOwnerDirectory({
    ...{ admin, groupId: names.group('scheduler'), topic: names.commands, followedTopic: names.jobs, partitions: 4 },
    ...{ remote, urlOf, onRefused: (problem) => told.push(problem), clock },
  })
  const proofs = createProofDirectory({
    admin,
    groupId: names.group('auditor'),
    instance: 'i',
    remote,
    urlOf,
    partitions: 4,
    clock,
  })
  const system = createSystem({ apiTokens: tokens, owners, proofs, local: undefined })
  return { system, told, owners, proofs }
}

const [strongest, second] = apiTokens as [ApiToken, ApiToken]
const other: ApiToken[] = [{ role: 'admin', token: 'another-token-0123456789' }]

describe('a member that is not part of this system', () => {
  const elsewhere = 'http://127.0.0.1:9'
  const notes: [string, (url: string) => unknown][] = [
    ['no proof', (url) => ({ url })],
    ['a proof of another URL', (url) => ({ ...peerNote(elsewhere, apiTokens), url })],
    ['a proof of other tokens', (url) => peerNote(url, other)],
    ["a proof of a viewer's token", (url) => peerNote(url, apiTokens.slice(2))],
    [
      'proofs that are none',
      (url) => ({ url, proofs: ['', 'x', 7, null, {}, { toString: 1 }, 'A'.repeat(22), 'A'.repeat(100_000)] }),
    ],
    ['proofs in another form', (url) => ({ url, proofs: peerNote(url, apiTokens).proofs?.join() })],
    [
      'too many proofs to look at',
      (url) => ({ url, proofs: [...Array(16).fill('x'), ...(peerNote(url, apiTokens).proofs ?? [])] }),
    ],
  ]

  it.each(notes)('with %s gets no request, and the caller and the operator are informed', async (_what, noteOf) => {
    const { seen, url } = await rogue()
    const { system, told, owners, proofs } = apiBeside(noteOf(url), apiTokens)
    await using _system = system
    for (const path of [
      '/v1/jobs',
      '/v1/jobs/a?stale=true',
      '/v1/runs',
      '/v1/workers',
      '/v1/forecast',
      '/v1/forecast/jobs?from=0',
      '/v1/partitions',
      '/v1/proof',
    ]) {
      const answer = await system.api.instance.inject({ url: path, headers: viewer })
      expect([200, 503]).toContain(answer.statusCode)
    }
    const list = await system.api.instance.inject({ url: '/v1/jobs', headers: viewer })
    expect(list.json()).toMatchObject({ status: 503, code: 'peer-refused', detail: expect.stringContaining('DUELOG_API_TOKENS') })
    expect(told.join()).toContain('o@h:1:b')
    await owners.remoteCounts()
    expect(await proofs.proofs()).toEqual([])
    expect(seen).toEqual([])
  })

  it('without tokens gets no request unless it is on this machine', () => {
    for (const url of ['http://127.0.0.1:8080', 'http://localhost:8080', 'http://[::1]:8080'])
      expect(urlOfPeer({ url })).toBe(url)
    for (const url of [
      'http://10.0.0.7:8080',
      'http://evil.example.org',
      'http://127.0.0.1.evil.example.org',
      'http://localhost@evil.example.org',
    ])
      expect(urlOfPeer({ url })).toBeUndefined()
    for (const note of [null, 'x', {}, { url: 7 }, { url: 'file:///etc' }, { url: `http://127.0.0.1/${'x'.repeat(5_000)}` }])
      expect(urlOfPeer(note)).toBeUndefined()
  })
})

describe('a member of this system', () => {
  it('proves it by any strong token that both have', () => {
    const url = 'http://10.0.0.7:8080'
    expect(urlOfPeer(peerNote(url, apiTokens), apiTokens)).toBe(url)
    expect(urlOfPeer(peerNote(url, [strongest, second]), [second])).toBe(url)
    expect(urlOfPeer(peerNote(url, [second]), [strongest, second])).toBe(url)
    expect(urlOfPeer(peerNote(url, apiTokens.slice(2)), apiTokens.slice(2))).toBe(url)
    const many = Array.from({ length: 50 }, (_, index): ApiToken => ({ role: 'admin', token: `token-${index}-0123456789` }))
    expect(peerNote(url, many).proofs).toHaveLength(16)
    for (const { token } of apiTokens) expect(JSON.stringify(peerNote(url, apiTokens))).not.toContain(token)
  })

  it('gets requests', async () => {
    const { seen, url } = await rogue((_, response) => response.end('{"answer":{"jobs":[],"looked":0}}'))
    const { system } = apiBeside(peerNote(url, apiTokens), apiTokens)
    await using _system = system
    await system.api.instance.inject({ url: '/v1/jobs', headers: viewer })
    expect(seen[0]?.authorization).toBe(`Bearer ${peerToken(apiTokens)}`)
  })

  it('loses the token to no other host by a redirect', async () => {
    const far = await rogue()
    const near = await rogue((_, response) => response.writeHead(307, { location: far.url }).end())
    await expect(remoteQueries(near.url, { token: 'secret' }).partitions()).rejects.toMatchObject({ code: 'not-ready' })
    expect(far.seen).toEqual([])
  })

  it('may not send an endless answer, nor an error of any length', async () => {
    const endless = await rogue((_, response) => {
      const more = (): void => {
        while (response.write('x'.repeat(65_536)));
        response.once('drain', more)
      }
      more()
    })
    await expect(remoteQueries(endless.url, { bytesMax: 1_000_000 }).partitions()).rejects.toMatchObject({
      code: 'not-ready',
      message: expect.stringContaining('more than 1000000 bytes'),
    })
    const wordy = await rogue((_, response) =>
      response.writeHead(400).end(JSON.stringify({ code: 'bad-request', detail: 'x'.repeat(100_000) })),
    )
    const error = await remoteQueries(wordy.url)
      .partitions()
      .catch((thrown: Error) => thrown)
    expect((error as Error).message).toHaveLength(2_000)
    const polluting = await rogue((_, response) => response.end('{"answer":[],"__proto__":{"role":"admin"}}'))
    expect(await remoteQueries(polluting.url).partitions()).toEqual([])
    expect(({} as { role?: string }).role).toBeUndefined()
  })
})

describe('processes whose tokens differ', () => {
  it.each([
    ['without tokens beside one with them', undefined, apiTokens],
    ['with tokens beside one without', apiTokens, undefined],
    ['with other tokens', apiTokens, other],
  ])('%s: the caller and the operator learn what to do', async (_what, ours, theirs) => {
    await using owner = createSystem({ apiTokens: theirs })
    const url = await owner.api.listen('127.0.0.1', 0)
    const { system, told } = apiBeside(peerNote(url, theirs), ours)
    await using _system = system
    const answer = await system.api.instance.inject({ url: '/v1/jobs', headers: ours === undefined ? {} : viewer })
    expect(answer.json()).toMatchObject({
      ...{ status: 503, code: 'peer-refused' },
      detail: expect.stringContaining('all processes of one system the same DUELOG_API_TOKENS'),
    })
    expect(told.join()).toContain('DUELOG_API_TOKENS')
  })
})
