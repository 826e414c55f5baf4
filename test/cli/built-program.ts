/** Runs the program against a system that a test started. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect } from 'vitest'
import { readConfig } from '../../src/ground/config/config.ts'
import { main } from '../../src/program/cli/program.ts'
import { type System, startSystem } from '../../src/program/system/system.ts'
import type { Handlers } from '../../src/worker/executor/handlers/handler.ts'
import { silent } from '../executor/harness.ts'
import { FakeTerminal } from './fake-terminal.ts'

const program = fileURLToPath(new URL('../../src/program/cli/duelog.ts', import.meta.url))

export interface Ended {
  code: number | null
  out: string
  err: string
  /** Lines of stdout as JSON. */
  json(): Record<string, unknown>[]
}

/** Runs it in its own process, as a shell does. */
export async function duelog(args: string[], { env = {}, input = '', interrupted }: Surroundings = {}): Promise<Ended> {
  const child = spawn(process.execPath, [program, ...args], { env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env } })
  const text = { out: '', err: '' }
  child.stdout.on('data', (chunk) => {
    text.out += chunk
  })
  child.stderr.on('data', (chunk) => {
    text.err += chunk
  })
  // A command that reads nothing may have exited already.
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  void interrupted?.then(() => child.kill('SIGINT'))
  const [code] = (await once(child, 'close')) as [number | null]
  return endedWith(code, text.out, text.err)
}

/** Runs it in this process, without the cost of a start. */
export async function duelogHere(args: string[], { env = {}, input = '' }: Surroundings = {}): Promise<Ended> {
  const terminal = new FakeTerminal({ env })
  const code = await main(args, Object.assign(terminal, { stdin: Readable.from([Buffer.from(input)]) }))
  return endedWith(code, terminal.out.join(''), terminal.err.join(''))
}

interface Surroundings {
  env?: Record<string, string>
  input?: string
  /** Ctrl-C when it resolves, for a process of its own. */
  interrupted?: Promise<unknown>
}

function endedWith(code: number | null, out: string, err: string): Ended {
  return { code, out, err, json: () => out.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)])) }
}

export interface Bed {
  /** The program against the system of this file. */
  run(...args: string[]): Promise<Ended>
  feed(input: string, ...args: string[]): Promise<Ended>
  /** Writes a file and gives its path. */
  file(name: string, text: string): Promise<string>
  env: Record<string, string>
  system: System
}

/** A complete system on its own topics, for all tests of a file. */
export function systemOfThisFile(name: string, settings: Record<string, string> = {}, handlers: Handlers = {}): Bed {
  const bed = {} as Bed
  let folder = ''
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'duelog-cli-'))
    const kafka = {
      KAFKA_BROKERS: process.env.DUELOG_TEST_BROKERS ?? '',
      SCHEMA_REGISTRY_URL: process.env.DUELOG_TEST_REGISTRY ?? '',
      DUELOG_TOPIC_PREFIX: `cli-${name}-${process.pid}-${Date.now()}.`,
    }
    const own = { DUELOG_HTTP_PORT: '0', DUELOG_PARTITIONS: '2', DUELOG_REPLICATION: '1', DUELOG_DATA_DIR: join(folder, 'data') }
    bed.system = await startSystem({ config: readConfig({ ...kafka, ...own, ...settings }), handlers, logger: silent })
    await bed.system.ready()
    bed.env = { ...kafka, DUELOG_URL: bed.system.url }
    bed.run = (...args) => duelogHere(args, { env: bed.env })
    bed.feed = (input, ...args) => duelogHere(args, { env: bed.env, input })
    bed.file = async (file, text) => {
      await writeFile(join(folder, file), text)
      return join(folder, file)
    }
  })
  afterAll(async () => {
    await bed.system?.stop()
    await rm(folder, { recursive: true, force: true })
  })
  return bed
}

/** One sentence on stderr and nothing on stdout. */
export function expectSentence({ out, err }: Ended, words: string): void {
  expect(out).toBe('')
  expect(err).toMatch(/^duelog: [^\n]+\n$/)
  expect(err).toContain(words)
}
