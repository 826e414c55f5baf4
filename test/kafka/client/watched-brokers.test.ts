/** A silent broker: which client detects it, and which clients need not wait for it. The broker is a server of the test. */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { WatchedBrokers } from '../../../src/log/kafka/client/watched-brokers.ts'

const metadata = 3
const produce = 0
const joinGroup = 11
const apiVersions = 18
const timeouts = { quickMs: 40, slowMs: 60_000, joinMs: 60_000 }

/** A server that answers each request, or none, and records its requests. */
async function startBroker() {
  const asked: number[] = []
  const checks = new Set<() => void>()
  const sockets = new Set<Socket>()
  let isSilent = false
  let held: (() => void)[] | undefined
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    let rest = Buffer.alloc(0)
    socket.on('data', (data) => {
      rest = Buffer.concat([rest, data])
      for (
        let size = 4 + rest.readInt32BE(0);
        rest.length >= size;
        size = rest.length >= 4 ? 4 + rest.readInt32BE(0) : Infinity
      ) {
        asked.push(rest.readInt16BE(4))
        const answer = (): void => void socket.write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0]))
        if (held !== undefined && (isSilent || rest.readInt16BE(4) !== apiVersions)) held.push(answer)
        else if (!isSilent) answer()
        rest = rest.subarray(size)
        if (rest.length < 4) break
      }
      for (const check of checks) check()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return {
    to: { host: '127.0.0.1', port: (server.address() as AddressInfo).port },
    silent(yes: boolean) {
      isSilent = yes
    },
    /** From now on it answers only when `release` is called. It still answers probes at once, unless it is silent. */
    hold() {
      held = []
    },
    release() {
      for (const answer of held ?? []) answer()
      held = undefined
    },
    /** Resolves when it has received this many requests. */
    until: (apiKey: number, count: number): Promise<void> =>
      new Promise((resolve) => {
        const check = (): void => {
          if (asked.filter((key) => key === apiKey).length >= count) resolve()
        }
        checks.add(check)
        check()
      }),
  }
}

function request(apiKey: number): Buffer {
  const bytes = Buffer.alloc(12)
  bytes.writeInt32BE(8, 0)
  bytes.writeInt16BE(apiKey, 4)
  return bytes
}

const said: string[] = []
const logger = {
  info: (_: object, message: string) => said.push(message),
  warn: (_: object, message: string) => said.push(message),
}
type Broker = Awaited<ReturnType<typeof startBroker>>

function watching(broker: Broker, limits = timeouts) {
  const brokers = new WatchedBrokers({ timeouts: limits, logger })
  const open = (): Socket => {
    const socket = brokers.open({ ...broker.to, ssl: undefined as never, onConnect: () => {} })
    onTestFinished(() => void socket.destroy())
    return socket
  }
  const connected = async (): Promise<Socket> => {
    const socket = open()
    await once(socket, 'connect')
    return socket
  }
  /** Resolves with the error that ends a connection. */
  const end = (socket: Socket): Promise<NodeJS.ErrnoException> => new Promise((resolve) => socket.once('error', resolve))
  /** Opens connections until one is established. */
  const reconnected = async (): Promise<Socket> => {
    while (true) {
      const socket = open()
      const stands = await new Promise<boolean>((resolve) => {
        socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
      })
      if (stands) return socket
    }
  }
  const aways: boolean[] = []
  brokers.onAway((isAway) => aways.push(isAway))
  return { brokers, open, connected, end, reconnected, aways }
}

test('a connection with an unanswered quick request is closed, and the error makes kafkajs look for another broker', async () => {
  const broker = await startBroker()
  const { connected, end } = watching(broker)
  const socket = await connected()
  broker.silent(true)
  const ended = end(socket)
  socket.write(request(metadata))
  expect(await ended).toMatchObject({ code: 'ECONNREFUSED', message: expect.stringContaining('nothing was answered') })
})

test('tells when a broker last sent anything: a request or a connection is no answer', async () => {
  const broker = await startBroker()
  const { brokers, connected } = watching(broker)
  const socket = await connected()
  expect(brokers.heardAtMs).toBe(0)
  socket.write(request(metadata))
  await once(socket, 'data')
  const heardAtMs = brokers.heardAtMs
  expect(heardAtMs).toBeGreaterThan(0)
  broker.silent(true)
  socket.write(request(metadata))
  await new Promise((resolve) => socket.once('error', () => undefined).once('close', resolve))
  expect(brokers.heardAtMs).toBe(heardAtMs)
})

