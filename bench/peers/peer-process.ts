/** Starts a process of a system under comparison and calls it. */
import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import { mallocEnvironment } from '../../src/cli/memory.ts'
import type { Calls } from './child.ts'
import type { SystemName } from './systems/all.ts'
import type { Place } from './systems/system.ts'

/** A call that is not answered by then has failed. */
const callMsMax = 300_000

type Answer = { result?: unknown; error?: string }
type Call = keyof Calls

export class PeerProcess {
  readonly #child: ChildProcess

  private constructor(child: ChildProcess) {
    this.#child = child
  }

  static async start(role: 'producer' | 'worker', system: SystemName, { url, registryUrl, prefix }: Place): Promise<PeerProcess> {
    const place = JSON.stringify({ url, registryUrl, prefix })
    const env = { PATH: process.env.PATH, HOME: process.env.HOME, NODE_ENV: 'production', ...mallocEnvironment({}) }
    const child = fork(join(import.meta.dirname, 'child.ts'), [role, system, place], { env, stdio: ['ignore', 2, 2, 'ipc'] })
    const started = new PeerProcess(child)
    await started.#answer('start')
    return started
  }

  async call<Name extends Call>(name: Name, ...args: Parameters<Calls[Name]>): Promise<Awaited<ReturnType<Calls[Name]>>> {
    const answer = this.#answer(name)
    this.#child.send({ call: name, args })
    return (await answer) as Awaited<ReturnType<Calls[Name]>>
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const ended = new Promise((resolve) => this.#child.once('exit', resolve))
    await this.call('close').catch((error: Error) => console.error(error.message))
    this.#child.kill('SIGKILL')
    await ended
  }

  #answer(name: string): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const done = (): void => {
        clearTimeout(timer)
        this.#child.off('message', onMessage)
        this.#child.off('exit', onExit)
      }
      const onMessage = ({ result, error }: Answer): void => {
        done()
        if (error === undefined) resolve(result)
        else reject(new Error(error))
      }
      const onExit = (code: number | null): void => {
        done()
        reject(new Error(`A process ended with code ${code} during "${name}".`))
      }
      const timer = setTimeout(() => {
        done()
        reject(new Error(`"${name}" was not answered within ${callMsMax / 1_000} s.`))
      }, callMsMax)
      this.#child.on('message', onMessage as (message: unknown) => void)
      this.#child.on('exit', onExit)
    })
  }
}
