/** The API over HTTPS: who trusts it, what it refuses, and that a new certificate takes the place of the old one. */
import { once } from 'node:events'
import { appendFileSync, copyFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ConnectionOptions, connect } from 'node:tls'
import { pino } from 'pino'
import { afterAll, expect, onTestFinished, test, vi } from 'vitest'
import { createClient } from '../../src/clients/library/create-client.ts'
import { ApiClient } from '../../src/clients/remote/api-client.ts'
import { uploadLines } from '../../src/clients/remote/batch-upload.ts'
import { fetchWith } from '../../src/ground/network/tls-fetch.ts'
import { watchCertificate } from '../../src/server/api/http/certificate.ts'
import { remoteQueries } from '../../src/server/peers/remote-queries.ts'
import { duelogHere } from '../cli/built-program.ts'
import { newAuthority } from '../tools/certificates.ts'
import { createSystem } from './system-in-memory.ts'

const folder = mkdtempSync(join(tmpdir(), 'duelog-https-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const [ours, others] = [newAuthority(folder, 'ours'), newAuthority(folder, 'others')]
const [first, second] = [ours.sign('first'), others.sign('second')]
const files = { certFile: join(folder, 'server.pem'), keyFile: join(folder, 'server.key') }
const install = ({ certFile, keyFile }: { certFile: string; keyFile: string }): void => {
  copyFileSync(keyFile, files.keyFile)
  copyFileSync(certFile, files.certFile)
}

async function start(https = files) {
  install(first)
  const messages: string[] = []
  const logger = pino({ level: 'info' }, { write: (line: string) => void messages.push(JSON.parse(line).msg) })
  const system = createSystem({ https, logger })
  onTestFinished(() => system.api.stop())
  const url = await system.api.listen('127.0.0.1', 0)
  const logged = (words: RegExp) => vi.waitUntil(() => messages.some((message) => words.test(message)), { timeout: 60_000 })
  return { system, url, logged, messages, port: Number(new URL(url).port) }
}

const statusOf = (url: string, ca: string): Promise<number> => fetchWith({ ca })(`${url}/livez`).then(({ status }) => status)

/** A connection, and what it gets for a request. */
async function open(port: number, options: ConnectionOptions) {
  const socket = connect({ port, host: '127.0.0.1', ...options })
  onTestFinished(() => void socket.destroy())
  await once(socket, 'secureConnect')
  const ask = async (): Promise<string> => {
    socket.write('GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n')
    return String((await once(socket, 'data'))[0]).split('\r\n')[0] as string
  }
  return { socket, ask, issuer: () => socket.getPeerCertificate().issuer.CN }
}

test('callers that know its authority are served, and others learn what to set', async () => {
  const { url, system } = await start()
  expect(url).toMatch(/^https:/)
  expect(await statusOf(url, ours.ca)).toBe(200)
  await expect(createClient({ url, ca: ours.ca }).partitions()).resolves.toHaveLength(4)
  await expect(createClient({ url }).partitions()).rejects.toThrow(/unknown authority.*--ca or DUELOG_CA_FILE.*option ca/)
  await expect(remoteQueries(url, { fetch: fetchWith({ ca: ours.ca }) }).partitions()).resolves.toHaveLength(4)
  await expect(remoteQueries(url).partitions()).rejects.toMatchObject({ code: 'not-ready' })
  const api = new ApiClient({ url, token: undefined, ca: ours.ca, givenBy: 'the test' }, new AbortController().signal)
  const lines = async function* (): AsyncGenerator<string> {
    yield JSON.stringify({ id: 'a', schedule: { at: 1 }, target: { handler: 'h' } })
  }
  await uploadLines(api, lines(), ({ ok }) => expect(ok).toBe(true))
  expect(system.log.written.length).toBe(1)
  const run = (...args: string[]) => duelogHere(['jobs', 'list', '--url', url, ...args])
  expect(await run('--ca', ours.caFile)).toMatchObject({ code: 0 })
  expect(await run('--ca', others.caFile)).toMatchObject({ code: 3, err: expect.stringMatching(/--ca or DUELOG_CA_FILE/) })
  expect(await run('--ca', join(folder, 'absent'))).toMatchObject({ code: 2, err: expect.stringMatching(/--ca is .*absent/) })
})

test('callers that know an authority also reach processes that still speak HTTP', async () => {
  const system = createSystem()
  onTestFinished(() => system.api.stop())
  const url = await system.api.listen('127.0.0.1', 0)
  expect(url).toMatch(/^http:/)
  expect(await statusOf(url, ours.ca)).toBe(200)
  await expect(remoteQueries(url, { fetch: fetchWith({ ca: ours.ca }) }).partitions()).resolves.toHaveLength(4)
  await expect(createClient({ url, ca: ours.ca }).partitions()).resolves.toHaveLength(4)
})

test('old TLS and HTTP are refused, and the server goes on', async () => {
  const { url, port } = await start()
  await expect(open(port, { ca: ours.ca, minVersion: 'TLSv1', maxVersion: 'TLSv1.1' })).rejects.toThrow()
  await expect(fetch(`http://127.0.0.1:${port}/livez`)).rejects.toThrow()
  expect(await (await open(port, { ca: ours.ca, maxVersion: 'TLSv1.2' })).ask()).toBe('HTTP/1.1 200 OK')
  expect(await statusOf(url, ours.ca)).toBe(200)
})

test('a new certificate serves new connections, open ones go on, and one that cannot be used changes nothing', async () => {
  const { port, url, logged } = await start()
  const before = await open(port, { ca: ours.ca })
  expect([await before.ask(), before.issuer()]).toEqual(['HTTP/1.1 200 OK', 'ours'])
  copyFileSync(second.keyFile, files.keyFile)
  await logged(/cannot be used/)
  expect(await statusOf(url, ours.ca)).toBe(200)
  install(second)
  await logged(/was replaced/)
  expect((await open(port, { ca: others.ca })).issuer()).toBe('others')
  expect([await before.ask(), before.issuer()]).toEqual(['HTTP/1.1 200 OK', 'ours'])
}, 60_000)

/** A folder with links to the files of a folder beside it. */
function linked(name: string, { certFile, keyFile }: { certFile: string; keyFile: string }) {
  const [links, target] = [join(folder, name), join(folder, `${name}-target`)]
  for (const path of [links, target]) mkdirSync(path)
  copyFileSync(certFile, join(target, 'c'))
  copyFileSync(keyFile, join(target, 'k'))
  for (const file of ['c', 'k']) symlinkSync(join(target, file), join(links, file))
  return { target, links, https: { certFile: join(links, 'c'), keyFile: join(links, 'k') } }
}
const exchange = ({ certFile, keyFile }: { certFile: string; keyFile: string }, folder: string): void => {
  copyFileSync(keyFile, join(folder, 'k'))
  copyFileSync(certFile, join(folder, 'c'))
}

test('a certificate that links lead to is seen in its own folder, also after the links lead elsewhere', async () => {
  const { links, target, https } = linked('links', first)
  const { port, logged, messages } = await start(https)
  exchange(second, target)
  await logged(/was replaced/)
  expect((await open(port, { ca: others.ca })).issuer()).toBe('others')
  messages.length = 0
  const other = linked('others', first)
  for (const file of ['c', 'k']) {
    symlinkSync(join(other.target, file), join(links, 'new'))
    renameSync(join(links, 'new'), join(links, file))
  }
  await logged(/was replaced/)
  messages.length = 0
  exchange(second, other.target)
  await logged(/was replaced/)
  expect((await open(port, { ca: others.ca })).issuer()).toBe('others')
}, 60_000)

test('a folder in which others write all the time does not keep a new certificate out', async () => {
  const { target, https } = linked('busy', first)
  const { port, logged } = await start(https)
  const writing = setInterval(() => appendFileSync(join(target, 'access.log'), 'x'), 100)
  onTestFinished(() => clearInterval(writing))
  exchange(second, target)
  await logged(/was replaced/)
  expect((await open(port, { ca: others.ca })).issuer()).toBe('others')
}, 60_000)

/** The warnings of 25 hours, in which the files are read 25 times. */
function warnings(keyFile: string, atMs: number): string[] {
  vi.useFakeTimers({ now: Date.now() + atMs, toFake: ['Date', 'performance', 'setTimeout', 'clearTimeout'] })
  try {
    const messages: string[] = []
    const logger = { info: () => {}, warn: (_: object, message: string) => void messages.push(message) }
    const clock = { nowMs: () => Date.now(), steadyMs: () => performance.now() }
    const end = watchCertificate({ certFile: first.certFile, keyFile }, {} as never, first, { clock, logger })
    vi.advanceTimersByTime(25 * 3_600_000)
    end()
    return messages
  } finally {
    vi.useRealTimers()
  }
}

test('a certificate that has expired, or is about to, is said once a day, and one that cannot be used once', () => {
  const days = 86_400_000
  // It is valid for two days.
  expect(warnings(first.keyFile, 0)).toEqual([])
  expect(warnings(first.keyFile, 0.9 * days)).toEqual([expect.stringMatching(/expires soon/)])
  expect(warnings(first.keyFile, 3 * days)).toEqual([expect.stringMatching(/has expired/), expect.stringMatching(/has expired/)])
  expect(warnings(second.keyFile, 0)).toEqual([expect.stringMatching(/cannot be used/)])
})

test('files that are absent, or do not belong together, end the start', () => {
  const made = (more: object) => () => createSystem({ https: { certFile: first.certFile, keyFile: first.keyFile, ...more } })
  expect(made({ keyFile: second.keyFile })).toThrow(/does not belong to the certificate/)
  expect(made({ certFile: join(folder, 'absent') })).toThrow(/DUELOG_HTTPS_CERT_FILE .*cannot be read/)
  expect(made({ certFile: first.keyFile })).toThrow(/is no PEM file/)
})
