/** Measures Kafka itself: see canary.py. */
import { fileURLToPath } from 'node:url'
import { AskedProcess } from './asked-process.ts'

const script = fileURLToPath(new URL('canary.py', import.meta.url))

export interface CanaryOptions {
  brokers: string
  topic: string
  partitions: number
}

export class Canary {
  readonly #process: AskedProcess

  private constructor(process: AskedProcess) {
    this.#process = process
  }

  /** Resolves when the canary writes. */
  static async start(python: string, options: CanaryOptions): Promise<Canary> {
    return new Canary(await AskedProcess.start('canary', python, script, options))
  }

  /** Counts writes from this time on. */
  async window(at: number): Promise<void> {
    await this.#process.ask({ cmd: 'window', at })
  }

  /** The longest duration of a write since then, in ms. */
  async gapMs(): Promise<number> {
    return ((await this.#process.ask({ cmd: 'gap' })) as { ms: number }).ms
  }

  stop(): Promise<void> {
    return this.#process.stop()
  }
}
