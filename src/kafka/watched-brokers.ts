/**
 * What this process knows of brokers that are silent: one that is cut off, or stands still, refuses nothing, so each connection, and each of
 * the many clients of a process, would have to wait for it by itself, one wait behind the other. So all of them share one look:
 *
 *   answers ──an answer or a connection is overdue──► doubted ──ApiVersions is answered──► answers
 *                                                        └──it is not either──► silent: its connections end ──asked again and again──► answers
 *
 * Nobody waits for a broker that owes a quick answer, or is silent: to connect fails at once until it has answered. Only where it was slow
 * with what may take its time, connections are opened as ever while it is asked.
 */
import { createConnection, isIP, Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { ISocketFactory, ISocketFactoryArgs } from 'kafkajs'
import { type Patience, silence, watchAnswers } from './watched-socket.ts'

interface Logger {
  info(facts: object, message: string): void
  warn(facts: object, message: string): void
}

export interface WatchedBrokersOptions {
  patience: Patience
  logger: Logger
  /** Default: plain TCP, or TLS. */
  open?: ISocketFactory | undefined
}

/** ms until a connection stands. */
export const connectMs = 3_000
/** Between two questions to a silent broker. */
const askEveryMs = 500
/** A broker that nobody has wanted for so long is not asked any more. */
const forgottenMs = 60_000
const keepAliveMs = 60_000

export class WatchedBrokers {
  readonly #options: Required<WatchedBrokersOptions>
  /** By address, while there are connections or doubts. */
  readonly #brokers = new Map<string, WatchedBroker>()

  constructor(options: WatchedBrokersOptions) {
    this.#options = { ...options, open: options.open ?? openSocket }
  }

  readonly open: ISocketFactory = (to) => {
    const address = `${to.host}:${to.port}`
    let broker = this.#brokers.get(address)
    if (broker === undefined) {
      broker = new WatchedBroker(address, this.#options, () => this.#brokers.delete(address))
      this.#brokers.set(address, broker)
    }
    return broker.connect(to)
  }
}

class WatchedBroker {
  readonly #address: string
  readonly #options: Required<WatchedBrokersOptions>
  readonly #onIdle: () => void
  readonly #sockets = new Set<Socket>()
  /** As it was wanted last; a question to it goes the same way. */
  #to: ISocketFactoryArgs | undefined
  #wantedAtMs = 0
  #standing: 'answers' | 'doubted' | 'silent' = 'answers'
  /** Whether to connect fails at once. */
  #isShunned = false

  constructor(address: string, options: Required<WatchedBrokersOptions>, onIdle: () => void) {
    this.#address = address
    this.#options = options
    this.#onIdle = onIdle
  }

  connect(to: ISocketFactoryArgs): Socket {
    this.#to = to
    this.#wantedAtMs = performance.now()
    if (this.#isShunned) return refused(this.#address)
    let timer: NodeJS.Timeout | undefined
    const socket = this.#options.open({
      ...to,
      onConnect: () => {
        clearTimeout(timer)
        to.onConnect()
      },
    })
    timer = setTimeout(() => {
      this.#doubt(true)
      socket.destroy(silence(`${this.#address} did not connect within ${connectMs} ms`))
    }, connectMs)
    timer.unref()
    this.#sockets.add(socket)
    socket.once('close', () => {
      clearTimeout(timer)
      endQuietly(socket)
      this.#sockets.delete(socket)
      this.#rest()
    })
    watchAnswers(socket, { patience: this.#options.patience, onDoubt: (isQuick) => this.#doubt(isQuick) })
    return socket
  }

  #doubt(isQuick: boolean): void {
    this.#isShunned ||= isQuick
    if (this.#standing !== 'answers') return
    this.#standing = 'doubted'
    this.#ask()
  }

  /** Asks on a connection of its own, by the one request that every broker answers, before any authentication. */
  #ask(): void {
    const { patience, open } = this.#options
    const socket = open({
      ...(this.#to as ISocketFactoryArgs),
      onConnect: () => {
        socket.write(apiVersions())
      },
    })
    let answered = false
    let isOverdue = false
    const timer = setTimeout(() => {
      isOverdue = true
      socket.destroy()
    }, patience.quickMs)
    timer.unref()
    socket.unref()
    socket.once('data', () => {
      answered = true
      socket.destroy()
    })
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // Who refuses is there: nobody has to wait for it, and what it says is for those who connect.
      answered ||= !isOverdue && !unreachable.has(error.code ?? '')
    })
    socket.once('close', () => {
      clearTimeout(timer)
      if (answered) this.#answered()
      else this.#unanswered()
    })
  }

  #answered(): void {
    if (this.#standing === 'silent')
      this.#options.logger.info({ broker: this.#address }, `Broker ${this.#address} answers again.`)
    this.#standing = 'answers'
    this.#isShunned = false
    this.#rest()
  }

  #unanswered(): void {
    if (this.#standing !== 'silent') {
      const message = `Broker ${this.#address} is silent: its connections end, and nobody waits for it until it answers.`
      this.#options.logger.warn({ broker: this.#address, connections: this.#sockets.size }, message)
    }
    this.#standing = 'silent'
    this.#isShunned = true
    for (const socket of this.#sockets) socket.destroy(silence(`${this.#address} is silent`))
    if (performance.now() - this.#wantedAtMs > forgottenMs) {
      this.#standing = 'answers'
      this.#isShunned = false
      this.#rest()
      return
    }
    setTimeout(() => this.#ask(), askEveryMs).unref()
  }

  #rest(): void {
    if (this.#sockets.size === 0 && this.#standing === 'answers') this.#onIdle()
  }
}

/** What the network says where no host answers. */
const unreachable = new Set(['EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT', 'EHOSTDOWN', 'ENETDOWN'])

function refused(address: string): Socket {
  const socket = endQuietly(new Socket())
  setImmediate(() => socket.destroy(silence(`${address} has not answered`)))
  return socket
}

/** kafkajs ends a socket again and again, and Node waits each time for a connection that never comes, to let go of it then. */
const endQuietly = (socket: Socket): Socket => Object.assign(socket, { unref: () => socket })

/** As kafkajs opens them. */
function openSocket({ host, port, ssl, onConnect }: ISocketFactoryArgs): Socket {
  const serverName = isIP(host) === 0 ? { servername: host } : {}
  const socket = ssl ? connectTls({ host, port, ...serverName, ...ssl }, onConnect) : createConnection({ host, port }, onConnect)
  return socket.setKeepAlive(true, keepAliveMs)
}

/** ApiVersions v0 without a client's name. */
function apiVersions(): Buffer {
  const request = Buffer.alloc(14)
  request.writeInt32BE(request.length - 4, 0)
  request.writeInt16BE(18, 4)
  request.writeInt16BE(-1, 12)
  return request
}
