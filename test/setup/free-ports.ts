/**
 * Loopback ports that no process uses at this moment, for processes that a test starts later. They are below the ports that systems give to outgoing
 * connections (from 32,768 on in Linux, from 49,152 elsewhere). Among those, any process of the machine may get one before the test uses it. They are
 * taken at random, so that test runs beside each other rarely choose the same ones.
 */
import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

const [first, last] = [10_000, 32_000]
/** Ports that were given in this process. A process of another test may use one and be down at the moment. */
const given = new Set<number>()
const triesMax = 1_000

/** A port for a broker, with the next port also free, and a port for a registry. */
export async function freePorts(): Promise<[kafka: number, registry: number]> {
  const [kafka] = await portsInARow(2)
  const [registry] = await portsInARow(1)
  return [kafka as number, registry as number]
}

/** This many ports, no two of them the same. */
export async function distinctPorts(count: number): Promise<number[]> {
  const ports: number[] = []
  for (let number = 0; number < count; number++) ports.push(...(await portsInARow(1)))
  return ports
}

async function portsInARow(count: number): Promise<number[]> {
  for (let tries = 0; tries < triesMax; tries++) {
    const start = randomInt(first, last - count)
    const ports = Array.from({ length: count }, (_, index) => start + index)
    if (ports.some((port) => given.has(port))) continue
    for (const port of ports) given.add(port)
    if ((await Promise.all(ports.map(isFree))).every(Boolean)) return ports
  }
  throw new Error(`No ${count} free ports in a row between ${first} and ${last} in ${triesMax} tries.`)
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen({ host: '127.0.0.1', port, exclusive: true }, () => server.close(() => resolve(true)))
  })
}
