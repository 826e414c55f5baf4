/**
 * One network namespace for each place, on one bridge. The drill itself runs in namespaces of its own (network, mounts,
 * processes: see run.ts). So it changes nothing in the network of the machine, and everything disappears with the first process
 * of the drill.
 *
 * A cut is an entry in the neighbor table that sends frames to an address of nobody. Packets leave and never arrive, in one
 * direction, without notice to either side, on open and on new connections. It needs only `ip` and `nsenter`: no packet filter,
 * no module.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { promisify } from 'node:util'
import { type BrokerPlace, brokerPlaces, nodeIdOf, type Place, places } from '../places.ts'
import type { BrokerListeners, Command, DelayMs, Network } from './network.ts'
import { type Relay, startRelay } from './relay.ts'

const run = promisify(execFile)
const bridge = 'bridge0'
const device = 'eth0'
/** A locally administered address that no interface has. */
const nobody = '02:00:00:00:de:ad'

/** The first port of the listeners that tell their clients the address of a proxy. The proxies have the next ports. */
const relayedPort = 9_100

const hostOf = (place: Place): string => `10.99.0.${place === 'outside' ? 1 : 10 + places.indexOf(place)}`

const relayedAddress = (broker: BrokerPlace): string => `${hostOf('outside')}:${relayedPort + nodeIdOf(broker)}`

/** Why namespaces are not possible on this machine; undefined: they are. */
export async function namespacesMissing(): Promise<string | undefined> {
  const trial = ['ip link set lo up', 'ip link add v0 type veth peer name v1', 'ip link add b0 type bridge'].join(' && ')
  try {
    await run('unshare', [...unshareArguments, 'sh', '-c', trial])
    return undefined
  } catch (error) {
    return (error as { stderr?: string }).stderr?.trim().split('\n')[0] || (error as Error).message
  }
}

/** Own network, mounts and processes. All processes end with the first. */
export const unshareArguments = ['--net', '--mount', '--pid', '--fork', '--kill-child=SIGKILL', '--mount-proc'] as const

export async function openNamespaces(): Promise<Network> {
  const holders = new Map<Place, ChildProcess>()
  const inside = (place: Place, program: string, args: readonly string[]): Command => {
    const pid = holders.get(place)?.pid
    return pid === undefined
      ? { program, args: [...args] }
      : { program: 'nsenter', args: ['-t', `${pid}`, '-n', program, ...args] }
  }
  const ip = async (place: Place, ...args: string[]): Promise<void> => {
    const command = inside(place, 'ip', args)
    await run(command.program, command.args)
  }
  await ip('outside', 'link', 'set', 'lo', 'up')
  await ip('outside', 'link', 'add', bridge, 'type', 'bridge')
  await ip('outside', 'addr', 'add', `${hostOf('outside')}/24`, 'dev', bridge)
  await ip('outside', 'link', 'set', bridge, 'up')
  for (const [index, place] of places.entries()) {
    if (place === 'outside') continue
    const holder = await hold()
    holders.set(place, holder)
    await ip('outside', 'link', 'add', `v${index}`, 'type', 'veth', 'peer', 'name', device, 'netns', `${holder.pid}`)
    await ip('outside', 'link', 'set', `v${index}`, 'master', bridge, 'up')
    await ip(place, 'addr', 'add', `${hostOf(place)}/24`, 'dev', device)
    await ip(place, 'link', 'set', device, 'up')
    await ip(place, 'link', 'set', 'lo', 'up')
  }
  const deviceOf = (place: Place): string => (place === 'outside' ? bridge : device)
  const relays = new Map<BrokerPlace, Relay>()
  let delayed: DelayMs | undefined
  for (const broker of brokerPlaces)
    relays.set(
      broker,
      await startRelay({
        target: { host: hostOf(broker), port: relayedPort },
        host: hostOf('outside'),
        port: relayedPort + nodeIdOf(broker),
        drops: () => false,
        delayMs: (apiKey) => delayed?.(apiKey) ?? 0,
      }),
    )
  const cuts = new Map<string, { from: Place; to: Place }>()
  return {
    kind: 'namespaces',
    at: inside,
    host: hostOf,
    httpPort: () => 8080,
    listeners,
    bootstrap: () => brokerPlaces.map((broker) => `${hostOf(broker)}:9092`),
    registry: () => ({ host: hostOf('registry'), port: 8081 }),
    async cut(from, to) {
      cuts.set(`${from} ${to}`, { from, to })
      await ip(from, 'neigh', 'replace', hostOf(to), 'lladdr', nobody, 'dev', deviceOf(from), 'nud', 'permanent')
    },
    async leak() {
      const leaks = await Promise.all([...targetsOf(cuts.values())].map(([from, to]) => answering(inside, from, to)))
      return leaks.flat().join('; ') || undefined
    },
    async heal() {
      for (const [key, { from, to }] of [...cuts]) {
        await ip(from, 'neigh', 'del', hostOf(to), 'dev', deviceOf(from))
        cuts.delete(key)
      }
    },
    relayed: () => brokerPlaces.map(relayedAddress),
    delay(delayMs) {
      delayed = delayMs
    },
    async close() {
      await Promise.all([...relays.values()].map((relay) => relay.close()))
      for (const holder of holders.values()) holder.stdin?.end()
    },
  }
}

