/** Free ports of 127.0.0.1 for the demo. The usual ports are preferred, so that its URLs match the documentation. */
import { createServer } from 'node:net'

export interface DemoPorts {
  /** The next higher port is free too. */
  kafka: number
  registry: number
  http: number
}

/** Attempts to find two free ports side by side. */
const triesMax = 50

export async function freePorts(preferred: DemoPorts): Promise<DemoPorts> {
  const registry = await freePort(preferred.registry)
  const http = await freePort(preferred.http)
  let kafka = preferred.kafka
  for (let tries = 0; tries < triesMax; tries++) {
    const mine = [kafka, kafka + 1]
    const others = [registry, http]
    if (!mine.some((port) => others.includes(port)) && (await portIfFree(kafka)) && (await portIfFree(kafka + 1))) break
    kafka = await anyPort()
  }
  return { kafka, registry, http }
}

/** The port if it is free, otherwise any free one. */
export const freePort = async (preferred: number): Promise<number> => (await portIfFree(preferred)) ?? (await anyPort())

async function anyPort(): Promise<number> {
  return (await portIfFree(0)) ?? 0
}

/** The port, or any free port for 0; undefined if it is taken. */
function portIfFree(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(undefined))
    server.listen({ host: '127.0.0.1', port, exclusive: true }, () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' ? address?.port : undefined))
    })
  })
}
