/**
 * Refuses pipelining. HTTP/1.1 lets a client send requests without waiting for answers, and Node hands all that have arrived to the program in
 * one turn of the event loop: a few megabytes of short requests would hold it for seconds. Here a connection has one request at a time. If
 * another one arrives before the answer, the first is answered with `Connection: close`, and the others are not read.
 */
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** What Node's socket of a server has beside its public methods. Without it, requests that have arrived are read and dropped. */
type ParsedSocket = Socket & { parser?: { pause?(): void } | null }

/** Call it after all listeners of requests were added. */
export function refusePipelining(server: Server): void {
  const listeners = server.listeners('request') as RequestListener[]
  const answers = new WeakMap<Socket, ServerResponse>()
  server.removeAllListeners('request')
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const socket: ParsedSocket = request.socket
    const earlier = answers.get(socket)
    if (earlier !== undefined) return closeAfter(earlier, socket)
    answers.set(socket, response)
    response.once('close', () => answers.delete(socket))
    for (const listen of listeners) listen.call(server, request, response)
  })
}

function closeAfter(answer: ServerResponse, socket: ParsedSocket): void {
  socket.parser?.pause?.()
  answer.shouldKeepAlive = false
  // Its head may say already that the connection stays open.
  if (answer.headersSent) answer.once('finish', () => socket.destroySoon())
}
