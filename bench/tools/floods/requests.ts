/** Sends many HTTP requests in parallel, and opens sockets that misbehave. */
import { Agent, request } from 'node:http'
import { connect, type Socket } from 'node:net'

export interface Answers {
  [status: string]: number
}

export class Requests {
  url = ''
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 256 })
  readonly #sockets = new Set<Socket>()

  /** Resolves with the status, or with the code of the error. */
  send(method: string, path: string, body?: unknown): Promise<string> {
    const headers = body === undefined ? {} : { 'content-type': 'application/json' }
    return new Promise((resolve) => {
      const call = request(`${this.url}${path}`, { method, agent: this.#agent, headers }, (answer) => {
        answer.resume().on('end', () => resolve(String(answer.statusCode)))
      })
      call.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
      call.end(body === undefined ? undefined : JSON.stringify(body))
    })
  }

  /** Keeps `sideBySide` requests in-flight until the signal aborts. It counts the answers. */
  async flood(sideBySide: number, signal: AbortSignal, next: (index: number) => Promise<string>): Promise<Answers> {
    const answers: Answers = {}
    let index = 0
    const lane = async (): Promise<void> => {
      while (!signal.aborted) {
        const status = await next(index++)
        answers[status] = (answers[status] ?? 0) + 1
      }
    }
    await Promise.all(Array.from({ length: sideBySide }, lane))
    return answers
  }

  /** A socket that sends this text and then nothing. When the server closes it, it is opened again, until the signal aborts. */
  linger(text: string, signal: AbortSignal, onClosed: () => void): void {
    const { hostname, port } = new URL(this.url)
    if (signal.aborted) return
    const socket = connect(Number(port), hostname, () => socket.write(text))
    this.#sockets.add(socket)
    socket.resume().on('error', () => {})
    socket.on('close', () => {
      this.#sockets.delete(socket)
      onClosed()
      setTimeout(() => this.linger(text, signal, onClosed), 100).unref()
    })
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy()
    this.#agent.destroy()
  }
}
