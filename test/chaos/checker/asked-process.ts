/** A Python program that answers each line of input with one line: the checker or the canary. */
import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

export class AskedProcess {
  readonly #name: string
  readonly #child: ChildProcess
  readonly #waiting: { resolve: (answer: unknown) => void; reject: (error: Error) => void }[] = []
  #ended = false

  private constructor(name: string, python: string, script: string, options: object) {
    this.#name = name
    this.#child = spawn(python, ['-B', script, JSON.stringify(options)], { stdio: ['pipe', 'pipe', 'inherit'] })
    this.#child.stdin?.on('error', () => {})
    if (this.#child.stdout)
      createInterface(this.#child.stdout).on('line', (line) => this.#waiting.shift()?.resolve(JSON.parse(line)))
    const end = (): void => {
      this.#ended = true
      for (const { reject } of this.#waiting.splice(0)) reject(new Error(`The ${name} has ended.`))
    }
    this.#child.once('error', end)
    this.#child.once('exit', end)
  }

  /** Resolves when the program prints its first line, which says that it is ready. */
  static async start(name: string, python: string, script: string, options: object): Promise<AskedProcess> {
    const started = new AskedProcess(name, python, script, options)
    await started.#answer()
    return started
  }

  ask(command: object): Promise<unknown> {
    this.#child.stdin?.write(`${JSON.stringify(command)}\n`)
    return this.#answer()
  }

  async stop(): Promise<void> {
    if (this.#ended) return
    const ended = new Promise<void>((resolve) => this.#child.once('exit', () => resolve()))
    this.#child.stdin?.end()
    await ended
  }

  #answer(): Promise<unknown> {
    if (this.#ended) return Promise.reject(new Error(`The ${this.#name} has ended.`))
    return new Promise((resolve, reject) => void this.#waiting.push({ resolve, reject }))
  }
}
