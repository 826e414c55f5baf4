/** What a container of ours may do, asked from inside: user, root file system, capabilities, signals. */
import type { Container } from './compose.ts'
import { type Podman, run } from './podman.ts'

export interface Shape {
  uid: string
  rootWritable: boolean
  dataWritable: boolean
  /** Effective capabilities, as the kernel shows them: hexadecimal. */
  capabilities: string
  noNewPrivileges: string
  /** Secrets that `inspect` shows. */
  leaks: string[]
}

export interface Stopped {
  name: string
  exitCode: number
  ms: number
}

interface Inspected {
  State: { ExitCode: number }
  Config: { Env: string[] }
  NetworkSettings: { Ports: Record<string, { HostIp: string }[] | null> }
}

export async function shapeOf(podman: Podman, { id }: Container, secret: string): Promise<Shape> {
  const inside = async (...command: string[]) => run('podman', ['exec', id, ...command], { env: podman.env })
  const status = (await inside('cat', '/proc/1/status')).output
  const line = (name: string): string => new RegExp(`^${name}:\\s*(\\S+)`, 'm').exec(status)?.[1] ?? ''
  const writable = async (path: string): Promise<boolean> => (await inside('touch', path)).code === 0
  const [inspected] = await podman.json<Inspected[]>(['inspect', id])
  return {
    uid: line('Uid'),
    rootWritable: (await writable('/app/a-file')) || (await writable('/a-file')),
    dataWritable: (await inside('sh', '-c', 'touch "$DUELOG_DATA_DIR/.a-file"')).code === 0,
    capabilities: line('CapEff'),
    noNewPrivileges: line('NoNewPrivs'),
    leaks: (inspected?.Config.Env ?? []).filter((each) => each.includes(secret)),
  }
}

/** Names each difference from a container that may do nothing but its work. */
export function faultsOf(name: string, shape: Shape): string[] {
  const found: string[] = []
  if (shape.uid !== '1000') found.push(`${name} runs as user ${shape.uid}.`)
  if (shape.rootWritable) found.push(`${name} can write to its root.`)
  if (!shape.dataWritable) found.push(`${name} cannot write to its data folder.`)
  if (!/^0+$/.test(shape.capabilities)) found.push(`${name} has the capabilities ${shape.capabilities}.`)
  if (shape.noNewPrivileges !== '1') found.push(`${name} may gain privileges.`)
  if (shape.leaks.length > 0) found.push(`${name} shows its token in its environment.`)
  return found
}

/** Ports that other machines could reach. */
export async function openPorts(podman: Podman, containers: readonly Container[]): Promise<string[]> {
  const found: string[] = []
  for (const { id, name } of containers) {
    const [inspected] = await podman.json<Inspected[]>(['inspect', id])
    for (const [port, bindings] of Object.entries(inspected?.NetworkSettings.Ports ?? {}))
      for (const { HostIp } of bindings ?? []) if (HostIp !== '127.0.0.1') found.push(`${name} publishes ${port} at ${HostIp}.`)
  }
  return found
}

/** SIGTERM, and SIGKILL after the period that the compose file gives. */
export async function stop(podman: Podman, { id, name }: Container, graceS: number): Promise<Stopped> {
  const from = performance.now()
  await podman.do(['stop', '--time', String(graceS), id])
  const ms = Math.round(performance.now() - from)
  const [inspected] = await podman.json<Inspected[]>(['inspect', id])
  return { name, exitCode: inspected?.State.ExitCode ?? -1, ms }
}

/** Memory of each container in MB, as its control group counts it. */
export async function memoryOf(podman: Podman, containers: readonly Container[]): Promise<{ name: string; memory: string }[]> {
  const rows = await podman.json<{ name: string; mem_usage: string }[]>([
    ...['stats', '--no-stream', '--format', 'json'],
    ...containers.map(({ id }) => id),
  ])
  return rows.map((row) => ({ name: row.name, memory: row.mem_usage }))
}

/** Volumes that nobody named: an engine makes one for each folder that an image declares, and a removed container leaves it behind. */
export async function namelessVolumes(podman: Podman): Promise<string[]> {
  return (await podman.do(['volume', 'ls', '--quiet'])).split('\n').filter((name) => /^[0-9a-f]{64}$/.test(name))
}
