/** The checker as a process of its own: asks it, and waits for its answers. */
import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const script = fileURLToPath(new URL('checker.py', import.meta.url))

export interface CheckerOptions {
  brokers: string
  registryUrl: string
  prefix: string
  targetTopics: string[]
  /** File of JSON lines, see load/definitions.ts. */
  definitions: string
  /** Folder that handlers write their starts to. */
  starts: string
  /** How long before its time an execution may stand in the log, in the usual lanes and in the ahead lanes. Default 100 ms and 10 s. */
  leadMs?: number
  aheadLeadMs?: number
  /** What comes later than this after its time is late. Default 1 s. */
  lateMs?: number
}

export const findingKinds = ['lost', 'duplicate', 'early', 'unknown', 'misrouted', 'misnumbered', 'early-start'] as const
export type FindingKind = (typeof findingKinds)[number]

export interface CheckerStatus {
  jobs: number
  /** Occurrences that are late by more than a second beyond lateMs and have not been seen. */
  missing: number
  /** Nominal time of the first of them. */
  oldest: number | null
  /** Append time of the last occurrence that was late; 0: none was. */
  lateAt: number
  fires: number
  /** Append time of the last occurrence of each partition. */
  partitions: Record<string, number>
}

export interface CheckerVerdict {
  expected: number
  fires: number
  windowFires: number
  findings: Record<FindingKind, { count: number; list: string[] }>
  longestMs: number
  longestWhat: string | null
  lateCount: number
  lastLateAt: number | null
  gapMs: number
  /** Attempts whose handler was started again, by whatever process, and those by the same. */
  startedAgain: number
  startedAgainInProcess: number
}

export class Checker {
  readonly #child: ChildProcess
  readonly #waiting: { resolve: (answer: unknown) => void; reject: (error: Error) => void }[] = []
  #ended = false

  private constructor(python: string, options: CheckerOptions) {
    this.#child = spawn(python, ['-B', script, JSON.stringify(options)], { stdio: ['pipe', 'pipe', 'inherit'] })
    this.#child.stdin?.on('error', () => {})
    if (this.#child.stdout)
      createInterface(this.#child.stdout).on('line', (line) => this.#waiting.shift()?.resolve(JSON.parse(line)))
    const end = (): void => {
      this.#ended = true
      for (const { reject } of this.#waiting.splice(0)) reject(new Error('The checker has ended.'))
    }
    this.#child.once('error', end)
    this.#child.once('exit', end)
  }

  /** Resolves when it reads. */
  static async start(python: string, options: CheckerOptions): Promise<Checker> {
    const checker = new Checker(python, options)
    await checker.#answer()
    return checker
  }

  async window(at: number): Promise<void> {
    await this.#ask({ cmd: 'window', at })
  }

  async status(): Promise<CheckerStatus> {
    return (await this.#ask({ cmd: 'status' })) as CheckerStatus
  }

  async verdict(until: number): Promise<CheckerVerdict> {
    return (await this.#ask({ cmd: 'verdict', until })) as CheckerVerdict
  }

  async stop(): Promise<void> {
    if (this.#ended) return
    const ended = new Promise<void>((resolve) => this.#child.once('exit', () => resolve()))
    this.#child.stdin?.end()
    await ended
  }

  #ask(command: object): Promise<unknown> {
    this.#child.stdin?.write(`${JSON.stringify(command)}\n`)
    return this.#answer()
  }

  #answer(): Promise<unknown> {
    if (this.#ended) return Promise.reject(new Error('The checker has ended.'))
    return new Promise((resolve, reject) => void this.#waiting.push({ resolve, reject }))
  }
}
