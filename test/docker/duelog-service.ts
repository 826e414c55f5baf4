/** A service of ours from the compose file as a plain process: the program of the image with the environment of its container. */
import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { duelogEnvironment } from '../setup/environment.ts'
import type { Test } from '../tools/duelog-process.ts'
import { tellIfFailed } from '../tools/story.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const outputKept = 20_000

export class DuelogService {
  readonly name: string
  readonly exited: Promise<number | null>
  readonly #child: ChildProcess
  readonly #looks = new Set<() => void>()
  #output = ''
  #ended = false

  /** `program` is the folder of the program. Default: this house. */
  constructor(test: Test, name: string, environment: Record<string, string>, program = root) {
    this.name = name
    this.#child = spawn(process.execPath, ['src/program/cli/duelog.ts', 'up'], {
      cwd: program,
      env: { ...duelogEnvironment(environment), NODE_ENV: 'production' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const hear = (text: Buffer): void => {
      this.#output = (this.#output + String(text)).slice(-outputKept)
      for (const look of [...this.#looks]) look()
    }
    this.#child.stdout?.on('data', hear)
    this.#child.stderr?.on('data', hear)
    this.exited = new Promise((resolve) => {
      this.#child.once('close', (code) => {
        this.#ended = true
        hear(Buffer.alloc(0))
        resolve(code)
      })
    })
    tellIfFailed(test, () => `${name}:\n${this.#output}`)
    test.onTestFinished(async () => {
      if (!this.#ended) this.#child.kill('SIGKILL')
      await this.exited
    })
  }

  /** Resolves when all that is assigned to it fires. Rejects when it ends before. */
  ready(): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        if (/^Ready\.$/m.test(this.#output)) resolve()
        else if (this.#ended) reject(new Error(`${this.name} ended before it was ready: ${this.#output.slice(-2_000)}`))
        else return
        this.#looks.delete(look)
      }
      this.#looks.add(look)
      look()
    })
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }
}
