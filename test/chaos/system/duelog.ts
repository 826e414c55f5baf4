/**
 * The product as users run it: three schedulers, an API with the retry forwarder, two workers. Each is a process `duelog up` at a
 * place of its own.
 */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { registryUrl } from '../cluster/registry.ts'
import type { Network } from '../network/network.ts'
import { type Place, type SchedulerPlace, schedulerPlaces, type WorkerPlace, workerPlaces } from '../places.ts'
import { Program } from './program.ts'

export const partitions = 12
export const topicPrefix = 'duelog.'
export const targetTopic = 'chaos-target'
export const canaryTopic = 'chaos-canary'
export const schedulerGroup = `${topicPrefix}scheduler`
/** Used only by this drill, in its own network. */
export const apiToken = 'chaos-drill-admin-token-0001'

/** The root folder of the code that the processes run: this project, or another version of it. */
export const ownCode = fileURLToPath(new URL('../../../', import.meta.url))
const handlers = fileURLToPath(new URL('handlers.ts', import.meta.url))

export interface System {
  schedulers: Record<SchedulerPlace, Program>
  workers: Record<WorkerPlace, Program>
  api: Program
}

export interface SystemOptions {
  network: Network
  folder: string
  /** The folder to which the handlers write their starts. */
  starts: string
}

export async function planSystem({ network, folder, starts }: SystemOptions): Promise<System> {
  const make = async (place: Place, roles: string): Promise<Program> => {
    const home = join(folder, place)
    await mkdir(home, { recursive: true })
    return new Program(network, {
      title: place,
      place,
      program: process.execPath,
      args: [join(ownCode, 'src/program/cli/duelog.ts'), 'up'],
      env: { ...settings(network, place), DUELOG_ROLES: roles, DUELOG_DATA_DIR: join(home, 'data'), CHAOS_STARTS: starts },
      folder: home,
      ready: /^Ready\./m,
    })
  }
  const of = async <P extends Place>(list: readonly P[], roles: string): Promise<Record<P, Program>> =>
    Object.fromEntries(await Promise.all(list.map(async (place) => [place, await make(place, roles)] as const))) as Record<
      P,
      Program
    >
  return {
    schedulers: await of(schedulerPlaces, 'scheduler'),
    workers: await of(workerPlaces, 'executor'),
    api: await make('api', 'api,retrier'),
  }
}

/** The settings of every process of the product, and of `duelog audit`. */
export function settings(network: Network, place: Place): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '',
    HOME: process.env.HOME ?? '',
    NODE_ENV: 'production',
    KAFKA_BROKERS: network.bootstrap(place).join(','),
    SCHEMA_REGISTRY_URL: registryUrl(network, place),
    DUELOG_TOPIC_PREFIX: topicPrefix,
    DUELOG_PARTITIONS: String(partitions),
    DUELOG_REPLICATION: '3',
    DUELOG_HTTP_HOST: network.host(place),
    DUELOG_HTTP_PORT: String(network.httpPort(place)),
    DUELOG_API_TOKENS: `admin:${apiToken}`,
    DUELOG_HANDLERS: handlers,
    DUELOG_TARGET_TOPICS: targetTopic,
  }
}

/** All programs, schedulers first. */
export const programsOf = ({ schedulers, workers, api }: System): Program[] => [
  ...Object.values(schedulers),
  ...Object.values(workers),
  api,
]
