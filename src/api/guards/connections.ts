/**
 * Keeps room for new connections. A connection costs whoever opens it nothing, so somebody who holds as many as there may be, without a
 * request or with one that does not come to its end, would shut out all others. Such a connection gives way to a new one: first of the
 * address that has most of them, and of those the one that has waited longest. One with a request under way stays as long as there are
 * others; where all but a few have one, as when somebody asks for thousands of plans, these give way in the same order: those few may be
 * newcomers whose request has not arrived.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { connectionsMax } from '../schemas/index.ts'

export function keepRoom(server: Server): void {
  // Newcomers are seen before one gives way to them; beyond the spare ones they are refused unseen.
  server.maxConnections = connectionsMax + spare
  const waiting = new Places()
  const busy = new Places()
  const underWay = new Map<Socket, number>()
  let open = 0
  server.on('connection', (socket: Socket) => {
    open++
    socket.once('close', () => {
      open--
      waiting.remove(socket)
      busy.remove(socket)
      underWay.delete(socket)
    })
    if (open > connectionsMax) ((waiting.size > newcomersMax ? waiting : busy).longest() ?? waiting.longest() ?? socket).destroy()
    if (!socket.destroyed) waiting.add(socket)
  })
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    waiting.remove(socket)
    if (!socket.destroyed && !underWay.has(socket)) busy.add(socket)
    underWay.set(socket, (underWay.get(socket) ?? 0) + 1)
    response.once('close', () => {
      const left = (underWay.get(socket) ?? 1) - 1
      underWay.set(socket, left)
      if (left > 0) return
      underWay.delete(socket)
      busy.remove(socket)
      if (!socket.destroyed) waiting.add(socket)
    })
  })
}

/** Of these some may be closing still. */
const spare = 64
/** Of those without a request so many may be new. */
const newcomersMax = 64

/** Connections without a request under way, or with one, by address, each in the order in which they came to be so. */
class Places {
  readonly #byAddress = new Map<string, Set<Socket>>()
  readonly #addresses = new Map<Socket, string>()

  add(socket: Socket): void {
    const address = socket.remoteAddress ?? ''
    const sockets = this.#byAddress.get(address) ?? new Set()
    this.#byAddress.set(address, sockets.add(socket))
    this.#addresses.set(socket, address)
  }

  remove(socket: Socket): void {
    const address = this.#addresses.get(socket)
    if (address === undefined) return
    this.#addresses.delete(socket)
    const sockets = this.#byAddress.get(address)
    sockets?.delete(socket)
    if (sockets?.size === 0) this.#byAddress.delete(address)
  }

  get size(): number {
    return this.#addresses.size
  }

  longest(): Socket | undefined {
    let most: Set<Socket> | undefined
    for (const sockets of this.#byAddress.values()) if (most === undefined || sockets.size > most.size) most = sockets
    return most?.values().next().value
  }
}