test('no call waits for a silent broker, and its other connections close with the first, also idle ones and those of a join', async () => {
  const broker = await startBroker()
  const { connected, end, open } = watching(broker)
  const [first, joining, idle] = [await connected(), await connected(), await connected()]
  broker.silent(true)
  joining.write(request(joinGroup))
  const ends = [joining, idle].map(end)
  first.write(request(metadata))
  await end(first)
  // It is probed. In the meantime a connect fails at once.
  await broker.until(apiVersions, 1)
  expect(await end(open())).toMatchObject({ code: 'ECONNREFUSED', message: expect.stringContaining('has not answered') })
  for (const ended of ends) expect(await ended).toMatchObject({ message: expect.stringContaining('is silent') })
})

test('a silent broker is probed repeatedly, and used again when it answers', async () => {
  const broker = await startBroker()
  const { connected, end, reconnected } = watching(broker)
  const socket = await connected()
  broker.silent(true)
  socket.write(request(metadata))
  await end(socket)
  await broker.until(apiVersions, 2)
  broker.silent(false)
  const next = await reconnected()
  next.write(request(metadata))
  await once(next, 'data')
  const ofIt = said.filter((message) => message.includes(`:${broker.to.port} `))
  expect(ofIt).toEqual([expect.stringContaining('is silent'), expect.stringContaining('answers again')])
})

test('a slow request continues if the broker answers a probe', async () => {
  const broker = await startBroker()
  const { connected, end } = watching(broker, { ...timeouts, slowMs: 60 })
  const slow = await connected()
  broker.silent(true)
  const ended = end(slow)
  slow.write(request(produce))
  slow.once('close', () => broker.silent(false))
  // It may get a request before its answer is fully overdue. The connection ends only when the answer is overdue.
  await broker.until(apiVersions, 1)
  expect((await ended).message).toMatch(/nothing was answered|is silent/)
})

test('answers that come in pieces, or several at once, are counted', async () => {
  const broker = await startBroker()
  const { connected } = watching(broker)
  const socket = await connected()
  for (let n = 0; n < 3; n++) socket.write(Buffer.concat([request(metadata)]))
  let bytes = 0
  await new Promise<void>((resolve) => {
    socket.on('data', (data) => {
      bytes += data.length
      if (bytes >= 24) resolve()
    })
  })
  // A later request is now the oldest, and the only one with a time limit.
  broker.silent(true)
  socket.write(request(metadata))
  const [error] = await once(socket, 'error').catch((thrown) => [thrown])
  expect(error.message).toContain('nothing was answered')
})

test('a request on a connection that has just closed is rejected at once', async () => {
  const broker = await startBroker()
  const { connected, end } = watching(broker)
  const socket = await connected()
  socket.destroy()
  await once(socket, 'close')
  const ended = end(socket)
  socket.write(request(metadata))
  expect((await ended).message).toContain('has ended')
})

test('a broker that answers probes but is slow with everything else loses its connections once', async () => {
  const broker = await startBroker()
  const { connected, end, reconnected } = watching(broker)
  const first = await connected()
  broker.hold()
  first.write(request(metadata))
  await end(first)
  const next = await reconnected()
  next.write(request(metadata))
  // It is probed, and the answer keeps the connection.
  await broker.until(apiVersions, 2)
  broker.release()
  await once(next, 'data')
  expect(next.destroyed).toBe(false)
  // On a busy machine it may have counted as silent before.
  expect(said.filter((message) => message.includes(`:${broker.to.port} `)).join()).toMatch(/is slow|answers again/)
})

test('a broker that answers probes late is slow too, and not lost', async () => {
  const broker = await startBroker()
  const { connected, end, reconnected } = watching(broker)
  const first = await connected()
  broker.hold()
  broker.silent(true)
  first.write(request(metadata))
  await end(first)
  // The second probe is sent when the first is overdue and still unanswered.
  await broker.until(apiVersions, 2)
  broker.silent(false)
  broker.release()
  const next = await reconnected()
  broker.hold()
  next.write(request(metadata))
  await broker.until(apiVersions, 3)
  broker.release()
  await once(next, 'data')
  expect(next.destroyed).toBe(false)
})

test('brokers count as unreachable from the first failure until any of them answers', async () => {
  const broker = await startBroker()
  const { connected, end, reconnected, aways } = watching(broker)
  const socket = await connected()
  socket.write(request(metadata))
  await once(socket, 'data')
  expect(aways).toEqual([])
  broker.silent(true)
  const ended = end(socket)
  socket.write(request(metadata))
  await ended
  expect(aways).toEqual([true])
  broker.silent(false)
  const again = await reconnected()
  expect(aways).toEqual([true, false])
  again.destroy()
  const gone = await startBroker()
  const nobody = watching({ ...gone, to: { host: '127.0.0.1', port: 1 } })
  await nobody.end(nobody.open())
  expect(nobody.aways).toEqual([true])
})
