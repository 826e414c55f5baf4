/** The checker as a process of its own: asks it, and waits for its answers. */
import { fileURLToPath } from 'node:url'
import { AskedProcess } from './asked-process.ts'

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
  readonly #process: AskedProcess

  private constructor(process: AskedProcess) {
    this.#process = process
  }

  /** Resolves when it reads. */
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
