/** A TCP forwarder that can be unplugged. Its target then seems to be down. */
import { connect, createServer, type Server, type Socket } from 'node:net'

export class Forwarder {
  readonly #target: URL
  readonly #sockets = new Set<Socket>()
  #server: Server | undefined
  #port = 0

  constructor(target: string) {
    this.#target = new URL(target)
  }

  /** The target's URL through this forwarder. Valid once plugged in. */
  get url(): string {
    const url = new URL(this.#target)
    url.hostname = '127.0.0.1'
    url.port = String(this.#port)
    return url.href
  }

  /** Starts to forward, on the same port each time. */
  async plugIn(): Promise<void> {
    const server = createServer((near) => {
      const far = connect(Number(this.#target.port), this.#target.hostname)
      for (const socket of [near, far]) {
        this.#sockets.add(socket)
        socket.on('error', () => undefined)
        socket.on('close', () => {
          this.#sockets.delete(socket)
          near.destroy()
          far.destroy()
        })
      }
      near.pipe(far)
      far.pipe(near)
    })
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(this.#port, '127.0.0.1', resolve))
    this.#port = (server.address() as { port: number }).port
    this.#server = server
  }

  /** Ends all connections and accepts no new ones. */
  async unplug(): Promise<void> {
    const server = this.#server
    this.#server = undefined
    for (const socket of this.#sockets) socket.destroy()
    if (server !== undefined) await new Promise((resolve) => server.close(resolve))
  }
}
