/**
 * TCP proxies on the advertised listeners, for machines where no namespaces can be made. All places are on the loopback address.
 * Each broker has one listener for each place and advertises there the proxies of that place. So all traffic between a place and
 * a broker passes through one proxy. Brokers among themselves share a listener; their client ids tell them apart. Controllers
 * have one proxy for each pair. Traffic that does not go to a broker (the registry, HTTP between processes) is not cut.
 *
 * A proxy that drops everything still accepts connections and nobody answers. With namespaces not even the connection is
 * accepted.
 */

import { distinctPorts } from '../../setup/free-ports.ts'
import { type BrokerPlace, brokerPlaces, nodeIdOf, type Place, places } from '../places.ts'
import type { DelayMs, Network } from './network.ts'
import { type Relay, startRelay } from './relay.ts'

const host = '127.0.0.1'
const isBroker = (place: Place): place is BrokerPlace => (brokerPlaces as readonly Place[]).includes(place)
const clients = places.filter((place) => !isBroker(place) && place !== 'registry')
const listenerOf = (place: Place): string => place.replace('-', '').toUpperCase()

/** The listeners of one broker: real ports, and the ports of their proxies. */
interface Door {
  real: number
  proxy: number
}

export async function openProxies(): Promise<Network> {
  const relays: Relay[] = []
  const cuts = new Set<string>()
  const isCut = (from: Place, to: Place): boolean => cuts.has(`${from} ${to}`)
  // Takes the ports of all listeners and proxies at once: a port that is released may be given to another program.
  const ports = await distinctPorts(brokerPlaces.length * (2 * clients.length + 2 + brokerPlaces.length) + places.length)
  const port = (): number => ports.pop() ?? 0
  const httpPorts = new Map<Place, number>(places.map((place) => [place, port()]))
  const doors = new Map<string, Door>()
  let delayed: DelayMs | undefined
  let dropped = 0

  /**
   * A proxy in front of a port of a broker. It can delay answers to schedulers. `from` says which place a connection comes from,
   * by the client id if there are several.
   */
  const before = async (
    key: string,
    broker: BrokerPlace,
    real: number,
    from: (client: string) => Place | undefined,
    held = false,
  ) => {
    const drops = (toServer: boolean, client: string): boolean => {
      const other = from(client)
      const drop = other !== undefined && (toServer ? isCut(other, broker) : isCut(broker, other))
      if (drop) dropped++
      return drop
    }
    const relay = await startRelay({
      target: { host, port: real },
      port: port(),
      drops,
      ...(held ? { delayMs: (apiKey: number) => delayed?.(apiKey) ?? 0 } : {}),
    })
    relays.push(relay)
    doors.set(key, { real, proxy: relay.port })
  }
  for (const broker of brokerPlaces) {
    for (const place of clients) await before(`${broker} ${place}`, broker, port(), () => place, place.startsWith('scheduler'))
    await before(`${broker} inter`, broker, port(), (client) => peerOf(client, broker))
    const controller = port()
    for (const other of brokerPlaces)
      if (other !== broker) await before(`${broker} controller ${other}`, broker, controller, () => other)
  }
  const door = (key: string): Door => {
    const found = doors.get(key)
    if (found === undefined) throw new Error(`There is no listener ${key}.`)
    return found
  }
  const bootstrap = (place: Place): string[] => brokerPlaces.map((broker) => `${host}:${door(`${broker} ${place}`).proxy}`)
  return {
    kind: 'proxies',
    at: (_place, program, args) => ({ program, args: [...args] }),
    host: () => host,
    httpPort: (place) => httpPorts.get(place) ?? 0,
    listeners(broker) {
      const named = [
        ...clients.map((place) => ({ name: listenerOf(place), ...door(`${broker} ${place}`) })),
        { name: 'INTER', ...door(`${broker} inter`) },
      ]
      const [peer] = brokerPlaces.filter((other) => other !== broker)
      const own = door(`${broker} controller ${peer}`).real
      const voter = (other: BrokerPlace): number => (other === broker ? own : door(`${other} controller ${broker}`).proxy)
      return {
        listeners: [...named.map(({ name, real }) => `${name}://${host}:${real}`), `CONTROLLER://${host}:${own}`].join(','),
        advertised: named.map(({ name, proxy }) => `${name}://${host}:${proxy}`).join(','),
        protocols: [...named.map(({ name }) => `${name}:PLAINTEXT`), 'CONTROLLER:PLAINTEXT'].join(','),
        interBroker: 'INTER',
        voters: brokerPlaces.map((other) => `${nodeIdOf(other)}@${host}:${voter(other)}`).join(','),
      }
    },
    relayed: bootstrap,
    delay(delayMs) {
      delayed = delayMs
    },
    bootstrap,
    registry: () => ({ host, port: httpPorts.get('registry') ?? 0 }),
    async cut(from, to) {
      cuts.add(`${from} ${to}`)
    },
    leak: async () => (dropped === 0 ? 'nothing was there to be dropped' : undefined),
    async heal() {
      cuts.clear()
      dropped = 0
    },
    async close() {
      await Promise.all(relays.map((relay) => relay.close()))
    },
  }
}

/**
 * The broker that a client of the listener between brokers is: `broker-2-fetcher-0`, `broker-2-txn-marker-sender`. Kafka names
 * them so.
 */
function peerOf(client: string, broker: BrokerPlace): BrokerPlace | undefined {
  const place = /broker-\d+/.exec(client)?.[0]
  return brokerPlaces.find((other) => other === place && other !== broker)
}
