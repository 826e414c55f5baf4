/**
 * What this process knows of a broker that may be silent: one that is cut off, or stands still, refuses nothing, so each connection, and each of
 * the many clients of a process, would have to wait for it by itself, one wait behind the other. So all of them share one look:
 *
 *   answers ──an answer or a connection is overdue──► doubted ──ApiVersions is answered──► answers
 *                                                        └──it is not either──► silent: its connections end ──asked again and again──► answers
 *
 * Nobody waits for a broker that owes a quick answer, or is silent: to connect fails at once until it has answered. Only where it was slow
 * with what may take its time, connections are opened as ever while it is asked.
 *
 * A broker that has answered, but took long over what is answered at once, is slow: for a while its connections end only after `slowMs`. Who
 * opened all of them anew whenever it took longer than `quickMs` would give it more to do, and might never hear from it.
 */
import { createConnection, isIP, Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { ISocketFactory, ISocketFactoryArgs } from 'kafkajs'
import { type Patience, silence, watchAnswers } from './watched-socket.ts'

interface Logger {
  info(facts: object, message: string): void
  warn(facts: object, message: string): void
}

/** ms until a connection stands. */
export const connectMs = 3_000
/** Between two questions to a silent broker. */
const askEveryMs = 500
/** A broker that nobody has wanted for so long is not asked any more. */
const forgottenMs = 60_000
const keepAliveMs = 60_000
/** How long a broker is taken for slow after it was. */
const slowForMs = 60_000

export interface WatchedBrokerOptions {
  patience: Patience
  logger: Logger
  open: ISocketFactory
  /** Nothing is known of it, and nobody is connected to it. */
  onIdle(): void
  /** It has fallen silent, or is silent no more. */
  onStanding(isSilent: boolean): void
  /** It has answered something; or it could not be connected to, or owes what it answers at once. */
  onHeard(isAnswer: boolean): void
}

export class WatchedBroker {
  readonly #address: string
  readonly #options: WatchedBrokerOptions
  readonly #sockets = new Set<Socket>()
  /** As it was wanted last; a question to it goes the same way. */
  #to: ISocketFactoryArgs | undefined
  #wantedAtMs = 0
  #standing: 'answers' | 'doubted' | 'silent' = 'answers'
  /** Whether to connect fails at once. */
  #isShunned = false
  /** Whether what it is doubted for is answered at once by who is not slow. */
  #isOverdue = false
  #slowUntilMs = 0
  /** Connections of questions that are not answered. */
  readonly #questions = new Set<Socket>()
  #nextQuestion: NodeJS.Timeout | undefined

  constructor(address: string, options: WatchedBrokerOptions) {
    this.#address = address
    this.#options = options
  }

  want(): void {
    this.#wantedAtMs = performance.now()
  }

  connect(to: ISocketFactoryArgs): Socket {
    this.#to = to
    this.#wantedAtMs = performance.now()
    if (this.#isShunned) return refused(this.#address)
    let timer: NodeJS.Timeout | undefined
    let hasStood = false
    const socket = this.#options.open({
      ...to,
      onConnect: () => {
        hasStood = true
        clearTimeout(timer)
        to.onConnect()
      },
    })
    const limitMs = this.#isSlow() ? this.#options.patience.slowMs : connectMs
    timer = setTimeout(() => {
      this.#doubt(true)
      socket.destroy(silence(`${this.#address} did not connect within ${limitMs} ms`))
    }, limitMs)
    timer.unref()
    this.#sockets.add(socket)
    socket.once('error', () => {
      if (!hasStood) this.#options.onHeard(false)
    })
    socket.on('data', () => this.#options.onHeard(true))
    socket.once('close', () => {
      clearTimeout(timer)
      endQuietly(socket)
      this.#sockets.delete(socket)
      this.#rest()
    })
    watchAnswers(socket, {
      patience: this.#options.patience,
      isSlow: () => this.#isSlow(),
      onDoubt: (isQuick) => this.#doubt(isQuick),
    })
    return socket
  }

  #isSlow(): boolean {
    return performance.now() < this.#slowUntilMs
  }

  #doubt(isQuick: boolean): void {
    if (isQuick) this.#options.onHeard(false)
    this.#isShunned ||= isQuick && !this.#isSlow()
    this.#isOverdue ||= isQuick
    if (this.#standing !== 'answers') return
    this.#standing = 'doubted'
    this.#ask()
  }

  /**
   * Asks on a connection of its own, by the one request that every broker answers, before any authentication. Whoever does not answer within
   * `quickMs` is silent; the question stands for `slowMs`, beside those that follow it.
   */
  #ask(): void {
    const { patience, open } = this.#options
    const socket = open({
      ...(this.#to as ISocketFactoryArgs),
      onConnect: () => {
        socket.write(apiVersions())
      },
    })
    let said: 'an answer' | 'a refusal' | undefined
    let isLate = false
    const overdue = setTimeout(() => {
      isLate = true
      if (!this.#questions.has(socket)) return
      this.#isOverdue = true
      this.#unanswered()
    }, patience.quickMs)
    const end = setTimeout(() => socket.destroy(), patience.slowMs)
    overdue.unref()
    end.unref()
    socket.unref()
    socket.once('data', () => {
      said = 'an answer'
      this.#options.onHeard(true)
      socket.destroy()
    })
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // Who refuses is there: nobody has to wait for it, and what it says is for those who connect.
      if (!unreachable.has(error.code ?? '')) said ??= 'a refusal'
    })
    socket.once('close', () => {
      clearTimeout(overdue)
      clearTimeout(end)
      if (!this.#questions.delete(socket)) return
      if (said !== undefined) this.#answered(said === 'a refusal')
      else if (!isLate) this.#unanswered()
    })
    this.#questions.add(socket)
  }

  /** `isRefusal`: nothing listens there; a broker that begins anew is not slow. */
  #answered(isRefusal: boolean): void {
    const { logger, patience } = this.#options
    const broker = this.#address
    if (this.#standing === 'silent') logger.info({ broker }, `Broker ${broker} answers again.`)
    if (this.#isOverdue && !isRefusal) {
      const more = `For ${slowForMs / 1_000} s its connections end only after ${patience.slowMs} ms.`
      if (this.#standing === 'doubted' && !this.#isSlow())
        logger.warn({ broker }, `Broker ${broker} is slow: it answers, but took more than ${patience.quickMs} ms. ${more}`)
      this.#slowUntilMs = performance.now() + slowForMs
      setTimeout(() => this.#rest(), slowForMs + 1).unref()
    }
    this.#believe()
  }

  /** All questions to it are answered by this. */
  #believe(): void {
    const wasSilent = this.#standing === 'silent'
    this.#standing = 'answers'
    this.#isShunned = false
    this.#isOverdue = false
    clearTimeout(this.#nextQuestion)
    const questions = [...this.#questions]
    this.#questions.clear()
    for (const socket of questions) socket.destroy()
    if (wasSilent) this.#options.onStanding(false)
    this.#rest()
  }

  #unanswered(): void {
    this.#options.onHeard(false)
    const isNews = this.#standing !== 'silent'
    if (isNews) {
      const message = `Broker ${this.#address} is silent: its connections end, and nobody waits for it until it answers.`
      this.#options.logger.warn({ broker: this.#address, connections: this.#sockets.size }, message)
    }
    this.#standing = 'silent'
    this.#isShunned = true
    if (isNews) this.#options.onStanding(true)
    for (const socket of this.#sockets) socket.destroy(silence(`${this.#address} is silent`))
    if (performance.now() - this.#wantedAtMs > forgottenMs) {
      this.#believe()
      return
    }
    this.#nextQuestion = setTimeout(() => this.#ask(), askEveryMs).unref()
  }

  #rest(): void {
    if (this.#sockets.size === 0 && this.#standing === 'answers' && !this.#isSlow()) this.#options.onIdle()
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
export function openSocket({ host, port, ssl, onConnect }: ISocketFactoryArgs): Socket {
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
