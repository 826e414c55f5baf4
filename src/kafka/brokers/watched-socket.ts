/**
 * Notices that a broker has stopped answering on one connection. Brokers answer the requests of a connection one after another and in their
 * order, so the oldest that is unanswered says how long nothing came that should have come:
 *
 *   a request is the oldest ──quickMs──► onDoubt; a quick one: the socket ends ──slowMs, or longer for a join──► the socket ends
 *
 * A broker that is there and slow gets slowMs for quick ones too: without an end of its connections it may catch up.
 * Where the socket ends, all that was asked on it is rejected at once, and whoever asked opens another.
 */
import type { Socket } from 'node:net'

export interface Patience {
  /** ms. What costs a broker neither disk nor other brokers is answered within it. */
  quickMs: number
  /** ms. What is written to other brokers first, or read from disk. */
  slowMs: number
  /** ms. Members of a group wait for one another. */
  joinMs: number
}

/** Keys of requests as the protocol numbers them: metadata, find coordinator, heartbeat, API versions. */
const quick = new Set([3, 10, 12, 18])
const joinGroup = 11

/** Where a request says what it is, behind its length. */
const apiKeyAt = 4
const lengthBytes = 4

interface Watch {
  patience: Patience
  /** Whether the broker is known to be there, and to be slow. */
  isSlow(): boolean
  /** The broker owes an answer for longer than `quickMs`; `isQuick`: one that it gives at once if it gives any. */
  onDoubt(isQuick: boolean): void
}

/** Called in the turn of the event loop in which the socket was made, before anybody writes to it. */
export function watchAnswers(socket: Socket, { patience, isSlow, onDoubt }: Watch): void {
  /** API keys of what is unanswered, oldest first. */
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
    if (!doubted || (quick.has(key) && !isSlow())) return patience.quickMs
    return key === joinGroup ? patience.joinMs : patience.slowMs
  }
  const arm = (): void => {
    if (timer !== undefined || unanswered.length === 0) return
    timer = setTimeout(onTimer, Math.max(1, oldestSinceMs + limitMs() - performance.now()))
    timer.unref()
  }
  const onTimer = (): void => {
    timer = undefined
    // A process that was held up finds its timers due before it has read what came meanwhile.
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
    // kafkajs writes to a connection that is just ending, and Node says nothing of it: the request would wait for its timeout.
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
  // Ours may come when nobody listens yet, or any more; that must not end the process.
  socket.on('error', () => {})
  socket.on('data', (chunk: Buffer) => answers.take(chunk))
  socket.once('close', () => {
    clearTimeout(timer)
    timer = undefined
    unanswered.length = 0
  })
}

/** kafkajs looks elsewhere, and asks again, after just this code; a broker that is silent is of no more use than one that refuses. */
export function silence(what: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${what}; it is taken for lost`), { code: 'ECONNREFUSED' })
}

/** Counts answers in the bytes that come. */
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
