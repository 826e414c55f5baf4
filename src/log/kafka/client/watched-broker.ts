/**
 * State of one broker that may be silent. A broker that is cut off or frozen refuses nothing. Each connection, and each of the
 * many clients of a process, would have to time out by itself, one after the other. So all of them share one probe:
 *
 *   answers ──an answer or a connection is overdue──► doubted ──ApiVersions is answered──► answers
 *                                                        └──it is not either──► silent: its connections end ──asked again and again──► answers
 *
 * Nothing waits for a broker that is silent or has a quick answer overdue: a connect fails at once until the broker has answered.
 * If only a slow request is overdue, connections open as usual during the probe.
 *
 * A broker that has answered, but was late with a quick request, is slow. For a while its connections end only after `slowMs`.
 * Reopening all of them each time it took longer than `quickMs` would add to its load, and it might never answer.
 */
import { createConnection, isIP, Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { ISocketFactory, ISocketFactoryArgs } from 'kafkajs'
import type { Logger } from '../../../ground/logging/index.ts'
import { type AnswerTimeouts, silence, watchAnswers } from './watched-socket.ts'

/** Time limit of a connect, ms. */
export const connectMs = 3_000
/** Interval of probes to a silent broker. */
const askEveryMs = 500
/** A broker that no client has wanted for this long is no longer probed. */
const forgottenMs = 60_000
const keepAliveMs = 60_000
/** How long a broker counts as slow. */
const slowForMs = 60_000

export interface WatchedBrokerOptions {
  timeouts: AnswerTimeouts
  logger: Pick<Logger, 'info' | 'warn'>
  open: ISocketFactory
  /** Nothing is known about it, and nothing is connected to it. */
  onIdle(): void
  /** It has become silent, or is no longer silent. */
  onSilenceChange(isSilent: boolean): void
  /** True: it has answered. False: a connect failed, or a quick answer is overdue. */
  onResponse(isAnswer: boolean): void
}

export class WatchedBroker {
  readonly #address: string
  readonly #options: WatchedBrokerOptions
  readonly #sockets = new Set<Socket>()
  /** The parameters of the last connect; a probe uses the same. */
  #to: ISocketFactoryArgs | undefined
  #wantedAtMs = 0
  #condition: 'answers' | 'doubted' | 'silent' = 'answers'
  /** Whether a connect fails at once. */
  #isShunned = false
  /** Whether the overdue request is a quick one. */
  #isOverdue = false
  #slowUntilMs = 0
  /** Sockets of unanswered probes. */
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
    const limitMs = this.#isSlow() ? this.#options.timeouts.slowMs : connectMs
    timer = setTimeout(() => {
      this.#doubt(true)
      socket.destroy(silence(`${this.#address} did not connect within ${limitMs} ms`))
    }, limitMs)
    timer.unref()
    this.#sockets.add(socket)
    socket.once('error', () => {
      if (!hasStood) this.#options.onResponse(false)
    })
    socket.on('data', () => this.#options.onResponse(true))
    socket.once('close', () => {
      clearTimeout(timer)
      endQuietly(socket)
      this.#sockets.delete(socket)
      this.#rest()
    })
    watchAnswers(socket, {
      timeouts: this.#options.timeouts,
      isSlow: () => this.#isSlow(),
      onDoubt: (isQuick) => this.#doubt(isQuick),
    })
    return socket
  }

  #isSlow(): boolean {
    return performance.now() < this.#slowUntilMs
  }

  #doubt(isQuick: boolean): void {
    if (isQuick) this.#options.onResponse(false)
    this.#isShunned ||= isQuick && !this.#isSlow()
    this.#isOverdue ||= isQuick
    if (this.#condition !== 'answers') return
    this.#condition = 'doubted'
    this.#ask()
  }

  /**
   * Probes the broker on a separate connection, with the one request that every broker answers before any authentication. A
   * broker that does not answer within `quickMs` is silent. The probe stays open for `slowMs`, in parallel with later ones.
   */
  #ask(): void {
    const { timeouts, open } = this.#options
    const socket = open({
      ...(this.#to as ISocketFactoryArgs),
      onConnect: () => {
        socket.write(apiVersions())
      },
    })
    let outcome: 'an answer' | 'a refusal' | undefined
    let isLate = false
    const overdue = setTimeout(() => {
      isLate = true
      if (!this.#questions.has(socket)) return
      this.#isOverdue = true
      this.#unanswered()
    }, timeouts.quickMs)
    const end = setTimeout(() => socket.destroy(), timeouts.slowMs)
    overdue.unref()
    end.unref()
    socket.unref()
    socket.once('data', () => {
      outcome = 'an answer'
      this.#options.onResponse(true)
      socket.destroy()
    })
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // A broker that refuses is reachable: nothing has to time out, and clients see the refusal when they connect.
      if (!unreachable.has(error.code ?? '')) outcome ??= 'a refusal'
    })
    socket.once('close', () => {
      clearTimeout(overdue)
      clearTimeout(end)
      if (!this.#questions.delete(socket)) return
      if (outcome !== undefined) this.#answered(outcome === 'a refusal')
      else if (!isLate) this.#unanswered()
    })
    this.#questions.add(socket)
  }

  /** `isRefusal`: nothing listens there. A broker that restarts is not slow. */
  #answered(isRefusal: boolean): void {
    const { logger, timeouts } = this.#options
    const broker = this.#address
    if (this.#condition === 'silent') logger.info({ event: 'broker-answers-again', broker }, `Broker ${broker} answers again.`)
    if (this.#isOverdue && !isRefusal) {
      const more = `For ${slowForMs / 1_000} s its connections end only after ${timeouts.slowMs} ms.`
      if (this.#condition === 'doubted' && !this.#isSlow())
        logger.warn(
          { event: 'broker-slow', broker },
          `Broker ${broker} is slow: it answers, but took more than ${timeouts.quickMs} ms. ${more}`,
        )
      this.#slowUntilMs = performance.now() + slowForMs
      setTimeout(() => this.#rest(), slowForMs + 1).unref()
    }
    this.#believe()
  }

  /** This answers all open probes. */
  #believe(): void {
    const wasSilent = this.#condition === 'silent'
    this.#condition = 'answers'
    this.#isShunned = false
    this.#isOverdue = false
    clearTimeout(this.#nextQuestion)
    const questions = [...this.#questions]
    this.#questions.clear()
    for (const socket of questions) socket.destroy()
    if (wasSilent) this.#options.onSilenceChange(false)
    this.#rest()
  }

  #unanswered(): void {
    this.#options.onResponse(false)
    const isNews = this.#condition !== 'silent'
    if (isNews) {
      const message = `Broker ${this.#address} is silent. Its connections are closed, and no request waits for it until it answers.`
      this.#options.logger.warn({ event: 'broker-silent', broker: this.#address, connections: this.#sockets.size }, message)
    }
    this.#condition = 'silent'
    this.#isShunned = true
    if (isNews) this.#options.onSilenceChange(true)
    for (const socket of this.#sockets) socket.destroy(silence(`${this.#address} is silent`))
    if (performance.now() - this.#wantedAtMs > forgottenMs) {
      this.#believe()
      return
    }
    this.#nextQuestion = setTimeout(() => this.#ask(), askEveryMs).unref()
  }

  #rest(): void {
    if (this.#sockets.size === 0 && this.#condition === 'answers' && !this.#isSlow()) this.#options.onIdle()
  }
}

/** Error codes of the network when no host answers. */
const unreachable = new Set(['EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT', 'EHOSTDOWN', 'ENETDOWN'])

function refused(address: string): Socket {
  const socket = endQuietly(new Socket())
  setImmediate(() => socket.destroy(silence(`${address} has not answered`)))
  return socket
}

/** kafkajs ends a socket repeatedly, and each time Node waits for a connection that never comes, to unref it then. */
const endQuietly = (socket: Socket): Socket => Object.assign(socket, { unref: () => socket })

/** Opens a socket the way kafkajs does. */
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
