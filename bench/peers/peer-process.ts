/** Starts a process of a system under comparison and calls it. */
import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import { mallocEnvironment } from '../../src/program/cli/memory.ts'
import { nextMessage } from '../tools/next-message.ts'
import type { Calls } from './child.ts'
import type { SystemName } from './systems/all.ts'
import type { Place } from './systems/system.ts'

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
    // Bare kafkajs sets timers in the past. It is measured as it is, but each run would print that.
    const execArgv = [...process.execArgv, '--disable-warning=TimeoutNegativeWarning']
    const child = fork(join(import.meta.dirname, 'child.ts'), [role, system, place], {
      env,
      execArgv,
      stdio: ['ignore', 2, 2, 'ipc'],
    })
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

  async #answer(name: string): Promise<unknown> {
    const { result, error } = await nextMessage(this.#child, name, (_message): _message is Answer => true)
    if (error !== undefined) throw new Error(error)
    return result
  }
}
