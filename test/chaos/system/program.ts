/**
 * A program of the drill. Faults stop, suspend, kill and start it again at the same place. It never outlives the drill
 * (guard.sh).
 */
import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { type GuardedProcess, startGuarded } from '../../../src/program/embedded/guarded-process.ts'
import type { Places } from '../network/network.ts'
import type { Place } from '../places.ts'

export interface ProgramPlan {
  title: string
  place: Place
  program: string
  args: readonly string[]
  env: NodeJS.ProcessEnv
  /** The existing folder of the program. */
  folder: string
  /** A line of its output that says that it is ready. */
  ready: RegExp
}

/** The number of starts, or of waits of two minutes for one start, before it counts as failed. */
const startsMax = 4
/** A program that has not ended this long after SIGTERM does not react to it. */
const endMsMax = 90_000

export class Program {
  readonly #network: Places
  #plan: ProgramPlan
  #process: GuardedProcess | undefined
  #starts = 0
  #isReady = false
  /** Whether the drill asked the program to end. */
  #isAsked = false
  #endedByItself = false

  constructor(network: Places, plan: ProgramPlan) {
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

  /** Changes the plan of the next start. */
  change(change: (plan: ProgramPlan) => ProgramPlan): void {
    this.#plan = change(this.#plan)
  }

  /** Starts the program and does not wait until it is ready. */
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
    this.#isReady = this.#isAsked = false
    void started.exited.then(() => {
      if (this.#process !== started) return
      this.#process = undefined
      this.#endedByItself ||= this.#isReady && !this.#isAsked
    })
    return started
  }

  /**
   * Starts the program and resolves when it is ready. If it ends before, it is started again, as a supervisor does. Rejects when
   * it does not become ready.
   */
  async start(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const started = this.begin()
      try {
        await started.line(this.#plan.ready)
        this.#isReady = true
        return
      } catch (error) {
        // A busy machine takes longer than the limit of one wait. An impatient caller would give up just after a start.
        if (attempt === startsMax || started.stopping) throw error
      }
    }
  }

  /** Whether the program has ended since the last call, although it was ready and nobody asked it to end. */
  takeEndByItself(): boolean {
    const ended = this.#endedByItself
    this.#endedByItself = false
    return ended
  }

  /** Whether the output of its present run has a line that matches. */
  async says(pattern: RegExp): Promise<boolean> {
    return pattern.test(await readFile(this.logFile, 'utf8'))
  }

  /** The process id of the program itself, not of its guard. */
  async pid(): Promise<number> {
    const pid = Number.parseInt(await readFile(join(this.#plan.folder, 'pid'), 'utf8'), 10)
    if (!(pid > 1)) throw new Error(`${this.title} does not run.`)
    return pid
  }

  async signal(signal: NodeJS.Signals): Promise<void> {
    process.kill(await this.pid(), signal)
  }

  /** kill −9, and waits for the end. Rejects if nothing is running. */
  kill(): Promise<void> {
    return this.#end('SIGKILL')
  }

  /** SIGTERM, and waits for the end. Rejects if the end does not come, or if nothing is running. */
  terminate(): Promise<void> {
    return this.#end('SIGTERM')
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const ending = this.#process
    if (ending === undefined) throw new Error(`${this.title} did not run when it was to get ${signal}`)
    this.#isAsked = true
    await this.signal(signal)
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      const tell = (): void => reject(new Error(`${this.title} had not ended ${endMsMax / 1000} s after ${signal}`))
      timer = setTimeout(tell, endMsMax)
    })
    await Promise.race([ending.exited, late]).finally(() => clearTimeout(timer))
  }

  async stop(): Promise<void> {
    this.#isAsked = true
    await this.#process?.stop()
  }
}
