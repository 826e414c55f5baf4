/**
 * A TCP proxy in front of one broker that understands Kafka's framing, so that tests can lose or hold back single answers.
 *
 *   request   size i32 | api key i16 | api version i16 | correlation id i32 | …
 *   response  size i32 | correlation id i32 | …
 *
 * Brokers tell their clients their own address; give `socketFactory` to the client so that it comes here all the same.
 */
import { connect, createServer, type Server, type Socket } from 'node:net'

/** The numbers of the Kafka requests that tests use. */
export const apiKeys = {
  produce: 0,
  fetch: 1,
  findCoordinator: 10,
  joinGroup: 11,
  heartbeat: 12,
  syncGroup: 14,
  apiVersions: 18,
  initProducerId: 22,
  addPartitionsToTxn: 24,
  endTxn: 26,
  txnOffsetCommit: 28,
} as const

export interface ProxyOptions {
  /** host:port of the broker. */
  target: string
  /** The broker does the work, and the client never gets the response. */
  dropResponse?: (apiKey: number) => boolean
  /** The response waits for `release()`. */
  holdResponse?: (apiKey: number) => boolean
  /** The request, and everything after it on its connection, waits for `release()`. */
  holdRequest?: (apiKey: number) => boolean
  /** The proxy answers such a request as a broker does that does not know this version of it. */
  unknown?: (apiKey: number, apiVersion: number) => boolean
  /** Called with each request that arrives, size included. */
  onRequest?: (apiKey: number, frame: Buffer) => void
}

/** For `unknown`: a broker without features, and so without transactions of version 2. */
export const withoutFeatures = (apiKey: number, apiVersion: number): boolean => apiKey === apiKeys.apiVersions && apiVersion >= 3

export interface Seen {
  apiKey: number
  apiVersion: number
}

export interface KafkaProxy {
  address: string
  port: number
  /** Opens connections to the target through this proxy; for the option of that name in kafkajs. */
  socketFactory(args: { host: string; port: number; onConnect: () => void }): Socket
  /** Every request that passed, in order. */
  requests: Seen[]
  /** Resolves when the next response to such a request is dropped or held, or, without such an option, passed on. */
  answered(apiKey: number): Promise<void>
  /** Resolves when the next such request arrives, held or not. */
  asked(apiKey: number): Promise<void>
  /** Releases everything held, and holds and drops nothing until `arm()`. */
  release(): void
  /** Holds and drops again. */
  arm(): void
  /** Ends all connections as a crashed network would. */
  cut(): void
  /** Refuses new connections, or accepts them again. */
  refuse(yes: boolean): void
  /** Resolves when `count` connections have been refused in total. */
  refused(count: number): Promise<void>
  close(): Promise<void>
}

type Signal = 'asked' | 'answered'

export async function startProxy(options: ProxyOptions): Promise<KafkaProxy> {
  const [host = '127.0.0.1', targetPort = ''] = options.target.split(':')
  const sockets = new Set<Socket>()
  const requests: Seen[] = []
  const held: (() => void)[] = []
  const waiters: { signal: Signal; apiKey: number; resolve: () => void }[] = []
  let armed = true
  let refusing = false
  let refusals = 0
  const refusalChecks: (() => void)[] = []

  const tell = (signal: Signal, apiKey: number): void => {
    for (let index = waiters.length - 1; index >= 0; index--) {
      const waiter = waiters[index]
      if (waiter?.signal === signal && waiter.apiKey === apiKey) waiters.splice(index, 1)[0]?.resolve()
    }
  }
  const wait = (signal: Signal, apiKey: number): Promise<void> =>
    new Promise((resolve) => void waiters.push({ signal, apiKey, resolve }))
  const destroyAll = (): void => {
    for (const socket of sockets) socket.destroy()
    sockets.clear()
  }

  const server: Server = createServer((client) => {
    if (refusing) {
      refusals++
      for (const check of refusalChecks) check()
      return void client.destroy()
    }
    const broker = connect(Number(targetPort), host)
    const asked = new Map<number, number>()
    for (const [socket, other] of [
      [client, broker],
      [broker, client],
    ] as const) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
    }
    client.on(
      'data',
      framer((frame) => {
        const apiKey = frame.readInt16BE(4)
        asked.set(frame.readInt32BE(8), apiKey)
        requests.push({ apiKey, apiVersion: frame.readInt16BE(6) })
        options.onRequest?.(apiKey, frame)
        tell('asked', apiKey)
        if (options.unknown?.(apiKey, frame.readInt16BE(6))) client.write(unknownVersion(frame.readInt32BE(8)))
        else if (armed && options.holdRequest?.(apiKey)) {
          client.pause()
          held.push(() => {
            broker.write(frame)
            client.resume()
          })
        } else broker.write(frame)
      }),
    )
    broker.on(
      'data',
      framer((frame) => {
        const id = frame.readInt32BE(4)
        const apiKey = asked.get(id) ?? -1
        asked.delete(id)
        if (armed && options.dropResponse?.(apiKey)) tell('answered', apiKey)
        else if (armed && options.holdResponse?.(apiKey)) {
          held.push(() => client.write(frame))
          tell('answered', apiKey)
        } else {
          client.write(frame)
          tell('answered', apiKey)
        }
      }),
    )
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  return {
    port,
    address: `127.0.0.1:${port}`,
    requests,
    socketFactory: ({ host: wantedHost, port: wantedPort, onConnect }) =>
      wantedPort === Number(targetPort) ? connect(port, '127.0.0.1', onConnect) : connect(wantedPort, wantedHost, onConnect),
    asked: (apiKey) => wait('asked', apiKey),
    answered: (apiKey) => wait('answered', apiKey),
    release() {
      armed = false
      for (const go of held.splice(0)) go()
    },
    arm() {
      armed = true
    },
    cut: destroyAll,
    refuse(yes) {
      refusing = yes
    },
    refused: (count) =>
      new Promise((resolve) => {
        const check = (): void => {
          if (refusals >= count) resolve()
        }
        refusalChecks.push(check)
        check()
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        destroyAll()
      }),
  }
}

/** An answer with the error 35, and no versions. */
function unknownVersion(correlationId: number): Buffer {
  const frame = Buffer.alloc(14)
  frame.writeInt32BE(10, 0)
  frame.writeInt32BE(correlationId, 4)
  frame.writeInt16BE(35, 8)
  return frame
}

/** Cuts a stream into frames, sizes included. */
function framer(onFrame: (frame: Buffer) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0)
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    while (rest.length >= 4 && rest.length >= 4 + rest.readInt32BE(0)) {
      const end = 4 + rest.readInt32BE(0)
      const frame = rest.subarray(0, end)
      rest = rest.subarray(end)
      onFrame(frame)
    }
  }
}
