/**
 * The network between the places, which faults cut. There are two kinds. With network namespaces of Linux, the kernel drops
 * packets without notice. Without the right to make namespaces, TCP proxies stand at the addresses that brokers advertise.
 */
import type { BrokerPlace, Place } from '../places.ts'

/** The listeners of a broker, the addresses it advertises, and the addresses of the other controllers. */
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
  /** Returns the command that starts a program at a place. */
  at(place: Place, program: string, args: readonly string[]): Command
  /** The address to which programs at a place bind. */
  host(place: Place): string
  /** The port for HTTP at a place. */
  httpPort(place: Place): number
  listeners(broker: BrokerPlace): BrokerListeners
  /** The addresses of the brokers for a client at this place. */
  bootstrap(place: Place): string[]
  /** The address of the registry for programs at this place. */
  registry(place: Place): { host: string; port: number }
  /** Drops everything from one place to the other. No connection is refused or closed. */
  cut(from: Place, to: Place): Promise<void>
  /** Called at the end of a cut. Returns why it seems that something passed the cut; undefined: nothing did. */
  leak(): Promise<string | undefined>
  /** Ends all cuts. */
  heal(): Promise<void>
  /**
   * The addresses of proxies that can delay the answers of the brokers, for a client at this place. One place at a time uses
   * them.
   */
  relayed(place: Place): string[]
  /** Delays the answers to these kinds of request (numbers of Kafka) for the client of the proxies; undefined: no delay. */
  delay(delayMs: DelayMs | undefined): void
  close(): Promise<void>
}

/** What programs need to run at their places. */
export type Places = Pick<Network, 'at' | 'host' | 'listeners' | 'registry'>

/** The delay of an answer to this kind of request, in ms. */
export type DelayMs = (apiKey: number) => number

/** Cuts a place off from each of the others, in both directions. */
export async function cutOff(network: Network, place: Place, others: readonly Place[]): Promise<void> {
  for (const other of others) {
    await network.cut(place, other)
    await network.cut(other, place)
  }
}
