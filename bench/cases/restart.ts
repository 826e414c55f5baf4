/**
 * restart: `npm start` with its own broker and registry, pending jobs, and some jobs that fire each second. The program gets a
 * kill -9 and starts again at once. The figure is the time from the kill to the first fire after it, by the log. The phases come
 * from the output of the program, the broker and the registry.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { freePorts } from '../../src/demo/free-ports.ts'
import { connectLog } from '../../src/kafka/log.ts'
import { type Bed, jobs } from '../tools/bed.ts'
import { post } from './bulk.ts'

const farMs = 7 * 86_400_000
const payloadBytes = 200
const ticking = 20
const ticks = 'bench-ticks'
/** The killed program has run this long: by then its groups, transactions and stores are in full use. */
const warmMs = 5_000

/** A program as `npm start` runs it, in its own process group. */
class Program {
  readonly child: ChildProcess
  readonly lines: { time: number; msg: string; url?: string }[] = []
  readonly startedAt = Date.now()
  readonly #waiting = new Set<() => void>()

  constructor(env: Record<string, string>) {
    this.child = spawn(process.execPath, ['src/cli/duelog.ts', 'up'], {
      cwd: join(import.meta.dirname, '../..'),
      env: { PATH: process.env.PATH, HOME: process.env.HOME, JAVA_HOME: process.env.JAVA_HOME, DUELOG_LOG_LEVEL: 'info', ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
    })
    if (this.child.stdout === null) throw new Error('no output')
    createInterface({ input: this.child.stdout }).on('line', (line) => {
      if (!line.startsWith('{')) return
      const { time, msg, url } = JSON.parse(line) as { time: number | string; msg: string; url?: string }
      this.lines.push({ time: new Date(time).getTime(), msg, ...(url !== undefined && { url }) })
      for (const look of this.#waiting) look()
    })
  }

  /** Resolves with the time at which a line came that matches. */
  said(pattern: RegExp): Promise<number> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const found = this.lines.find(({ msg }) => pattern.test(msg))
        if (found === undefined) return
        this.#waiting.delete(look)
        resolve(found.time)
      }
      this.#waiting.add(look)
      this.child.once('exit', (code) => reject(new Error(`Duelog ended with code ${code} before it said ${pattern}.`)))
      look()
    })
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return
    const ended = once(this.child, 'exit')
    process.kill(-(this.child.pid ?? 0), signal)
    await ended
  }
}

export async function restart(_bed: Bed, n = 200_000): Promise<Record<string, unknown>> {
  const folder = await mkdtemp(join(tmpdir(), 'duelog-bench-restart-'))
  const { kafka: kafkaPort, registry: registryPort } = await freePorts({ kafka: 39_092, registry: 38_081, http: 0 })
  const env = {
    DUELOG_DATA_DIR: folder,
    DUELOG_EMBEDDED_KAFKA_PORT: String(kafkaPort),
    DUELOG_EMBEDDED_REGISTRY_PORT: String(registryPort),
    DUELOG_HTTP_PORT: '0',
    DUELOG_TARGET_TOPICS: ticks,
  }
  let program = new Program(env)
  try {
    await program.said(/^ready$/)
    const log = connectLog({ brokers: [`127.0.0.1:${kafkaPort}`], clientId: 'bench' })
    await log.ensureTopics({ plans: [{ topic: ticks, schema: 'execution', config: {} }], partitions: 1, replication: 1 })
    const url = urlOf(program)
    const at = Date.now() + farMs
    await post(url, [...jobs(n, (index) => at + index, payloadBytes), ...tickingJobs()])
    await new Promise((resolve) => setTimeout(resolve, warmMs))
    const load = Number((loadavg()[0] ?? 0).toFixed(1))
    await program.end('SIGKILL')
    const killedAt = Date.now()
    program = new Program(env)
    const readyAt = await program.said(/^ready$/)
    await new Promise((resolve) => setTimeout(resolve, 2_000))
    const fires: number[] = []
    await log.readToEnd({
      topics: [ticks],
      groupPrefix: 'bench-',
      onRecord: ({ timestampMs }) => void fires.push(timestampMs),
      onProgress: () => {},
      signal: AbortSignal.timeout(60_000),
    })
    const after = fires.filter((time) => time > killedAt)
    return {
      ...{ n, load, firstFireMs: Math.min(...after) - killedAt, readyMs: readyAt - killedAt },
      phases: phasesOf(program, folder, killedAt),
    }
  } finally {
    await program.end('SIGTERM')
    await rm(folder, { recursive: true, force: true, maxRetries: 10 })
  }
}

function* tickingJobs() {
  for (let index = 0; index < ticking; index++)
    yield { id: `tick-${index}`, schedule: { everyMs: 1_000 }, target: { topic: { name: ticks } }, payload: 'x' }
}

function urlOf({ lines }: Program): string {
  const url = lines.find(({ msg }) => msg === 'ready')?.url
  if (url === undefined) throw new Error('The line "ready" names no URL.')
  return url
}

/** The end of each phase, in ms after the kill. */
function phasesOf({ lines, startedAt }: Program, folder: string, killedAt: number): Record<string, number> {
  const phases: Record<string, number> = { spawned: startedAt - killedAt }
  for (const { time, msg } of lines) {
    const name = /^(Start: .*|embedded broker.* up|Assigned|Partition \d+ is active|ready)/.exec(msg)?.[0]
    if (name !== undefined) phases[name] = time - killedAt
  }
  for (const [name, pattern] of [
    ['kafka', /^(\S+) .*Kafka Server started/m],
    ['registry', /^(\d{4}-\S+ \S+) .*Listening on/m],
  ] as const) {
    const text = readFileSync(join(folder, 'logs', `${name}.log`), 'utf8')
    const time = pattern.exec(text)?.[1]
    if (time !== undefined)
      phases[`${name}.log started`] = new Date(time.replace(',', '.').replace(' ', 'T')).getTime() - killedAt
  }
  return phases
}
