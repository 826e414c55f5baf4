/** Duelog as `npm start` runs it, with its own broker and registry, for the cases that measure the whole. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { freePorts } from '../../src/program/demo/free-ports.ts'

/** The program as `npm start` runs it, in its own process group. */
export class Program {
  readonly child: ChildProcess
  readonly lines: { time: number; msg: string; url?: string }[] = []
  readonly startedAt = Date.now()
  readonly #waiting = new Set<() => void>()

  constructor(env: Record<string, string>) {
    this.child = spawn(process.execPath, ['src/program/cli/duelog.ts', 'up'], {
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

  /** Its settings, with free ports and its data in `folder`. */
  static async settings(folder: string): Promise<{ kafkaPort: number; env: Record<string, string> }> {
    const { kafka: kafkaPort, registry } = await freePorts({ kafka: 39_092, registry: 38_081, http: 0 })
    const ports = {
      DUELOG_EMBEDDED_KAFKA_PORT: String(kafkaPort),
      DUELOG_EMBEDDED_REGISTRY_PORT: String(registry),
      DUELOG_HTTP_PORT: '0',
    }
    return { kafkaPort, env: { DUELOG_DATA_DIR: folder, ...ports } }
  }

  /** Resolves with the time at which it was ready. */
  ready(): Promise<number> {
    return this.said(/^ready$/)
  }

  get url(): string {
    const url = this.lines.find(({ msg }) => msg === 'ready')?.url
    if (url === undefined) throw new Error('The line "ready" names no URL.')
    return url
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
