/** Duelog processes that a test starts, talks to, stops, suspends and kills. None outlives its test. */
import { type ChildProcess, fork } from 'node:child_process'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { TestContext } from 'vitest'
import { duelogEnvironment } from '../setup/environment.ts'
import type { ChildMessage, SchedulerPlan, SchedulerReport } from './duelog-process-plan.ts'
import { tellIfFailed } from './story.ts'

const warnLevel = 40
/** A phase that ends without a message is visible in the next report. */
const reportEachMs = 50

/** The test that a process belongs to and ends with: the context of vitest. Concurrent tests have no other way. */
export type Test = Pick<TestContext, 'onTestFinished' | 'onTestFailed'>

export interface Exit {
  code: number | null
  signal: NodeJS.Signals | null
}

export class DuelogProcess {
  readonly #child: ChildProcess
  readonly exited: Promise<Exit>
  /** All messages of the process, for later checks. */
  readonly messages: ChildMessage[] = []
  readonly #heardAt: number[] = []
  readonly #bornAt = Date.now()
  readonly #waiting = new Set<() => void>()
  #ended: Exit | undefined

  constructor(test: Test, script: string, args: string[], env: Record<string, string> = {}) {
    this.#child = fork(fileURLToPath(new URL(script, import.meta.url)), args, {
      env: duelogEnvironment(env),
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    this.exited = new Promise((resolve) => {
      this.#child.once('exit', (code, signal) => {
        this.#ended = { code, signal }
        this.#look()
        resolve(this.#ended)
      })
    })
    this.#child.on('message', (message) => {
      this.messages.push(message as ChildMessage)
      this.#heardAt.push(Date.now())
      this.#look()
    })
    tellIfFailed(test, () => this.story())
    test.onTestFinished(async () => {
      if (this.#ended === undefined) this.signal('SIGKILL')
      await this.exited
    })
  }

  /** Starts a scheduler that has loaded and waits for `go`. */
  static async scheduler(test: Test, plan: SchedulerPlan): Promise<DuelogProcess> {
    const started = new DuelogProcess(test, 'duelog-process-child.ts', [JSON.stringify(plan)])
    await started.next('loaded')
    return started
  }

  /** Starts the roles of these settings; resolves when they are ready. */
  static async system(test: Test, settings: Record<string, string>): Promise<DuelogProcess> {
    const started = new DuelogProcess(test, 'duelog-process-system.ts', [], {
      DUELOG_LOG_LEVEL: 'fatal',
      DUELOG_HTTP_PORT: '0',
      ...settings,
    })
    await started.next('system')
    return started
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }
  get ended(): Exit | undefined {
    return this.#ended
  }

  go(): this {
    this.#child.send('go')
    return this
  }

  /** Lets the handlers `hold` and `deaf` return. */
  release(): void {
    this.#child.send('release')
  }

  /** Steps its wall clock by `byMs`. Its steady clock and the clock of the broker continue. */
  stepClock(byMs: number): void {
    this.#child.send({ clockOffByMs: byMs })
  }

  /** Blocks its event loop for ever, as a handler with an endless computation does. */
  block(): void {
    this.#child.send('block')
  }

  /**
   * Resolves with the first message of the kind that fits and comes after the call, or at any time if `ever` is set. Rejects if
   * the process ends first.
   */
  next<Kind extends ChildMessage['kind']>(
    kind: Kind,
    fits: (message: Extract<ChildMessage, { kind: Kind }>) => boolean = () => true,
    from = 0,
  ): Promise<Extract<ChildMessage, { kind: Kind }>> {
    return new Promise((resolve, reject) => {
      let seen = from
      const look = (): void => {
        for (; seen < this.messages.length; seen++) {
          const message = this.messages[seen] as ChildMessage
          if (message.kind !== kind || !fits(message as Extract<ChildMessage, { kind: Kind }>)) continue
          this.#waiting.delete(look)
          resolve(message as Extract<ChildMessage, { kind: Kind }>)
          return
        }
        if (this.#ended === undefined) return
        this.#waiting.delete(look)
        reject(new Error(`The process ended with ${JSON.stringify(this.#ended)} before it said "${kind}". ${this.troubles()}`))
      }
      this.#waiting.add(look)
      look()
    })
  }

  /** Resolves with a report that fits; the process is asked again until it sends one. */
  async reportThat(fits: (report: SchedulerReport) => boolean): Promise<SchedulerReport> {
    for (;;) {
      const { report } = await this.#report()
      if (fits(report)) return report
      await wait(reportEachMs)
    }
  }

  /** Stops it gracefully. Rejects if it ends in another way. */
  async stop(): Promise<void> {
    if (this.#ended !== undefined) return
    this.#child.send('stop')
    const { code, signal } = await this.exited
    if (code !== 0) throw new Error(`The process ended with ${code ?? signal}. ${this.troubles()}`)
  }

  /** kill −9, and waits for the end. */
  async kill(): Promise<void> {
    this.signal('SIGKILL')
    await this.exited
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  /** The warnings and errors that it logged. */
  troubles(): string {
    const lines = this.messages.flatMap((message) =>
      message.kind === 'fatal' || (message.kind === 'log' && message.level >= warnLevel) ? [message.message] : [],
    )
    return lines.slice(-10).join('\n')
  }

  /** Its messages with their times, for the message of a failed test. */
  story(): string {
    const lines: string[] = []
    this.messages.forEach((message, index) => {
      const line = JSON.stringify(message).slice(0, 400)
      // Of equal reports in a row only the first is kept.
      if (message.kind === 'report' && lines.at(-1)?.endsWith(line)) return
      lines.push(`  ${String((this.#heardAt[index] ?? 0) - this.#bornAt).padStart(6)} ms ${line}`)
    })
    return [
      `Process ${this.pid}, born ${new Date(this.#bornAt).toISOString()}, ended ${JSON.stringify(this.#ended)}:`,
      ...lines,
    ].join('\n')
  }

  #report() {
    const answer = this.next('report', () => true, this.messages.length)
    this.#child.send('report')
    return answer
  }

  #look(): void {
    for (const look of [...this.#waiting]) look()
  }
}
