/**
 * Detects that a broker has stopped answering on one connection. Brokers answer the requests of a connection in order. So the
 * oldest unanswered request tells for how long an answer is overdue:
 *
 *   a request is the oldest ──quickMs──► onDoubt; a quick one: the socket ends ──slowMs, or longer for a join──► the socket ends
 *
 * A broker that is reachable but slow gets slowMs for quick requests too: it may catch up if its connections stay open. When the
 * socket ends, all its requests are rejected at once, and their callers open another.
 */
import type { Socket } from 'node:net'

export interface AnswerTimeouts {
  /** ms. Limit of requests that need neither disk nor other brokers. */
  quickMs: number
  /** ms. Limit of requests that are replicated to other brokers or read from disk. */
  slowMs: number
  /** ms. Limit of a join: members of a group wait for one another. */
  joinMs: number
}

/** API keys of the protocol: metadata, find coordinator, heartbeat, API versions. */
const quick = new Set([3, 10, 12, 18])
const joinGroup = 11

/** Position of a request's API key, after its length. */
const apiKeyAt = 4
const lengthBytes = 4

interface Watch {
  timeouts: AnswerTimeouts
  /** Whether the broker is known to be reachable and slow. */
  isSlow(): boolean
  /** An answer is overdue for longer than `quickMs`. `isQuick`: the request is one that the broker answers at once. */
  onDoubt(isQuick: boolean): void
}

/** Must be called in the same turn of the event loop in which the socket was created, before the first write. */
export function watchAnswers(socket: Socket, { timeouts, isSlow, onDoubt }: Watch): void {
  /** API keys of unanswered requests, oldest first. */
  const unanswered: number[] = []
  let oldestSinceMs = 0
  let doubted = false
  let timer: NodeJS.Timeout | undefined
  const answers = new Frames(() => {
    unanswered.shift()
    oldestSinceMs = performance.now()
    doubted = false
  })

  const limitMs = (): number => {
    const key = unanswered[0] as number
    if (!doubted || (quick.has(key) && !isSlow())) return timeouts.quickMs
    return key === joinGroup ? timeouts.joinMs : timeouts.slowMs
  }
  const arm = (): void => {
    if (timer !== undefined || unanswered.length === 0) return
    timer = setTimeout(onTimer, Math.max(1, oldestSinceMs + limitMs() - performance.now()))
    timer.unref()
  }
  const onTimer = (): void => {
    timer = undefined
    // After a blocked event loop, timers fire before pending data was read.
    setImmediate(() => {
      if (unanswered.length > 0 && !socket.destroyed && performance.now() - oldestSinceMs >= limitMs()) overdue()
      arm()
    })
  }
  const overdue = (): void => {
    const isQuick = quick.has(unanswered[0] as number)
    const first = !doubted
    const isPatient = first && (!isQuick || isSlow())
    doubted = true
    if (first) onDoubt(isQuick)
    if (!isPatient) socket.destroy(silence(`nothing was answered for ${Math.round(performance.now() - oldestSinceMs)} ms`))
  }

  const write = socket.write
  socket.write = function (this: Socket, ...args: Parameters<Socket['write']>): boolean {
    const [bytes] = args
    // kafkajs writes to a connection that is ending, and Node reports nothing: the request would wait for its timeout.
    if (this.destroyed) {
      setImmediate(() => this.emit('error', silence('the connection has ended')))
      return false
    }
    if (Buffer.isBuffer(bytes) && bytes.length >= apiKeyAt + 2) {
      if (unanswered.length === 0) oldestSinceMs = performance.now()
      unanswered.push(bytes.readInt16BE(apiKeyAt))
      arm()
    }
    return write.apply(this, args)
  } as Socket['write']
  // Our error may come before or after other listeners are attached. It must not end the process.
  socket.on('error', () => {})
  socket.on('data', (chunk: Buffer) => answers.take(chunk))
  socket.once('close', () => {
    clearTimeout(timer)
    timer = undefined
    unanswered.length = 0
  })
}

/** Only with this code kafkajs tries other brokers and retries. A silent broker is as useless as one that refuses. */
export function silence(what: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${what}; it is taken for lost`), { code: 'ECONNREFUSED' })
}

/** Counts answers in the received bytes. */
class Frames {
  readonly #onFrame: () => void
  readonly #length = Buffer.alloc(lengthBytes)
  #known = 0
  #rest = 0

  constructor(onFrame: () => void) {
    this.#onFrame = onFrame
  }

  take(chunk: Buffer): void {
    let at = 0
    while (at < chunk.length) {
      if (this.#known < lengthBytes) {
        this.#length[this.#known++] = chunk[at++] as number
        if (this.#known < lengthBytes) continue
        this.#rest = this.#length.readUInt32BE(0)
      }
      const here = Math.min(this.#rest, chunk.length - at)
      this.#rest -= here
      at += here
      if (this.#rest > 0) continue
      this.#known = 0
      this.#onFrame()
    }
  }
}
