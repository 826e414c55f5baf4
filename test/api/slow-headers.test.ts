/** Slowloris: connections that never finish their headers. */
import { connect } from 'node:net'
import { expect, it } from 'vitest'
import { headersReceiveMs } from '../../src/server/api/schemas/limits.ts'
import { createSystem } from './system-in-memory.ts'

it('a request whose headers do not arrive in time is answered and its connection closed', async () => {
  await using system = createSystem()
  const { server } = system.api.instance
  const url = new URL(await system.api.listen('127.0.0.1', 0))
  expect(server.headersTimeout).toBe(headersReceiveMs)
  // The same with a shorter wait.
  server.headersTimeout = 1
  const socket = connect(Number(url.port), url.hostname)
  let answer = ''
  socket.on('data', (bytes) => {
    answer += bytes
  })
  socket.write('GET /livez HTTP/1.1\r\nx-slow: ')
  await new Promise((closed) => socket.once('close', closed))
  expect(answer).toMatch(/^HTTP\/1\.1 40[08]/)
})
