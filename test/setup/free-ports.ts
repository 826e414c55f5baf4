/** Loopback ports that nobody uses at this moment. */
import { createServer } from 'node:net'

/** A port for a broker, whose next one up is free too, and a port for a registry. */
export async function freePorts(): Promise<[kafka: number, registry: number]> {
  for (;;) {
    const [kafka, registry] = [await freePort(0), await freePort(0)]
    if (kafka === undefined || registry === undefined || Math.abs(registry - kafka) < 2) continue
    if ((await freePort(kafka + 1)) !== undefined) return [kafka, registry]
  }
}

/** The port, or any free one for 0; undefined where it is taken. */
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
