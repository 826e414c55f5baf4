/** Ports for processes that a test starts: different ones, that no outgoing connection of the machine gets meanwhile. */
import { createServer, type Server } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { distinctPorts, freePorts } from './free-ports.ts'

function listen(port: number): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject)
    server.listen(port, '127.0.0.1', () => resolve(server))
  })
}

it('ports are free, all different, and below those of outgoing connections', async () => {
  const [kafka, registry] = await freePorts()
  const ports = [kafka, kafka + 1, registry, ...(await distinctPorts(40))]
  expect(new Set(ports).size).toBe(ports.length)
  expect(Math.max(...ports)).toBeLessThan(32_768)
  const servers = await Promise.all(ports.map(listen))
  onTestFinished(() => void servers.map((server) => server.close()))
})
