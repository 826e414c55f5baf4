/** A program of the drill that faults stop, suspend and kill, and start again in the same place. It never outlives the drill (guard.sh). */
import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { type GuardedProcess, startGuarded } from '../../../src/embedded/guarded-process.ts'
import type { Network } from '../network/network.ts'
import type { Place } from '../places.ts'

export interface ProgramPlan {
  title: string
  place: Place
  program: string
  args: readonly string[]
  env: NodeJS.ProcessEnv
  /** Folder of its own, which exists. */
  folder: string
  /** A line of its output that says that it works. */
  ready: RegExp
}

/** Starts, or waits of two minutes for one, before it is said that it does not work. */
const startsMax = 4

export class Program {
  readonly #network: Network
  #plan: ProgramPlan
  #process: GuardedProcess | undefined
  #starts = 0

  constructor(network: Network, plan: ProgramPlan) {
    this.#network = network
    this.#plan = plan
  }

  get place(): Place {
    return this.#plan.place
  }
  get title(): string {
    return this.#plan.title
  }
  get folder(): string {
    return this.#plan.folder
  }
  get env(): NodeJS.ProcessEnv {
    return this.#plan.env
  }
  get logFile(): string {
    return join(this.#plan.folder, `output-${this.#starts}.log`)
  }
  get running(): boolean {
    return this.#process !== undefined
  }

  /** Changes what the next start does. */
  change(change: (plan: ProgramPlan) => ProgramPlan): void {
    this.#plan = change(this.#plan)
  }

  /** Starts it, and does not wait until it works. */
  begin(): GuardedProcess {
    if (this.#process !== undefined) return this.#process
    this.#starts++
    const { title, place, program, args, env, folder } = this.#plan
    const command = this.#network.at(place, program, args)
    const started = startGuarded({
      title,
      java: command.program,
      args: command.args,
      cwd: folder,
      env,
      logFile: this.logFile,
      pidFile: join(folder, 'pid'),
      dataDir: basename(folder),
    })
    this.#process = started
    void started.exited.then(() => {
      if (this.#process === started) this.#process = undefined
    })
    return started
  }

  /** Starts it and resolves when it works; starts it again where it ends before, as a supervisor does. Rejects when it does not come to it. */
  async start(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const started = this.begin()
      try {
        return await started.line(this.#plan.ready)
      } catch (error) {
        // A busy machine takes longer than the limit of one wait, and who starts gives up on who has started just before.
        if (attempt === startsMax || started.stopping) throw error
      }
    }
  }

  /** Resolves when it has ended; at once where it does not run. */
  async ended(): Promise<void> {
    await this.#process?.exited
  }

  /** Id of the program itself, not of its guard. */
  async pid(): Promise<number> {
    const pid = Number.parseInt(await readFile(join(this.#plan.folder, 'pid'), 'utf8'), 10)
    if (!(pid > 1)) throw new Error(`${this.title} does not run.`)
    return pid
  }

  async signal(signal: NodeJS.Signals): Promise<void> {
    process.kill(await this.pid(), signal)
  }

  /** kill −9, and waits for the end. */
  async kill(): Promise<void> {
    await this.signal('SIGKILL')
    await this.ended()
  }

  /** SIGTERM, and waits for the end. */
  async terminate(): Promise<void> {
    await this.signal('SIGTERM')
    await this.ended()
  }

  async stop(): Promise<void> {
    await this.#process?.stop()
  }
}
