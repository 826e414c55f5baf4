/** The request for a token: what is sent, what is accepted, and that a failure says where and why, without the secret. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type ClientCredentials, fetchOf, issuedToken } from '../../../src/log/kafka/client/client-credentials.ts'
import { TokenServer } from '../../access/token-server.ts'

const secret = 'hidden: +%&é'
const folder = mkdtempSync(join(tmpdir(), 'duelog-token-'))
let provider: TokenServer
beforeAll(async () => {
  provider = await TokenServer.start({ 'my client': secret })
})
beforeEach(() => {
  provider.answer = undefined
  provider.livesSeconds = 300
})
afterAll(async () => {
  await provider?.stop()
  rmSync(folder, { recursive: true, force: true })
})

const ask = (more: Partial<ClientCredentials> = {}) => {
  const credentials = { mechanism: 'oauthbearer', tokenUrl: `${provider.url}/token`, clientId: 'my client', ...more } as const
  return issuedToken(credentials, fetchOf(credentials))
}

test('a request carries the client by Basic, scope and parameters, and gives a token with its life', async () => {
  const token = await ask({ clientSecret: secret, scope: 'a b', parameters: { audience: 'https://kafka', resource: 'r' } })
  expect(token).toEqual({ value: expect.stringMatching(/^ey.*\..*\./), livesMs: 300_000 })
  expect(Object.fromEntries(provider.asked)).toEqual({
    grant_type: 'client_credentials',
    scope: 'a b',
    audience: 'https://kafka',
    resource: 'r',
  })
})

test('a secret in a file is read again for each token', async () => {
  const clientSecretFile = join(folder, 'secret')
  writeFileSync(clientSecretFile, 'hidden but old\n')
  await expect(ask({ clientSecretFile })).rejects.toMatchObject({ code: 'bad-config' })
  writeFileSync(clientSecretFile, `${secret}\n`)
  expect((await ask({ clientSecretFile })).livesMs).toBe(300_000)
  rmSync(clientSecretFile)
  await expect(ask({ clientSecretFile })).rejects.toThrow(/CLIENT_SECRET_FILE/)
})

const claims = (value: object): string => `x.${Buffer.from(JSON.stringify(value)).toString('base64url')}.y`

test('the life comes from the answer, or else from the token itself', async () => {
  for (const [body, livesMs] of [
    [{ access_token: 'opaque', expires_in: 60 }, 60_000],
    [{ access_token: 'opaque', expires_in: '60', token_type: 'bearer' }, 60_000],
    [{ access_token: claims({ iat: 1_000, exp: 1_120 }) }, 120_000],
  ] as const) {
    provider.answer = { status: 200, body: JSON.stringify(body) }
    expect((await ask()).livesMs).toBe(livesMs)
  }
})

test.each([
  [
    'a wrong secret',
    undefined,
    'bad-config',
    /\/token answered 401 \(invalid_client: … is wrong\) to the client my client\. Check KAFKA_SASL_OAUTHBEARER/,
  ],
  ['no JSON', { status: 200, body: '<html>' }, 'bad-config', /without a bearer token/],
  [
    'another kind of token',
    { status: 200, body: '{"access_token":"a","token_type":"mac","expires_in":60}' },
    'bad-config',
    /without a bearer token/,
  ],
  [
    'a token with a line end',
    { status: 200, body: '{"access_token":"a\\nb","expires_in":60}' },
    'bad-config',
    /without a bearer token/,
  ],
  ['a short life', { status: 200, body: '{"access_token":"a","expires_in":5}' }, 'bad-config', /live for 5 s; at least 15 s/],
  ['no life', { status: 200, body: '{"access_token":"a"}' }, 'bad-config', /do not say when they end/],
  ['control characters', { status: 400, body: '{"error":"a\\u001b[31mb"}' }, 'bad-config', /400 \(a \[31mb\)/],
  [
    'an answer with the header of the request',
    // Basic authorization of "my%20client:hidden".
    { status: 401, body: '{"error":"got","error_description":"Basic bXklMjBjbGllbnQ6aGlkZGVu"}' },
    'bad-config',
    /401 \(got: Basic …\)/,
  ],
  ['a busy server', { status: 503, body: '' }, 'broker-unavailable', /answered 503 to the client/],
  [
    'a redirect',
    { status: 302, body: '', headers: { location: 'http://127.0.0.1:1/' } },
    'broker-unavailable',
    /cannot be asked \(.*redirect/,
  ],
  ['a flood', { status: 200, body: 'x'.repeat(300_000) }, 'broker-unavailable', /more than 262144 bytes/],
] as const)('%s is refused with a reason', async (_, answer, code, words) => {
  provider.answer = answer
  const error = await ask({ clientSecret: 'hidden' }).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ code, message: expect.stringMatching(words) })
  expect((error as Error).message).not.toContain('hidden')
  // kafkajs repeats exactly what may pass.
  expect((error as { retriable?: boolean }).retriable).toBe(code === 'broker-unavailable')
})

test('a provider that cannot be reached is named', async () => {
  const gone = await TokenServer.start({})
  await gone.stop()
  await expect(ask({ tokenUrl: `${gone.url}/token` })).rejects.toMatchObject({
    code: 'broker-unavailable',
    message: expect.stringMatching(/http:\/\/127\.0\.0\.1:\d+\/token cannot be asked \(.*ECONNREFUSED/),
  })
})
