/**
 * Runs a command beside three brokers and a registry on loopback, without faults, and stops them after it:
 *
 *   node test/chaos/three-brokers.ts npm run bench -- partitions
 *
 * The command gets KAFKA_BROKERS, SCHEMA_REGISTRY_URL and DUELOG_REPLICATION=3. Each broker is also a controller.
 * Exit code: that of the command; 1 if a signal ended it.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { distinctPorts } from '../setup/free-ports.ts'
import { startBrokers } from './cluster/broker.ts'
import { registryUrl, startRegistry } from './cluster/registry.ts'
import { findTools } from './cluster/tools.ts'
import type { BrokerListeners, Places } from './network/network.ts'
import { type BrokerPlace, brokerPlaces, nodeIdOf } from './places.ts'
import type { Program } from './system/program.ts'

const host = '127.0.0.1'

const [command, ...args] = process.argv.slice(2)
if (command === undefined) {
  console.error('Usage: node test/chaos/three-brokers.ts COMMAND [ARGUMENT …]')
  process.exit(1)
}
const folder = await mkdtemp(join(tmpdir(), 'duelog-brokers-'))
const programs: Program[] = []
const note = (program: Program): void => void programs.push(program)
try {
  const tools = await findTools(folder, () => undefined)
  const { places, brokers } = await loopback()
  await Promise.all([startBrokers(places, tools, folder, note), startRegistry(places, tools, folder, note)])
  const cluster = {
    KAFKA_BROKERS: brokers.join(','),
    SCHEMA_REGISTRY_URL: registryUrl(places, 'registry'),
    DUELOG_REPLICATION: String(brokers.length),
  }
  const child = spawn(command, args, { stdio: 'inherit', env: { ...process.env, ...cluster } })
  // A terminal signals the command too. It ends by itself, and then the brokers do.
  process.on('SIGINT', () => undefined).on('SIGTERM', () => child.kill('SIGTERM'))
  const [code] = (await once(child, 'exit')) as [number | null]
  process.exitCode = code ?? 1
} finally {
  await Promise.all(programs.map((program) => program.stop()))
  await rm(folder, { recursive: true, force: true })
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
