/** Loopback ports that no process uses at this moment. */
import { type AddressInfo, createServer } from 'node:net'

/** A port for a broker, with the next port also free, and a port for a registry. */
export async function freePorts(): Promise<[kafka: number, registry: number]> {
  for (;;) {
    const [kafka, registry] = [await freePort(0), await freePort(0)]
    if (kafka === undefined || registry === undefined || Math.abs(registry - kafka) < 2) continue
    if ((await freePort(kafka + 1)) !== undefined) return [kafka, registry]
  }
}

/** The port, or any free one for 0; undefined when it is in use. */
function freePort(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(undefined))
    server.listen(port, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' ? address?.port : undefined))
    })
  })
}

/** This many ports at once. They are held together, so that no two of them are the same. */
export async function distinctPorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, () => {
      const server = createServer()
      return new Promise<typeof server>((resolve, reject) => {
        server.once('error', reject)
        server.listen(0, '127.0.0.1', () => resolve(server))
      })
    }),
  )
  const ports = servers.map((server) => (server.address() as AddressInfo).port)
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
}
