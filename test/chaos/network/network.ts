/**
 * The network between the places, which faults cut. Two kinds do the same: network namespaces of Linux, where what is cut is dropped
 * by the kernel without a word, and TCP proxies on the addresses that brokers advertise, for where there is no right to make namespaces.
 */
import type { BrokerPlace, Place } from '../places.ts'

/** What a broker listens at, what it tells its clients of it, and where it looks for the other controllers. */
export interface BrokerListeners {
  listeners: string
  advertised: string
  protocols: string
  interBroker: string
  voters: string
}

export interface Command {
  program: string
  args: string[]
}

export interface Network {
  readonly kind: 'namespaces' | 'proxies'
  /** The command that starts a program at a place. */
  at(place: Place, program: string, args: readonly string[]): Command
  /** Address that programs at a place bind to. */
  host(place: Place): string
  /** Port for HTTP at a place. */
  httpPort(place: Place): number
  listeners(broker: BrokerPlace): BrokerListeners
  /** The brokers by the addresses that a client at this place knows them by. */
  bootstrap(place: Place): string[]
  /** Where the registry answers to those at this place. */
  registry(place: Place): { host: string; port: number }
  /** From now on nothing goes from one place to the other. No connection is refused or closed. */
  cut(from: Place, to: Place): Promise<void>
  /** Asked at the end of a cut: why it seems that something went all the same; undefined: nothing did. */
  leak(): Promise<string | undefined>
  /** All that was cut goes again. */
  heal(): Promise<void>
  /** The brokers by proxies that can hold answers back, for a client at this place. One place at a time uses them. */
  relayed(place: Place): string[]
  /** From now on answers to these kinds of request, by Kafka's number, come so much later to who uses the proxies; undefined: at once. */
  delay(delayMs: DelayMs | undefined): void
  close(): Promise<void>
}

/** How much later an answer to this kind of request comes, in ms. */
export type DelayMs = (apiKey: number) => number

/** Between a place and each of the others nothing goes, in neither direction. */
export async function cutOff(network: Network, place: Place, others: readonly Place[]): Promise<void> {
  for (const other of others) {
    await network.cut(place, other)
    await network.cut(other, place)
  }
}