/**
 * The targets of the cuts from each place. If two places are cut in both directions, one entry is enough: neither gets an answer.
 */
function targetsOf(cuts: Iterable<{ from: Place; to: Place }>): Map<Place, Place[]> {
  const targets = new Map<Place, Place[]>()
  for (const { from, to } of cuts)
    if (targets.get(to)?.includes(from) !== true) targets.set(from, [...(targets.get(from) ?? []), to])
  return targets
}

/** Connects to a port without a listener: a kernel that gets the packet refuses at once, whatever its programs do. */
const asking = `
const { connect } = require('node:net')
for (const host of process.argv.slice(1)) {
  const socket = connect(9, host)
  const heard = () => { console.log(host); socket.destroy() }
  socket.once('connect', heard).once('error', ({ code }) => code === 'ECONNREFUSED' && heard())
  socket.setTimeout(1000, () => socket.destroy())
}`

async function answering(
  inside: (place: Place, program: string, args: readonly string[]) => Command,
  from: Place,
  to: readonly Place[],
): Promise<string[]> {
  const { program, args } = inside(from, process.execPath, ['-e', asking, ...to.map(hostOf)])
  const { stdout } = await run(program, args)
  return to.filter((place) => stdout.split('\n').includes(hostOf(place))).map((place) => `${place} answers ${from}`)
}

/** A process that only keeps a network namespace alive. It ends when its pipe to the drill closes. */
async function hold(): Promise<ChildProcess> {
  const child = spawn('unshare', ['--net', 'sh', '-c', 'echo ready; read -r _ || true'], { stdio: ['pipe', 'pipe', 'inherit'] })
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', () => reject(new Error('A network namespace could not be made.')))
    child.stdout?.once('data', () => resolve())
  })
  return child
}

function listeners(broker: BrokerPlace): BrokerListeners {
  const client = `PLAINTEXT://${hostOf(broker)}:9092`
  return {
    listeners: `${client},RELAYED://${hostOf(broker)}:${relayedPort},CONTROLLER://${hostOf(broker)}:9093`,
    advertised: `${client},RELAYED://${relayedAddress(broker)}`,
    protocols: 'PLAINTEXT:PLAINTEXT,RELAYED:PLAINTEXT,CONTROLLER:PLAINTEXT',
    interBroker: 'PLAINTEXT',
    voters: brokerPlaces.map((place) => `${nodeIdOf(place)}@${hostOf(place)}:9093`).join(','),
  }
}
