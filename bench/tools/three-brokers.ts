/** Three brokers and a registry on loopback, each broker also a controller, while a case runs. They replicate every topic. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startBrokers } from '../../test/chaos/cluster/broker.ts'
import { registryUrl, startRegistry } from '../../test/chaos/cluster/registry.ts'
import { findTools } from '../../test/chaos/cluster/tools.ts'
import type { BrokerListeners, Places } from '../../test/chaos/network/network.ts'
import { type BrokerPlace, brokerPlaces, nodeIdOf } from '../../test/chaos/places.ts'
import type { Program } from '../../test/chaos/system/program.ts'
import { distinctPorts } from '../../test/setup/free-ports.ts'
import type { Bed } from './bed.ts'

const host = '127.0.0.1'

export async function withThreeBrokers(task: (bed: Bed) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'duelog-bench-'))
  const programs: Program[] = []
  const note = (program: Program): void => void programs.push(program)
  try {
    const tools = await findTools(folder, () => undefined)
    const { places, brokers } = await loopback()
    await Promise.all([startBrokers(places, tools, folder, note), startRegistry(places, tools, folder, note)])
    await task({ brokers, registryUrl: registryUrl(places, 'registry'), replication: brokers.length })
  } finally {
    await Promise.all(programs.map((program) => program.stop()))
    await rm(folder, { recursive: true, force: true })
  }
}

/** All places on the loopback address: two ports for each broker and one for the registry. */
async function loopback(): Promise<{ places: Places; brokers: string[] }> {
  const ports = await distinctPorts(2 * brokerPlaces.length + 1)
  const addressOf = (broker: BrokerPlace, controller: boolean): string =>
    `${host}:${ports[2 * (nodeIdOf(broker) - 1) + (controller ? 1 : 0)]}`
  const listeners = (broker: BrokerPlace): BrokerListeners => ({
    listeners: `CLIENTS://${addressOf(broker, false)},CONTROLLER://${addressOf(broker, true)}`,
    advertised: `CLIENTS://${addressOf(broker, false)}`,
    protocols: 'CLIENTS:PLAINTEXT,CONTROLLER:PLAINTEXT',
    interBroker: 'CLIENTS',
    voters: brokerPlaces.map((other) => `${nodeIdOf(other)}@${addressOf(other, true)}`).join(','),
  })
  return {
    places: {
      at: (_place, program, args) => ({ program, args: [...args] }),
      host: () => host,
      listeners,
      registry: () => ({ host, port: ports.at(-1) ?? 0 }),
    },
    brokers: brokerPlaces.map((broker) => addressOf(broker, false)),
  }
}
