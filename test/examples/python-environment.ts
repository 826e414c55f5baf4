/** A Python of its own with what the example worker needs, and workers that run in it. None outlives its test. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { duelogEnvironment } from '../setup/environment.ts'
import type { Test } from '../tools/duelog-process.ts'
import { makePython } from '../tools/python.ts'
import { tellIfFailed } from '../tools/story.ts'

const folderOf = fileURLToPath(new URL('../../examples/python-worker/', import.meta.url))

export interface PythonEnvironment {
  python: string
  remove(): Promise<void>
}

/** Makes a virtual environment in a temporary folder. Rejects with a sentence that says what is missing. */
export async function makePythonEnvironment(): Promise<PythonEnvironment> {
  const folder = await mkdtemp(join(tmpdir(), 'duelog-python-'))
  const remove = () => rm(folder, { recursive: true, force: true })
  const python = await makePython({
    folder,
    version: '3.9',
    requirements: join(folderOf, 'requirements.txt'),
    lack: 'The Python worker of the examples cannot be tested',
    pipAdvice: 'pip must reach a package index, or find wheels of confluent-kafka and fastavro by PIP_FIND_LINKS',
  }).catch(async (error) => {
    await remove()
    throw error
  })
  return { python, remove }
}

/** `worker.py` of the examples. */
export class PythonWorker {
  readonly #child: ChildProcess
  readonly #exited: Promise<number | null>
  #ended = false
  #output = ''
  readonly #looks = new Set<() => void>()

  constructor(test: Test, { python }: PythonEnvironment, settings: Record<string, string>) {
    this.#child = spawn(python, ['-B', join(folderOf, 'worker.py')], {
      env: { ...duelogEnvironment(), ...settings, PYTHONUNBUFFERED: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const hear = (text: Buffer): void => {
      this.#output += String(text)
      for (const look of [...this.#looks]) look()
    }
    this.#child.stdout?.on('data', hear)
    this.#child.stderr?.on('data', hear)
    this.#exited = new Promise((resolve) => {
      this.#child.once('close', (code) => {
        this.#ended = true
        hear(Buffer.alloc(0))
        resolve(code)
      })
    })
    tellIfFailed(test, () => `Python worker ${this.#child.pid}:\n${this.#output}`)
    test.onTestFinished(async () => {
      if (!this.#ended) this.#child.kill('SIGKILL')
      await this.#exited
    })
  }

  get output(): string {
    return this.#output
  }

  /** Resolves when the worker has said so. Rejects when it ends first. */
  said(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        if (this.#output.includes(text)) resolve()
        else if (this.#ended) reject(new Error(`The worker ended before it said "${text}".`))
        else return
        this.#looks.delete(look)
      }
      this.#looks.add(look)
      look()
    })
  }

  /** Resolves with its exit code. */
  stop(signal: NodeJS.Signals): Promise<number | null> {
    this.#child.kill(signal)
    return this.#exited
  }
}
