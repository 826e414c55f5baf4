/**
 * The servers of the comparison, on loopback, in temporary folders, from the packages of the operating system:
 *
 *   Kafka        the embedded broker, as `npm start` runs it. It does not sync each write.
 *   Redis        as BullMQ's documentation asks for: an append-only file, synced every second; nothing is evicted.
 *   PostgreSQL   its defaults: each commit is synced. Connections by TCP without TLS.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chown, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { freePort } from '../../src/demo/free-ports.ts'
import { type Bed, Stage, withBed } from '../tools/bed.ts'
import type { ServerName } from './systems/all.ts'
import { query } from './systems/postgres.ts'
import { load, type Place } from './systems/system.ts'

const run = promisify(execFile)
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
  const started: ChildProcess[] = []
  const servers = new Map<ServerName, Server>()
  try {
    const starts = { redis: startRedis, postgres: startPostgres }
    for (const name of ['redis', 'postgres'] as const) {
      if (!names.includes(name)) continue
      try {
        servers.set(name, await starts[name](folder, (child) => started.push(child)))
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
    await Promise.all(started.map(stopped))
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

async function startRedis(folder: string, onStart: (child: ChildProcess) => void): Promise<Server> {
  const port = await freePort(26_379)
  const settings = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'yes']
  const options = [...settings, '--appendfsync', 'everysec', '--maxmemory-policy', 'noeviction']
  onStart(
    await startProgram('redis-server', options, 'BullMQ is left out: install Redis (Debian: apt-get install redis-server).'),
  )
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

async function startPostgres(folder: string, onStart: (child: ChildProcess) => void): Promise<Server> {
  const missing = 'graphile-worker and pg-boss are left out: install PostgreSQL (Debian: apt-get install postgresql).'
  const bin = await postgresBin()
  if (bin === undefined) throw new Missing(missing)
  const data = join(folder, 'postgres')
  await mkdir(data)
  // It refuses to run as root.
  const user = process.getuid?.() === 0 ? { uid: await idOf('-u'), gid: await idOf('-g') } : {}
  if (user.uid !== undefined) {
    await chown(folder, user.uid, user.gid)
    await chown(data, user.uid, user.gid)
  }
  await run(join(bin, 'initdb'), ['-D', data, '-U', 'bench', '--auth=trust', '--no-instructions'], { ...user, cwd: data })
  const port = await freePort(25_432)
  const options = ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', data]
  onStart(await startProgram(join(bin, 'postgres'), options, missing, { ...user, cwd: data }))
  await answers(port)
  const urlOf = (database: string): string => `postgres://bench@127.0.0.1:${port}/${database}`
  let places = 0
  return {
    async place() {
      const database = `place_${++places}`
      await eventually(() => query(urlOf('postgres'), `create database ${database}`))
      const remove = async (): Promise<void> => void (await query(urlOf('postgres'), `drop database ${database} with (force)`))
      return { url: urlOf(database), registryUrl: '', prefix: '', remove }
    },
  }
}

/** The newest of Debian's versions, or what is in the path. */
async function postgresBin(): Promise<string | undefined> {
  const root = '/usr/lib/postgresql'
  const versions = await readdir(root).catch(() => [])
  const newest = versions.sort((left, right) => Number(right) - Number(left))[0]
  if (newest !== undefined) return join(root, newest, 'bin')
  const found = await run('pg_config', ['--bindir']).catch(() => undefined)
  return found?.stdout.trim()
}

const idOf = async (flag: '-u' | '-g'): Promise<number> => Number((await run('id', [flag, 'nobody'])).stdout)

async function startProgram(
  command: string,
  args: string[],
  missing: string,
  options: { uid?: number; gid?: number; cwd?: string } = {},
): Promise<ChildProcess> {
  const child = spawn(command, args, { ...options, stdio: 'ignore' })
  try {
    await once(child, 'spawn')
  } catch {
    throw new Missing(missing)
  }
  return child
}

async function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  // PostgreSQL: a fast shutdown, which does not wait for clients. Redis ends by it too.
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
