/**
 * One TCP proxy in front of one listener. It can drop data in each direction: connections stay open, nothing is refused, and
 * nothing arrives. If several places use the same listener, as brokers do, the client id in the first request tells them apart.
 */
import { connect, createServer, type Server, type Socket } from 'node:net'
import type { DelayMs } from './network.ts'

/** Request: size i32, api key i16, version i16, correlation id i32, client id as i16 length and text. */
const clientIdAt = 14

export interface Relay {
  port: number
  close(): Promise<void>
}

export interface RelayOptions {
  target: { host: string; port: number }
  /** The address to listen at. Default: loopback. */
  host?: string
  port: number
  /** Whether to drop data. `client` is the client id of the connection, empty while it is unknown. */
  drops(toServer: boolean, client: string): boolean
  /** The delay of an answer to this kind of request. Default: none, and frames are not parsed. */
  delayMs?: DelayMs
}

export async function startRelay({ target, host = '127.0.0.1', port, drops, delayMs }: RelayOptions): Promise<Relay> {
  const sockets = new Set<Socket>()
  const server: Server = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect({ ...target, allowHalfOpen: true })
    const state = { name: '', lost: { up: false, down: false } }
    const answers = delayMs === undefined ? undefined : new HeldAnswers(client, delayMs)
    const pass = (from: Socket, to: Socket, toServer: boolean): void => {
      sockets.add(from)
      from.setNoDelay(true)
      from.on('error', () => {})
      from.on('data', (data) => {
        if (toServer && state.name === '') state.name = clientIdOf(data)
        const way = toServer ? 'up' : 'down'
        // A stream with a missing piece is useless: after the cut the connection stays dead, as after a long loss of packets.
        if (state.lost[way] || drops(toServer, state.name)) {
          state.lost[way] = true
          return
        }
        if (toServer) answers?.asked(data)
        if (!toServer && answers !== undefined) answers.answered(data)
        else to.write(data)
      })
      from.on('end', () => {
        // A close is dropped too.
        if (!drops(toServer, state.name)) to.end()
      })
      from.on('close', () => {
        sockets.delete(from)
        if (!drops(toServer, state.name)) to.destroy()
      })
    }
    pass(client, upstream, true)
    pass(upstream, client, false)
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve))
  return {
    port: (server.address() as { port: number }).port,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

function clientIdOf(data: Buffer): string {
  if (data.length < clientIdAt) return ''
  const length = data.readInt16BE(clientIdAt - 2)
  return length <= 0 ? '-' : data.toString('utf8', clientIdAt, clientIdAt + length)
}

/** Delays answers by the kind of their request. Frames pass whole and in order, as a broker sends them. */
class HeldAnswers {
  readonly #client: Socket
  readonly #delayMs: DelayMs
  readonly #kinds = new Map<number, number>()
  #requests: Buffer = Buffer.alloc(0)
  #responses: Buffer = Buffer.alloc(0)
  #before: Promise<void> = Promise.resolve()

  constructor(client: Socket, delayMs: DelayMs) {
    this.#client = client
    this.#delayMs = delayMs
  }

  asked(data: Buffer): void {
    this.#requests = framesOf(Buffer.concat([this.#requests, data]), (frame) => {
      this.#kinds.set(frame.readInt32BE(8), frame.readInt16BE(4))
    })
  }

  answered(data: Buffer): void {
    this.#responses = framesOf(Buffer.concat([this.#responses, data]), (frame) => {
      const id = frame.readInt32BE(4)
      const kind = this.#kinds.get(id)
      this.#kinds.delete(id)
      const ms = kind === undefined ? 0 : this.#delayMs(kind)
      this.#before = this.#before.then(async () => {
        if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms))
        this.#client.write(frame)
      })
    })
  }
}

/** Passes whole frames, sizes included, to `onFrame`. Returns the rest. */
function framesOf(data: Buffer, onFrame: (frame: Buffer) => void): Buffer {
  let rest = data
  while (rest.length >= 4 && rest.length >= 4 + rest.readInt32BE(0)) {
    const end = 4 + rest.readInt32BE(0)
    onFrame(rest.subarray(0, end))
    rest = rest.subarray(end)
  }
  return rest
}
