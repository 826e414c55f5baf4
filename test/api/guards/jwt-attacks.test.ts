/** JSON Web Tokens that must be refused, and those that must be accepted. */
import { createPublicKey, type JsonWebKeyInput } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createLocalJWKSet, exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { JwtOptions } from '../../../src/server/api/guards/jwt.ts'
import { admin, apiTokens, bearer, expectRefusal, viewer } from '../attackers.ts'
import { atNoon, createSystem, type MemorySystem } from '../system-in-memory.ts'

describe('JSON Web Tokens', () => {
  const issuer = 'https://id.example.org'
  const audience = 'duelog'
  let jwt: JwtOptions
  let published: object
  let sign: (claims: JWTPayload, change?: { alg?: string; kid?: string; key?: Parameters<SignJWT['sign']>[0] }) => Promise<string>
  const good = {
    iss: issuer,
    aud: audience,
    sub: 'alice',
    exp: Math.floor(Date.now() / 1_000) + 600,
    roles: ['operator', 'other'],
  }

  beforeAll(async () => {
    const { publicKey, privateKey } = await generateKeyPair('RS256')
    published = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'RS256', use: 'sig' }
    jwt = { jwks: createLocalJWKSet({ keys: [published as JWK] }), issuer, audience, rolesClaim: 'roles' }
    sign = (claims, { alg = 'RS256', kid = 'one', key = privateKey } = {}) =>
      new SignJWT(claims).setProtectedHeader({ alg, kid }).sign(key)
  })
  const put = (system: MemorySystem, token: string) =>
    system.api.instance.inject({ method: 'PUT', url: '/v1/jobs/a', headers: bearer(token), payload: atNoon })

  it('accepts a token that the provider has signed, and records the subject', async () => {
    await using system = createSystem({ apiTokens, jwt })
    expect((await put(system, await sign(good))).statusCode).toBe(200)
    const { records } = (await system.api.instance.inject({ url: '/v1/audit', headers: admin })).json()
    expect(records[0]).toMatchObject({ actor: 'alice', role: 'operator', action: 'PUT', outcome: 'DONE' })
    expectRefusal(await put(system, await sign({ ...good, roles: ['viewer'] })), [403])
    await using nested = createSystem({ apiTokens, jwt: { ...jwt, rolesClaim: 'realm_access.roles' } })
    expect((await put(nested, await sign({ ...good, realm_access: { roles: 'admin' } }))).statusCode).toBe(200)
  })

  it.each([
    ['no signature', async () => new UnsecuredJWT(good).encode()],
    ['alg none with a signature', async () => swapHeader(await sign(good), { alg: 'none', kid: 'one' })],
    ['alg HS256', async () => sign(good, { alg: 'HS256', key: Buffer.from('0'.repeat(32)) })],
    ['a header that says HS256', async () => swapHeader(await sign(good), { alg: 'HS256', kid: 'one' })],
    ['a key of its own in its header', async () => ownKey(good)],
    ['a key that is not known', async () => sign(good, { kid: 'two' })],
    ['the key of somebody else', async () => sign(good, { key: (await generateKeyPair('RS256')).privateKey })],
    ['claims changed after signing', async () => changedClaims(await sign(good), { ...good, roles: ['admin'] })],
    ['another issuer', async () => sign({ ...good, iss: 'https://evil.example.org' })],
    ['another audience', async () => sign({ ...good, aud: 'payments' })],
    ['no audience', async () => sign({ ...good, aud: undefined })],
    ['an end that has passed', async () => sign({ ...good, exp: 1 })],
    ['no end', async () => sign({ ...good, exp: undefined })],
    ['a begin that has not come', async () => sign({ ...good, nbf: good.exp })],
    ['no subject', async () => sign({ ...good, sub: undefined })],
    ['no role', async () => sign({ ...good, roles: undefined })],
    ['a role that is not ours', async () => sign({ ...good, roles: ['root', { role: 'admin' }] })],
    ['roles of the prototype', async () => sign({ ...good, roles: undefined, constructor: 'admin' })],
    ['the public key as the secret of an HMAC', async () => byPublicKey(good, 'HS256')],
    ['the public key as the secret of a longer HMAC', async () => byPublicKey(good, 'HS512')],
    ['a kid that is a path', async () => sign(good, { kid: '../../../../dev/null' })],
    ['a kid that is a query', async () => sign(good, { kid: "one' OR '1'='1" })],
    [
      'a part of its header that must be understood',
      async () => swapHeader(await sign(good), { alg: 'RS256', kid: 'one', crit: ['x'], x: 1 }),
    ],
    ['rubbish', async () => 'a.b.c'],
  ])('with %s a caller gets no access', async (_what, token) => {
    await using system = createSystem({ apiTokens, jwt })
    expectRefusal(await put(system, await token()), [401])
    expect(system.log.written).toEqual([])
  })

  it.each([
    ['that has expired', { exp: 1 }, 'it has expired'],
    ['of another issuer', { iss: 'https://other.example/' }, 'its issuer (iss) is not that of DUELOG_JWT_ISSUER'],
    ['for another audience', { aud: 'billing' }, 'its audience (aud) does not have that of DUELOG_JWT_AUDIENCE'],
    ['without a role', { roles: [] }, 'names none of admin, operator, viewer'],
    ['without a subject', { sub: undefined }, 'it has no claim sub'],
  ])('%s and is signed by the provider is refused with the reason, also the second time', async (_what, change, reason) => {
    await using system = createSystem({ apiTokens, jwt })
    const token = await sign({ ...good, ...change })
    for (const _time of [1, 2]) expect((await put(system, token)).json().detail).toContain(reason)
    // Nothing is said about a token that anybody could have written.
    const forged = `${token.slice(0, -8)}AAAAAAAA`
    expect((await put(system, forged)).json().detail).not.toContain('refused')
  })

  it.each([
    ['empty', ''],
    ['of spaces', '  '],
    ['that is nobody in the audit trail', 'local'],
    ['that is another process', 'peer'],
    ['that is a role', 'Admin'],
    ['that is so in wider letters', '\uff4c\uff4f\uff43\uff41\uff4c'],
    ['with spaces around', ' local '],
    ['that is the name of a token', 'ci'],
    ['on two lines', 'alice\nbob'],
    ['that turns its direction', 'alice\u202ebob'],
    ['that cannot be seen', 'al\u200bice'],
    ['too long', 'a'.repeat(256)],
    ['that is a number', 7 as unknown as string],
    ['that is a list', ['alice'] as unknown as string],
  ])('with a subject %s are refused with the reason', async (_what, sub) => {
    await using system = createSystem({ apiTokens, jwt })
    const answer = await put(system, await sign({ ...good, sub }))
    expectRefusal(answer, [401, 403])
    if (typeof sub === 'string')
      expect(answer.json()).toMatchObject({ code: 'forbidden', detail: expect.stringContaining('subject (sub)') })
    expect(system.log.written).toEqual([])
    expect(system.log.audited).toEqual([])
  })

  it('are checked with the keys that the provider publishes', async () => {
    let reads = 0
    const provider = createServer((_request, response) => {
      reads++
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys: [published] }))
    })
    await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void provider.close())
    const jwks = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/keys`
    await using system = createSystem({ apiTokens, jwt: { ...jwt, jwks } })
    for (let index = 0; index < 3; index++) expect((await put(system, await sign(good))).statusCode).toBeLessThan(300)
    expectRefusal(await put(system, await sign(good, { kid: 'two' })), [401])
    expect(reads).toBe(1)
  })

  it('are not checked while the keys are not available', async () => {
    await using system = createSystem({ apiTokens, jwt: { ...jwt, jwks: 'http://127.0.0.1:1/keys' } })
    const answer = await put(system, await sign(good))
    expect(answer.json()).toMatchObject({ status: 503, code: 'identity-unavailable' })
    expect(answer.headers['retry-after']).toBeDefined()
    expect((await system.api.instance.inject({ url: '/v1/jobs', headers: viewer })).statusCode).toBe(200)
  })

  const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const swapHeader = (token: string, header: object) => [encoded(header), ...token.split('.').slice(1)].join('.')
  const changedClaims = (token: string, claims: object) => token.split('.').with(1, encoded(claims)).join('.')
  /** A verifier that lets the token choose the algorithm would use the published key as a shared secret. */
  async function byPublicKey(claims: JWTPayload, alg: string): Promise<string> {
    const key = createPublicKey({ key: published as JWK, format: 'jwk' } as JsonWebKeyInput)
    return sign(claims, { alg, key: Buffer.from(key.export({ type: 'spki', format: 'pem' })) })
  }
  async function ownKey(claims: JWTPayload): Promise<string> {
    const { publicKey, privateKey } = await generateKeyPair('RS256')
    const header = { alg: 'RS256', jwk: await exportJWK(publicKey), jku: 'https://evil.example.org/keys' }
    return new SignJWT(claims).setProtectedHeader(header).sign(privateKey)
  }
})
