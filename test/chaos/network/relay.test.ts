import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { startRelay } from './relay.ts'

/** A frame of Kafka: its size, and a body that begins with a kind of request (request) or a correlation id (response). */
function frame(...body: Buffer[]): Buffer {
  const size = Buffer.alloc(4)
  size.writeInt32BE(Buffer.concat(body).length)
  return Buffer.concat([size, ...body])
}
function request(apiKey: number, correlation: number, client: string): Buffer {
  const head = Buffer.alloc(10)
  head.writeInt16BE(apiKey, 0)
  head.writeInt32BE(correlation, 4)
  head.writeInt16BE(client.length, 8)
  return frame(head, Buffer.from(client))
}
function answer(correlation: number): Buffer {
  const head = Buffer.alloc(4)
  head.writeInt32BE(correlation)
  return frame(head)
}

/** A server that answers each request, a relay in front of it, and the list of clients it received from. */
async function openRelay(options: {
  drops?: (toServer: boolean, client: string) => boolean
  delayMs?: (apiKey: number) => number
}) {
  const heard: Buffer[] = []
  const server = createServer((socket) =>
    socket.on('data', (data) => {
      heard.push(data)
      for (let at = 0; at < data.length; at += 4 + data.readInt32BE(at)) socket.write(answer(data.readInt32BE(at + 8)))
    }),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const target = { host: '127.0.0.1', port: (server.address() as { port: number }).port }
  const relay = await startRelay({ target, port: 0, drops: options.drops ?? (() => false), ...options })
  const sockets: Socket[] = []
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy()
    await relay.close()
    server.close()
  })
  const open = (): Socket => {
    const socket = connect(relay.port, '127.0.0.1')
    sockets.push(socket)
    return socket
  }
  return { heard, open }
}

test('cut data never arrives, closes nothing, and its connection stays dead; a new connection works after the cut', async () => {
  let cut = false
  const { heard, open } = await openRelay({ drops: (toServer, client) => cut && toServer && client === 'broker-2-fetcher-0' })
  const first = open()
  first.write(request(1, 1, 'broker-2-fetcher-0'))
  await once(first, 'data')
  cut = true
  first.write(request(1, 2, 'broker-2-fetcher-0'))
  const other = open()
  other.write(request(1, 3, 'broker-3-fetcher-0'))
  await once(other, 'data')
  expect(heard.map((data) => data.readInt32BE(8))).toEqual([1, 3])
  cut = false
  first.write(request(1, 4, 'broker-2-fetcher-0'))
  const second = open()
  second.write(request(1, 5, 'broker-2-fetcher-0'))
  await once(second, 'data')
  expect(heard.map((data) => data.readInt32BE(8))).toEqual([1, 3, 5])
  expect(first.destroyed).toBe(false)
})

test('answers to one kind of request are delayed, and all arrive whole and in order', async () => {
  const { open } = await openRelay({ delayMs: (apiKey) => (apiKey === 26 ? 50 : 0) })
  const socket = open()
  socket.write(Buffer.concat([request(26, 1, 'x'), request(0, 2, 'x')]))
  let got = Buffer.alloc(0)
  for await (const data of socket) {
    got = Buffer.concat([got, data as Buffer])
    if (got.length === 16) break
  }
  expect([got.readInt32BE(4), got.readInt32BE(12)]).toEqual([1, 2])
})
