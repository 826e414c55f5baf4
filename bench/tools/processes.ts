/** Starts Duelog processes for a benchmark and talks to them over IPC. */
import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import { mallocEnvironment } from '../../src/program/cli/memory.ts'
import { nextMessage } from './next-message.ts'
import type { Marks } from './path-marks.ts'
import type { Spread } from './timings.ts'

export interface ChildReport {
  starts: number
  /** The starts that the lateness counts: all but those of warm-up jobs. */
  timedStarts: number
  distinct: number
  duplicates: number
  early: number
  firstStartAt: number
  lastStartAt: number
  /** Time from due to started. */
  latenessMs: Spread
  warmUpLatenessMs: Spread
  rssBytes: number
  rssPeakBytes: number
  cpuMs: number
}

type Message =
  | { kind: 'ready'; url: string; readyMs: number }
  | { kind: 'report'; report: ChildReport }
  | { kind: 'marks'; marks: Record<string, Marks> }
  | { kind: 'stopped' }

/** Environment of a process that notes when each job passes (path-marks.ts). */
export const withMarks = (): Record<string, string> => ({
  NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --import=${new URL('path-marks.ts', import.meta.url).href}`,
  BENCH_PATH_MARKS: '1',
})

export class DuelogProcess {
  readonly #child: ChildProcess
  url = ''
  /** Time from the start of the process until all its partitions fired. */
  readyMs = 0

  private constructor(child: ChildProcess) {
    this.#child = child
  }

  static async start(env: Record<string, string>): Promise<DuelogProcess> {
    const child = fork(join(import.meta.dirname, 'child.ts'), {
      // NODE_OPTIONS allows a profiler.
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        NODE_OPTIONS: process.env.NODE_OPTIONS,
        DUELOG_LOG_LEVEL: 'warn',
        // The same settings that `duelog up` gives itself.
        ...mallocEnvironment({}),
        ...env,
      },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    const started = new DuelogProcess(child)
    const { url, readyMs } = await started.#next('ready')
    started.url = url
    started.readyMs = readyMs
    return started
  }

  async report(): Promise<ChildReport> {
    const answer = this.#next('report')
    this.#child.send('report')
    return (await answer).report
  }

  /** The marks of each job; of a process started `withMarks`. */
  async marks(): Promise<Record<string, Marks>> {
    const answer = this.#next('marks')
    this.#child.send('marks')
    return (await answer).marks
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return
    const ended = new Promise((resolve) => this.#child.once('exit', resolve))
    this.#child.send('stop')
    await ended
  }

  #next<Kind extends Message['kind']>(kind: Kind): Promise<Extract<Message, { kind: Kind }>> {
    return nextMessage(
      this.#child,
      kind,
      (message): message is Extract<Message, { kind: Kind }> => (message as Message).kind === kind,
    )
  }
}
