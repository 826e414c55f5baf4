/**
 * Keeps room for new connections. A connection costs the client nothing. A client that holds the maximum number of them,
 * without a request or with one that never ends, would shut out all others. Such a connection is closed for a new one: first of
 * the address with the most of them, and among those the one that has waited longest. A connection with a request in progress
 * stays as long as there are others. If nearly all have one, for example because one client asks for thousands of plans, these
 * are closed in the same order: the few others may be new connections whose request has not arrived.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { connectionsMax } from '../schemas/index.ts'

export function keepRoom(server: Server): void {
  // New connections are accepted before another one is closed for them; beyond the spare ones they are refused unseen.
  server.maxConnections = connectionsMax + spare
  const waiting = new Places()
  const busy = new Places()
  const underWay = new Map<Socket, number>()
  // With TLS, requests come from another socket than the connection that carries it.
  const carriers = new Map<string, Socket>()
  const placeOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`
  let open = 0
  server.on('connection', (socket: Socket) => {
    open++
    const place = placeOf(socket)
    carriers.set(place, socket)
    socket.once('close', () => {
      if (carriers.get(place) === socket) carriers.delete(place)
      open--
      waiting.remove(socket)
      busy.remove(socket)
      underWay.delete(socket)
    })
    if (open > connectionsMax) ((waiting.size > newcomersMax ? waiting : busy).longest() ?? waiting.longest() ?? socket).destroy()
    if (!socket.destroyed) waiting.add(socket)
  })
  server.on('request', ({ socket: from }: IncomingMessage, response: ServerResponse) => {
    const socket = carriers.get(placeOf(from)) ?? from
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

/** Some of these may still be closing. */
const spare = 64
/** Of the connections without a request this many may be new. */
const newcomersMax = 64

/** Connections without a request in progress, or with one, by address; each in the order in which they entered that state. */
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
