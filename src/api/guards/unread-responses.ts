/**
 * Bounds the memory of answers that clients do not read. An answer of a few megabytes costs the client one line, and one packet
 * holds hundreds of such lines. Above the limit connections are closed: first of the address whose answers hold most, and among
 * those the one that has waited longest.
 */
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { unreadCharsMax } from '../schemas/index.ts'
import { compressedBytes } from './compression.ts'

/** Call it after all hooks that change answers. Answers between processes are bounded by their requests. */
export function limitUnread(instance: FastifyInstance): void {
  const unread = new Unread()
  instance.addHook('onSend', async ({ raw: { socket }, routeOptions: { config } }, { raw }, payload) => {
    // A stream waits for its reader. A file of the dashboard is in memory once, for any number of readers.
    const size = typeof payload === 'string' ? payload.length : compressedBytes(payload)
    if (size === 0 || config.internal === true || socket.destroyed) return payload
    unread.add(socket, size)
    let isUnread = true
    const read = (): void => {
      if (isUnread) unread.remove(socket, size)
      isUnread = false
    }
    raw.once('finish', read).once('close', read)
    while (unread.size > unreadCharsMax) {
      const longest = unread.longest(socket)
      if (longest === undefined) break
      unread.forget(longest)
      longest.destroy()
    }
    return payload
  })
}

interface Held {
  address: string
  size: number
  answers: number
}

/** Sizes are in characters; a text may take twice as many bytes. */
class Unread {
  size = 0
  /** In the order in which their oldest answer started to wait. */
  readonly #bySocket = new Map<Socket, Held>()
  readonly #byAddress = new Map<string, number>()
  readonly #watched = new WeakSet<Socket>()

  add(socket: Socket, size: number): void {
    const held = this.#bySocket.get(socket) ?? { address: socket.remoteAddress ?? '', size: 0, answers: 0 }
    this.#bySocket.set(socket, held)
    held.answers++
    this.#change(held, size)
    if (this.#watched.has(socket)) return
    this.#watched.add(socket)
    // An answer that waits on its connection gets no close event.
    socket.once('close', () => this.forget(socket))
  }

  remove(socket: Socket, size: number): void {
    const held = this.#bySocket.get(socket)
    if (held === undefined) return
    held.answers--
    this.#change(held, -size)
    if (held.answers === 0) this.#bySocket.delete(socket)
  }

  forget(socket: Socket): void {
    const held = this.#bySocket.get(socket)
    if (held === undefined) return
    this.#change(held, -held.size)
    this.#bySocket.delete(socket)
  }

  /** One answer may exceed the limit: it stays while it is the only one. */
  longest(last: Socket): Socket | undefined {
    const [[most] = []] = [...this.#byAddress].sort(([, left], [, right]) => right - left)
    for (const [socket, { address }] of this.#bySocket) if (address === most && socket !== last) return socket
    const held = this.#bySocket.get(last)
    return held !== undefined && held.address === most && held.answers > 1 ? last : undefined
  }

  #change(held: Held, by: number): void {
    held.size += by
    this.size += by
    const left = (this.#byAddress.get(held.address) ?? 0) + by
    if (left > 0) this.#byAddress.set(held.address, left)
    else this.#byAddress.delete(held.address)
  }
}
