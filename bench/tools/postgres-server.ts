/**
 * A PostgreSQL of Debian's packages on loopback, with its defaults: each commit is synced. Connections by TCP without TLS. For benchmarks
 * and tests.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chown, mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { freePort } from '../../src/program/demo/free-ports.ts'

const run = promisify(execFile)
const startMsMax = 30_000
const portFirst = 25_432

export interface PostgresServer {
  /** Creates an empty database and resolves with its URL. */
  create(name: string): Promise<string>
  drop(name: string): Promise<void>
  /** The single value that a statement answers in a database. */
  value(sql: string, database: string): Promise<string>
  stop(): Promise<void>
}

/** `folder`: becomes that of the server. Resolves with undefined if PostgreSQL is not installed. */
export async function startPostgresServer(folder: string): Promise<PostgresServer | undefined> {
  const bin = await binaries()
  if (bin === undefined) return undefined
  const data = join(folder, 'postgres')
  await mkdir(data)
  // It refuses to run as root.
  const user = process.getuid?.() === 0 ? { uid: await idOf('-u'), gid: await idOf('-g') } : {}
  if (user.uid !== undefined) {
    await chown(folder, user.uid, user.gid)
    await chown(data, user.uid, user.gid)
  }
  await run(join(bin, 'initdb'), ['-D', data, '-U', 'bench', '--auth=trust', '--no-instructions'], { ...user, cwd: data })
  const port = await freePort(portFirst)
  const options = ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', data]
  const child = spawn(join(bin, 'postgres'), options, { ...user, cwd: data, stdio: 'ignore' })
  await once(child, 'spawn')
  const place = ['-h', '127.0.0.1', '-p', String(port), '-U', 'bench', '-qtA']
  const query = async (sql: string, database = 'postgres'): Promise<string> =>
    (await run(join(bin, 'psql'), [...place, '-d', database, '-c', sql])).stdout.trim()
  await eventually(() => query('select 1'), child)
  return {
    async create(name) {
      await query(`create database ${name}`)
      return `postgres://bench@127.0.0.1:${port}/${name}`
    },
    drop: async (name) => void (await query(`drop database ${name} with (force)`)),
    value: query,
    stop: () => stopped(child),
  }
}

/** The newest of Debian's versions, or what is in the path. */
async function binaries(): Promise<string | undefined> {
  const root = '/usr/lib/postgresql'
  const versions = await readdir(root).catch(() => [])
  const newest = versions.sort((left, right) => Number(right) - Number(left))[0]
  if (newest !== undefined) return join(root, newest, 'bin')
  const found = await run('pg_config', ['--bindir']).catch(() => undefined)
  return found?.stdout.trim()
}

const idOf = async (flag: '-u' | '-g'): Promise<number> => Number((await run('id', [flag, 'nobody'])).stdout)

async function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  // A fast shutdown, which does not wait for clients.
  child.kill('SIGINT')
  await ended
}

async function eventually(task: () => Promise<unknown>, child: ChildProcess): Promise<void> {
  const endMs = performance.now() + startMsMax
  for (;;) {
    try {
      return void (await task())
    } catch (error) {
      if (performance.now() > endMs || child.exitCode !== null) throw error
      await setTimeout(100)
    }
  }
}
