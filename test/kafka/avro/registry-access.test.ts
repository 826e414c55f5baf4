/** The credentials of the registry: a real registry behind an HTTPS server that asks for a user, a token or a certificate, also when their files are replaced. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { schemaTexts } from '../../../schemas/texts.ts'
import { clusterOf } from '../../../src/log/cluster/cluster.ts'
import { Registry } from '../../../src/log/kafka/avro/registry.ts'
import type { RegistryAddress } from '../../../src/log/kafka/avro/subjects.ts'
import { clusterIn } from '../../../src/program/cli/commands/cluster.ts'
import { newAuthority, type Signed } from '../../tools/certificates.ts'
import { brokers, registryUrl, uniquePrefix } from '../harness.ts'

const folder = mkdtempSync(join(tmpdir(), 'duelog-registry-access-'))
const [ours, others] = [newAuthority(folder, 'ours'), newAuthority(folder, 'others')]
const person = ours.sign('person')
const stranger = others.sign('person')
const tokenFile = join(folder, 'token')

/** Who may ask at the moment. */
let isWelcome: (request: IncomingMessage) => boolean
let requests = 0
let server: Server
let url: string

beforeAll(async () => {
  const target = new URL(registryUrl)
  server = createServer({ ...ours.sign('registry'), ca: ours.ca, requestCert: true, rejectUnauthorized: false }, (from, to) => {
    requests++
    if (!isWelcome(from)) return void to.writeHead(401).end('who are you?')
    const { authorization: _, host: __, ...headers } = from.headers
    const on = request({ host: target.hostname, port: target.port, path: from.url, method: from.method, headers }, (answer) => {
      to.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(to)
    })
    on.on('error', () => to.destroy())
    from.pipe(on)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `https://127.0.0.1:${(server.address() as AddressInfo).port}${target.pathname}`
})
afterAll(() => {
  server?.closeAllConnections()
  server?.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Asks for the schema, and registers it. */
const open = (more: Partial<RegistryAddress>): Promise<number> =>
  new Registry({ registryUrl: url, ssl: { ca: ours.ca }, ...more }).register(`${uniquePrefix()}pauses-value`, schemaTexts.pause)
const carries = (authorization: string) => (from: IncomingMessage) => from.headers.authorization === authorization
const basic = `Basic ${Buffer.from('me:hidden').toString('base64')}`

test('each kind of credential opens the registry, in every request, and a wrong one is refused without what it holds', async () => {
  writeFileSync(tokenFile, 'hidden-1\n')
  for (const [welcome, right, wrong] of [
    [carries(basic), { auth: { username: 'me', password: 'hidden' } }, { auth: { username: 'me', password: 'hidden!' } }],
    [carries('Bearer hidden-1'), { auth: { token: 'hidden-1' } }, { auth: { token: 'hidden-2' } }],
    [carries('Bearer hidden-1'), { auth: { tokenFile } }, {}],
    [
      ({ socket }) => (socket as TLSSocket).authorized,
      { ssl: { ca: ours.ca, cert: person.cert, key: person.key } },
      { ssl: { ca: ours.ca, cert: stranger.cert, key: stranger.key } },
    ],
  ] satisfies [(from: IncomingMessage) => boolean, Partial<RegistryAddress>, Partial<RegistryAddress>][]) {
    isWelcome = welcome
    requests = 0
    await open(right)
    expect(requests).toBeGreaterThan(1)
    const refusal = await open(wrong).catch((error: Error) => error)
    expect(refusal).toMatchObject({ code: 'bad-config', message: expect.stringMatching(/status 401.*SCHEMA_REGISTRY_TOKEN/) })
    expect((refusal as Error).message).not.toContain('hidden')
  }
}, 60_000)

test('a token file is read again: a new token holds from the next request on', async () => {
  isWelcome = carries('Bearer second')
  writeFileSync(tokenFile, 'first')
  await expect(open({ auth: { tokenFile } })).rejects.toMatchObject({ code: 'bad-config' })
  writeFileSync(tokenFile, 'second')
  await open({ auth: { tokenFile } })
  writeFileSync(tokenFile, 'two\nlines')
  await expect(open({ auth: { tokenFile } })).rejects.toThrow(/does not hold a token/)
  rmSync(tokenFile)
  await expect(open({ auth: { tokenFile } })).rejects.toThrow(/ENOENT/)
}, 60_000)

/** Files as a certificate manager replaces them, one after the other. */
const renewed = {
  caFile: join(folder, 'renewed-ca'),
  certFile: join(folder, 'renewed-cert'),
  keyFile: join(folder, 'renewed-key'),
}
const named = (name: string) => (from: IncomingMessage) => {
  const { authorized, getPeerCertificate } = from.socket as TLSSocket
  return authorized && getPeerCertificate.call(from.socket).subject?.CN === name
}

test('files of certificates are read again: new ones hold from the next request on, as soon as both are there', async () => {
  const [first, second, third] = ['first', 'second', 'third'].map((name) => ours.sign(name)) as [Signed, Signed, Signed]
  writeFileSync(renewed.caFile, ours.ca)
  writeFileSync(renewed.certFile, first.cert)
  writeFileSync(renewed.keyFile, first.key)
  const registry = new Registry({ registryUrl: url, ssl: renewed })
  const subject = `${uniquePrefix()}pauses-value`
  // It looks, registers and sets the level: by our requests and by those of the client library.
  const ask = (schema: string = schemaTexts.pause) => registry.register(subject, schema)
  isWelcome = named('first')
  await ask()
  writeFileSync(renewed.certFile, second.cert)
  await ask()
  writeFileSync(renewed.keyFile, second.key)
  isWelcome = named('second')
  requests = 0
  await ask()
  expect(requests).toBeGreaterThan(1)
  rmSync(renewed.keyFile)
  writeFileSync(renewed.certFile, third.cert)
  await ask()
  writeFileSync(renewed.keyFile, third.key)
  isWelcome = named('third')
  await ask()
  // Another authority of the registry, too.
  server.setSecureContext({ ...others.sign('registry'), ca: ours.ca })
  const later = new Registry({ registryUrl: url, ssl: renewed })
  try {
    await expect(later.register(subject, schemaTexts.pause)).rejects.toThrow(/certificate.*SCHEMA_REGISTRY_CA_FILE/)
    writeFileSync(renewed.caFile, others.ca)
    await later.register(subject, schemaTexts.pause)
  } finally {
    server.setSecureContext({ ...ours.sign('registry'), ca: ours.ca })
  }
  await expect(open({ ssl: { caFile: join(folder, 'absent') } })).rejects.toThrow(/ENOENT/)
}, 60_000)

test('a certificate of an unknown authority is refused, and the message says what to set', async () => {
  isWelcome = () => true
  for (const ssl of [undefined, { ca: others.ca }])
    await expect(open({ ssl })).rejects.toThrow(/certificate.*SCHEMA_REGISTRY_CA_FILE/)
}, 60_000)

test('settings, commands and options lead there', async () => {
  isWelcome = ({ headers, socket }) => headers.authorization === 'Bearer third' && (socket as TLSSocket).authorized
  writeFileSync(tokenFile, 'third')
  const options = await clusterIn(
    {
      KAFKA_BROKERS: brokers.join(','),
      SCHEMA_REGISTRY_URL: url,
      SCHEMA_REGISTRY_TOKEN_FILE: tokenFile,
      SCHEMA_REGISTRY_CA_FILE: ours.caFile,
      SCHEMA_REGISTRY_CERT_FILE: person.certFile,
      SCHEMA_REGISTRY_KEY_FILE: person.keyFile,
    },
    'test',
  )
  const cluster = clusterOf(options)
  expect((await cluster.schemaStandings(['default'])).length).toBeGreaterThan(0)
  // Its files were replaced.
  const next = ours.sign('next')
  writeFileSync(person.certFile, next.cert)
  writeFileSync(person.keyFile, next.key)
  isWelcome = named('next')
  writeFileSync(tokenFile, 'fourth')
  expect((await cluster.schemaStandings(['default'])).length).toBeGreaterThan(0)
}, 60_000)
