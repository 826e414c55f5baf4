/** The checker as a process of its own: sends it questions and waits for its answers. */
import { fileURLToPath } from 'node:url'
import { AskedProcess } from './asked-process.ts'

const script = fileURLToPath(new URL('checker.py', import.meta.url))

export interface CheckerOptions {
  brokers: string
  registryUrl: string
  prefix: string
  targetTopics: string[]
  /** A file of JSON lines, see load/definitions.ts. */
  definitions: string
  /** The folder to which handlers write their starts. */
  starts: string
  /**
   * How long before its time an Execution may be in the log, in the usual topics and in the ahead topics. Default 100 ms and 10
   * s.
   */
  leadMs?: number
  aheadLeadMs?: number
  /** An occurrence is late if it comes more than this after its time. Default 1 s. */
  lateMs?: number
}

export const findingKinds = ['lost', 'duplicate', 'early', 'unknown', 'misrouted', 'misnumbered', 'early-start'] as const
export type FindingKind = (typeof findingKinds)[number]

export interface CheckerStatus {
  jobs: number
  /** Occurrences that are more than a second beyond lateMs and are not in the log. */
  missing: number
  /** The nominal time of the first missing one. */
  oldest: number | null
  /** Append time of the last late occurrence; 0: none. */
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
  /** Attempts whose handler started again: in any process, and in the same process. */
  startedAgain: number
  startedAgainInProcess: number
}

export class Checker {
  readonly #process: AskedProcess

  private constructor(process: AskedProcess) {
    this.#process = process
  }

  /** Resolves when the checker reads. */
  static async start(python: string, options: CheckerOptions): Promise<Checker> {
    return new Checker(await AskedProcess.start('checker', python, script, options))
  }

  async window(at: number): Promise<void> {
    await this.#process.ask({ cmd: 'window', at })
  }

  async status(): Promise<CheckerStatus> {
    return (await this.#process.ask({ cmd: 'status' })) as CheckerStatus
  }

  async verdict(until: number): Promise<CheckerVerdict> {
    return (await this.#process.ask({ cmd: 'verdict', until })) as CheckerVerdict
  }

  stop(): Promise<void> {
    return this.#process.stop()
  }
}
