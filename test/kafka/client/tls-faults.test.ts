/** Failures of TLS to brokers, by real handshakes with servers that refuse: the message says who refuses what, and which setting to check. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createServer as createTlsServer } from 'node:tls'
import kafkajs, { type KafkaConfig } from 'kafkajs'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { changeRequestQueues } from '../../../src/log/kafka/client/connection.ts'
import { faultOf } from '../../../src/log/kafka/client/errors.ts'
import { newAuthority } from '../../tools/certificates.ts'

const folder = mkdtempSync(join(tmpdir(), 'duelog-tls-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const [ours, theirs] = [newAuthority(folder), newAuthority(folder, 'theirs')]
const [broker, client, stranger] = [ours.sign('broker'), ours.sign('client'), theirs.sign('client')]
changeRequestQueues()

async function listening(server: Server, host = '127.0.0.1'): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  onTestFinished(() => void server.close())
  return `${host}:${(server.address() as AddressInfo).port}`
}

/** OpenSSL says by an alert why it refuses a certificate, as brokers do. A server of Node only ends the connection. */
async function opensslServer(): Promise<string> {
  const own = ['-cert', broker.certFile, '-key', broker.keyFile, '-CAfile', ours.caFile]
  const server = spawn('openssl', ['s_server', '-accept', '127.0.0.1:0', '-Verify', '1', '-verify_return_error', ...own], {
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  onTestFinished(() => void server.kill())
  for await (const line of createInterface(server.stdout)) {
    const [, port] = /^ACCEPT .*:(\d+)$/.exec(line) ?? []
    if (port !== undefined) return `127.0.0.1:${port}`
  }
  throw new Error('openssl s_server has ended')
}

async function failed(address: string, ssl: KafkaConfig['ssl']) {
  const { Kafka, logLevel } = kafkajs
  const admin = new Kafka({ brokers: [address], ssl, retry: { retries: 0 }, logLevel: logLevel.NOTHING }).admin()
  const thrown = await admin.connect().then(
    () => undefined,
    (error: unknown) => error,
  )
  await admin.disconnect()
  const { code, message } = faultOf(thrown, 'Connecting')
  return { code, message: message.replace(address, 'HOST:1') }
}

test.for([
  ['of another authority', { cert: stranger.cert, key: stranger.key }],
  ['none', {}],
] as const)('a client certificate that the broker refuses: %s', async ([, given]) => {
  const { code, message } = await failed(await opensslServer(), { ca: ours.ca, ...given })
  expect(code).toBe('bad-config')
  expect(message).toMatch(
    /^Connecting failed: the broker HOST:1 refuses the client certificate.*\((unknown ca|certificate required)\)\. Set KAFKA_SSL_CERT_FILE and KAFKA_SSL_KEY_FILE/,
  )
})

test('a broker whose certificate is of an unknown authority', async () => {
  const address = await listening(createTlsServer({ cert: broker.cert, key: broker.key }))
  const { code, message } = await failed(address, { ca: theirs.ca, cert: client.cert, key: client.key })
  expect(code).toBe('bad-config')
  expect(message).toMatch(
    /^Connecting failed: no known authority has signed the certificate of the broker HOST:1 .*Set KAFKA_SSL_CA_FILE/,
  )
})

test('a broker whose certificate has other names', async () => {
  const address = await listening(createTlsServer({ cert: broker.cert, key: broker.key }), '127.0.0.2')
  const { code, message } = await failed(address, { ca: ours.ca })
  expect(code).toBe('bad-config')
  expect(message).toMatch(
    /^Connecting failed: the certificate of the broker HOST:1 has other names \(Hostname.*KAFKA_BROKERS.*advertised\.listeners/,
  )
})

test.for(['ends the connection', 'answers without TLS'])('a listener without TLS, which %s', async (what) => {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.end(what === 'ends the connection' ? '' : 'What is that?\n'))
  })
  const { code, message } = await failed(await listening(server), { ca: ours.ca })
  // It may be a broker that stops.
  expect(code).toBe('broker-unavailable')
  expect(message).toMatch(/^Connecting failed: the broker HOST:1 did not answer with TLS .*leave out KAFKA_SSL_ENABLED/)
})

test('a broker whose certificate has expired', () => {
  const expired = Object.assign(new Error('certificate has expired'), { code: 'CERT_HAS_EXPIRED', broker: 'kafka-1:9093' })
  const { code, message } = faultOf(expired, 'Connecting')
  expect(code).toBe('broker-unavailable')
  expect(message).toMatch(
    /^Connecting failed: the certificate of the broker kafka-1:9093, or of its authority, has expired\. Replace it/,
  )
})

test('what is no failure of TLS keeps its message', () => {
  const reset = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
  expect(faultOf(reset, 'Connecting').message).toBe(
    'Connecting failed: read ECONNRESET. Check that the brokers run and can be reached; then try again.',
  )
})
