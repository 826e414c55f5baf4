/**
 * The servers of the comparison, on loopback, in temporary folders, from the packages of the operating system:
 *
 *   Kafka        the embedded broker, as `npm start` runs it. It does not sync each write.
 *   Redis        as BullMQ's documentation asks for: an append-only file, synced every second; nothing is evicted.
 *   PostgreSQL   its defaults: each commit is synced. Connections by TCP without TLS.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { freePort } from '../../src/program/demo/free-ports.ts'
import { type Bed, Stage, withBed } from '../tools/bed.ts'
import { startPostgresServer } from '../tools/postgres-server.ts'
import type { ServerName } from './systems/all.ts'
import { load, type Place } from './systems/system.ts'

const startMsMax = 30_000

/** A place for one run, empty at its beginning. */
export interface RunPlace extends Place {
  remove(): Promise<void>
}

export interface Server {
  /** `needsOwner`: whether an owner of Duelog has to run. */
  place(needsOwner: boolean): Promise<RunPlace>
}

/** Why a server is not there, in a sentence for the user. */
export class Missing extends Error {}

export async function withServers(
  names: readonly ServerName[],
  task: (servers: Map<ServerName, Server>) => Promise<void>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'duelog-peers-'))
  const stops: (() => Promise<void>)[] = []
  const servers = new Map<ServerName, Server>()
  try {
    const starts = { redis: startRedis, postgres: startPostgres }
    for (const name of ['redis', 'postgres'] as const) {
      if (!names.includes(name)) continue
      try {
        servers.set(name, await starts[name](folder, (stop) => stops.push(stop)))
      } catch (error) {
        if (!(error instanceof Missing)) throw error
        console.error(error.message)
      }
    }
    if (!names.includes('kafka')) return await task(servers)
    await withBed(async (bed) => {
      servers.set('kafka', { place: (needsOwner) => kafkaPlace(bed, needsOwner) })
      await task(servers)
    })
  } finally {
    await Promise.all(stops.map((stop) => stop()))
    await rm(folder, { recursive: true, force: true, maxRetries: 10 })
  }
}

async function kafkaPlace(bed: Bed, needsOwner: boolean): Promise<RunPlace> {
  const stage = await Stage.open(bed)
  if (needsOwner) await stage.start('scheduler,retrier', 'owner')
  return {
    url: bed.brokers[0] ?? '',
    registryUrl: bed.registryUrl,
    prefix: stage.prefix,
    remove: () => stage.close(),
  }
}

async function startRedis(folder: string, onStop: (stop: () => Promise<void>) => void): Promise<Server> {
  const port = await freePort(26_379)
  const settings = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'yes']
  const options = [...settings, '--appendfsync', 'everysec', '--maxmemory-policy', 'noeviction']
  const child = await startProgram('redis-server', options)
  onStop(() => stopped(child))
  await answers(port)
  const url = `redis://127.0.0.1:${port}`
  interface Redis {
    default: new (url: string) => { flushall(): Promise<unknown>; quit(): Promise<unknown> }
  }
  const { default: Client } = await load<Redis>('ioredis')
  const remove = async (): Promise<void> => {
    const client = new Client(url)
    await client.flushall()
    await client.quit()
  }
  return { place: async () => ({ url, registryUrl: '', prefix: '', remove }) }
}

async function startPostgres(folder: string, onStop: (stop: () => Promise<void>) => void): Promise<Server> {
  const server = await startPostgresServer(folder)
  if (server === undefined)
    throw new Missing('graphile-worker and pg-boss are left out: install PostgreSQL (Debian: apt-get install postgresql).')
  onStop(() => server.stop())
  let places = 0
  return {
    async place() {
      const database = `place_${++places}`
      return { url: await server.create(database), registryUrl: '', prefix: '', remove: () => server.drop(database) }
    },
  }
}

async function startProgram(command: string, args: string[]): Promise<ChildProcess> {
  const child = spawn(command, args, { stdio: 'ignore' })
  try {
    await once(child, 'spawn')
  } catch {
    throw new Missing('BullMQ is left out: install Redis (Debian: apt-get install redis-server).')
  }
  return child
}

async function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGINT')
  await ended
}

const answers = (port: number): Promise<void> =>
  eventually(async () => {
    const socket = connect(port, '127.0.0.1')
    try {
      await once(socket, 'connect')
    } finally {
      socket.destroy()
    }
  })

async function eventually(task: () => Promise<unknown>): Promise<void> {
  const endMs = performance.now() + startMsMax
  for (;;) {
    try {
      await task()
      return
    } catch (error) {
      if (performance.now() > endMs) throw error
      await setTimeout(100)
    }
  }
}
