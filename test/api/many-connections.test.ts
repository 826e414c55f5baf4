/** A client holds the maximum number of connections. Other clients still get answers. */
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import type { ApiOptions } from '../../src/server/api/context/context.ts'
import {
  bodiesMax,
  bodiesPerCallerMax,
  connectionIdleMs,
  connectionsMax,
  headersReceiveMs,
  listBytesMax,
  unreadCharsMax,
} from '../../src/server/api/schemas/limits.ts'
import { createSystem } from './system-in-memory.ts'

const request = (path: string) => `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`

/** A connection of a client. It reads all the time, because otherwise it would not see that it was closed. */
class Line {
  readonly socket: Socket
  readonly closed: Promise<unknown>
  readonly #answers: string[] = []
  #wanted: ((answer: string) => void) | undefined

  constructor(socket: Socket) {
    this.socket = socket
    this.closed = once(socket, 'close')
    socket.on('error', () => {})
    socket.on('data', (bytes) => {
      if (this.#wanted === undefined) this.#answers.push(String(bytes))
      else this.#wanted(String(bytes))
      this.#wanted = undefined
    })
  }

  /** Its next answer. Rejects if the connection closes first. */
  answered(): Promise<string> {
    const answer = this.#answers.shift()
    if (answer !== undefined) return Promise.resolve(answer)
    return new Promise((resolve, reject) => {
      this.#wanted = resolve
      void this.closed.then(() => reject(new Error('It was closed without an answer.')))
    })
  }
}

async function openHouse(change: Partial<ApiOptions> = {}) {
  const system = createSystem(change)
  const port = Number(new URL(await system.api.listen('127.0.0.1', 0)).port)
  const { server } = system.api.instance
  const lines: Line[] = []
  const responses: ServerResponse[] = []
  server.on('request', (_request, response) => responses.push(response))
  onTestFinished(async () => {
    for (const { socket } of lines) socket.destroy()
    await system.api.stop()
  })
  /** A connection that has sent this text, from an address of this machine. */
  const open = async (text: string, localAddress = '127.0.0.1'): Promise<Line> => {
    const line = new Line(connect({ host: '127.0.0.1', port, localAddress }))
    lines.push(line)
    await once(line.socket, 'connect')
    line.socket.write(text)
    return line
  }
  /** The maximum number of connections; the server has accepted each. */
  const flood = async (text: string, isAnswered: boolean): Promise<Line[]> => {
    let seen = 0
    const all = Promise.withResolvers<void>()
    server.on('connection', () => ++seen === connectionsMax && all.resolve())
    const flooding: Line[] = []
    for (let count = 0; count < connectionsMax; count += 100)
      flooding.push(...(await Promise.all(Array.from({ length: 100 }, () => open(text)))))
    await all.promise
    if (isAnswered) await Promise.all(flooding.map((line) => line.answered()))
    return flooding
  }
  /** Resolves when this many more requests have arrived. With a negative number: when this many have ended. */
  const coming = (count: number): Promise<void> => {
    let left = Math.abs(count)
    const all = Promise.withResolvers<void>()
    const one = (): void => void (--left === 0 && all.resolve())
    server.on('request', (_request, response) => (count > 0 ? one() : response.once('close', one)))
    if (count < 0) for (const response of responses) response.once('close', one)
    return all.promise
  }
  return { system, server, open, flood, coming }
}

test.each([
  ['that say nothing', '', false],
  ['whose headers do not come to their end', 'GET /livez HTTP/1.1\r\nx-slow: ', false],
  ['that were answered and stay', request('/livez'), true],
])('idle connections %s are closed for new ones', async (_, text, isAnswered) => {
  const { open, flood } = await openHouse()
  const flooding = await flood(text, isAnswered)
  for (let time = 0; time < 3; time++) expect(await (await open(request('/livez'))).answered()).toMatch(/^HTTP\/1\.1 200/)
  // These connections have waited longest.
  await Promise.race(flooding.slice(0, 100).map((line) => line.closed))
  expect(flooding.slice(-100).some(({ socket }) => socket.destroyed)).toBe(false)
})

test('connections of callers with fewer stay, and so do those with an active request', async () => {
  const { open, flood } = await openHouse()
  const listener = await open(request('/v1/events'))
  expect(await listener.answered()).toMatch(/^HTTP\/1\.1 200/)
  const neighbor = await open(request('/livez'), '127.0.0.2')
  expect(await neighbor.answered()).toMatch(/^HTTP\/1\.1 200/)
  const flooding = await flood('GET /', false)
  await Promise.race(flooding.map((line) => line.closed))
  // Both are older than all connections of the flood.
  neighbor.socket.write(request('/livez'))
  expect(await neighbor.answered()).toMatch(/^HTTP\/1\.1 200/)
  expect(listener.socket.destroyed).toBe(false)
})

test('connections with an active request are closed if all have one, and a probe from another address is answered', async () => {
  const { system, open, flood, coming } = await openHouse()
  system.owner.job = () => new Promise(() => {})
  const all = coming(connectionsMax)
  const flooding = await flood(request('/v1/jobs/slow'), false)
  await all
  const probe = await open(request('/livez'), '127.0.0.2')
  expect(await probe.answered()).toMatch(/^HTTP\/1\.1 200/)
  await Promise.race(flooding.slice(0, 100).map((line) => line.closed))
  expect(flooding.slice(-100).some(({ socket }) => socket.destroyed)).toBe(false)
  expect(probe.socket.destroyed).toBe(false)
})

test('a new connection stays open until its request arrives, however many follow it', async () => {
  const { system, server, open, flood, coming } = await openHouse()
  system.owner.job = () => new Promise(() => {})
  const all = coming(connectionsMax)
  await flood(request('/v1/jobs/slow'), false)
  await all
  const newcomer = await open('', '127.0.0.2')
  for (let count = 0; count < 10; count++) {
    const later = once(server, 'connection')
    await open('', '127.0.0.1')
    await later
  }
  newcomer.socket.write(request('/livez'))
  expect(await newcomer.answered()).toMatch(/^HTTP\/1\.1 200/)
})

test('bodies that never end make room, and are not counted after they are closed', async () => {
  const { open, coming } = await openHouse()
  const put = 'PUT /v1/jobs/slow HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 90\r\n\r\n{'
  const all = coming(bodiesMax)
  const slow: Line[] = []
  for (let count = 0; count < bodiesMax; count += 100)
    slow.push(...(await Promise.all(Array.from({ length: 100 }, () => open(put)))))
  await all
  expect(await (await open(put)).answered()).toMatch(/^HTTP\/1\.1 503.*overloaded/s)
  expect(await (await open(request('/v1/jobs/nowhere'))).answered()).toMatch(/^HTTP\/1\.1 404/)
  const gone = coming(-1)
  slow[0]?.socket.destroy()
  await gone
  // It replaces one; it waits for its body.
  const next = coming(1)
  await open(put)
  await next
})

test('bodies of one caller leave room for others, and bodies of all viewers leave room for writers', async () => {
  const token = (role: 'viewer' | 'operator', name: string) => ({ role, name, token: `a-long-token-of-the-${name}` })
  const tokens = [token('viewer', 'one'), token('viewer', 'other'), token('operator', 'writer')]
  const { open, coming } = await openHouse({ apiTokens: tokens })
  const sent = (line: string, name: string) =>
    `${line} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer a-long-token-of-the-${name}\r\ncontent-type: application/json\r\ncontent-length: 90\r\n\r\n{`
  const plan = (name: string) => sent('POST /v1/jobs/plan', name)
  const all = coming(bodiesPerCallerMax)
  for (let count = 0; count < bodiesPerCallerMax; count += 100)
    await Promise.all(Array.from({ length: 100 }, (_, index) => open(plan(index < 50 ? 'one' : 'other'))))
  await all
  for (const name of ['one', 'other']) expect(await (await open(plan(name))).answered()).toMatch(/^HTTP\/1\.1 503.*overloaded/s)
  const put = await open(sent('PUT /v1/jobs/a', 'writer'))
  put.socket.write(
    JSON.stringify({ schedule: { everyMs: 60_000 }, target: { handler: 'h' } })
      .slice(1)
      .padEnd(89),
  )
  expect(await put.answered()).toMatch(/^HTTP\/1\.1 200/)
})

/** A system whose list of all jobs is about as large as possible. */
async function houseOfLargeJobs() {
  const house = await openHouse()
  const payload = 'x'.repeat(500_000)
  const job = { schedule: { everyMs: 60_000 }, target: { handler: 'h' }, contentType: 'text/plain', payload }
  for (let at = 0; at * payload.length < listBytesMax; at++)
    await house.system.api.instance.inject({ method: 'PUT', url: `/v1/jobs/${at}`, payload: job })
  /** Sends a request and reads nothing. Resolves with the server's socket when the answer has begun. */
  const silent = async (text: string, localAddress = '127.0.0.1'): Promise<Socket> => {
    const accepted = once(house.server, 'connection') as Promise<[Socket]>
    const { port } = house.server.address() as AddressInfo
    const socket = connect({ host: '127.0.0.1', port, localAddress }).on('error', () => {})
    onTestFinished(() => void socket.destroy())
    socket.write(text)
    const [[theirs]] = await Promise.all([accepted, once(socket, 'readable')])
    return theirs
  }
  return { ...house, silent }
}
const list = request('/v1/jobs?limit=1000')
const listsMax = Math.ceil(unreadCharsMax / listBytesMax) + 2

test('a caller that asks for large answers on many connections and reads none loses those that have waited longest; others lose none', async () => {
  const { silent } = await houseOfLargeJobs()
  const neighbor = await silent(list, '127.0.0.2')
  const sockets: Socket[] = []
  for (let count = 0; count < listsMax; count++) sockets.push(await silent(list))
  const cut = sockets.filter(({ destroyed }) => destroyed)
  expect(cut.length).toBeGreaterThan(0)
  expect(cut).toHaveLength(sockets.findIndex(({ destroyed }) => !destroyed))
  expect(neighbor.destroyed).toBe(false)
})

test('each such connection also has a time limit', async () => {
  const { server } = await openHouse()
  expect(server.headersTimeout).toBe(headersReceiveMs)
  expect(server.keepAliveTimeout).toBe(connectionIdleMs)
  expect(server.timeout).toBe(connectionIdleMs)
})

test.each([
  ['in one packet', (path: string) => [request(path).repeat(500)]],
  ['while the first is at work', (path: string) => [request(path), request(path).repeat(500)]],
])('of pipelined requests that come %s, the first alone is served, and its connection is closed', async (_, packetsOf) => {
  const { system, open, coming } = await openHouse()
  const asked = Promise.withResolvers<void>()
  const release = Promise.withResolvers<undefined>()
  let questions = 0
  system.owner.job = () => {
    questions++
    asked.resolve()
    return release.promise
  }
  const [first = '', second] = packetsOf('/v1/jobs/slow')
  const line = await open(first)
  await asked.promise
  if (second !== undefined) {
    const arrived = coming(1)
    line.socket.write(second)
    await arrived
  }
  release.resolve(undefined)
  expect(await line.answered()).toMatch(/^HTTP\/1\.1 404.*\r\nconnection: close\r\n/is)
  await line.closed
  const ofFirst = questions
  // Others are served, and so is one that waits for each answer.
  const patient = await open(request('/livez'))
  for (let time = 0; time < 3; time++) {
    expect(await patient.answered()).toMatch(/^HTTP\/1\.1 200/)
    patient.socket.write(request('/livez'))
  }
  questions = 0
  await (await open(request('/v1/jobs/slow'))).answered()
  expect(ofFirst).toBe(questions)
})

test('probes, pages and unknown paths have a rate for each address, and a connection that ignores refusals is closed', async () => {
  const { open } = await openHouse({ ratePerSecond: 5 })
  const line = await open('')
  const statuses: number[] = []
  let last = ''
  for (let count = 0; count < 10 + 16; count++) {
    line.socket.write(request(['/livez', '/readyz', '/', '/nowhere'][count % 4] ?? ''))
    last = await line.answered()
    statuses.push(Number(last.slice(9, 12)))
  }
  expect(statuses.slice(0, 10)).not.toContain(429)
  expect(statuses.slice(10)).toEqual(Array.from({ length: 16 }, () => 429))
  expect(last).toMatch(/\r\nconnection: close\r\n/i)
  await line.closed
  expect(await (await open(request('/livez'), '127.0.0.2')).answered()).toMatch(/^HTTP\/1\.1 200/)
})
