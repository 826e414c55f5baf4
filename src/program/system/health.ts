/**
 * Liveness and readiness of this process. A process that waits for its broker is live, because a new one would wait as well. If a part has
 * ended for good or hangs, /livez reports it, so that the platform replaces the process. A process whose event loop hangs answers no probe.
 * The free space of the disk is watched too.
 */

import { statfs } from 'node:fs/promises'
import { counted } from '../../../streams/text/index.ts'
import type { Clock } from '../../ground/clock/index.ts'
import { DuelogError } from '../../ground/errors/index.ts'
import type { Logger } from '../../ground/logging/index.ts'
import type { Health } from '../../ground/ports/index.ts'
import type { Scheduler } from '../../scheduler/index.ts'

export class ProcessHealth {
  #death: string | undefined
  readonly #problems: (() => string | undefined)[] = []
  readonly #tell: (error: Error) => void

  /** `tell` is called for each part that has ended for good; it should end the process. */
  constructor(tell: (error: Error) => void) {
    this.#tell = tell
  }

  /** A part has ended, and a retry does not help. */
  readonly died = (error: Error): void => {
    this.#death ??= `A part of this process has ended and will not start again: ${error.message}`
    this.#tell(error)
  }

  /** Adds a check of a part: it returns why the part cannot work, or undefined. The process stays live, because the cause, such as a missing right, may be fixed. */
  watch(problem: () => string | undefined): void {
    this.#problems.push(problem)
  }

  /** `clockProblem`: why the wall clock is not trusted now. The process stays live, because a new one would have the same clock. */
  health(scheduler: Scheduler | undefined, clockProblem?: string): Health {
    const hanging = (scheduler?.hanging ?? []).map(
      (partition) => `Partition ${partition} has been in one commit cycle for longer than any broker takes to answer.`,
    )
    const dead = [...(this.#death === undefined ? [] : [this.#death]), ...hanging]
    const waiting = [
      ...(clockProblem === undefined ? [] : [clockProblem]),
      ...(scheduler?.problem === undefined ? [] : [scheduler.problem]),
      ...this.#problems.flatMap((problem) => problem() ?? []),
      ...(scheduler === undefined ? [] : notReady(scheduler)),
    ]
    return { live: dead.length === 0, ready: dead.length + waiting.length === 0, reasons: [...dead, ...waiting] }
  }
}

function notReady(scheduler: Scheduler): string[] {
  if (scheduler.active) return []
  const waiting = scheduler.queries.partitions().filter(({ phase, role }) => phase !== 'active' && role !== 'standby')
  const reasons = waiting.map(
    ({ partition, phase, restoreRemaining, problem }) =>
      `Partition ${partition} is ${phase}, ${counted(restoreRemaining, 'record')} to read.${problem == null ? '' : ` ${problem}`}`,
  )
  return reasons.length > 0 ? reasons : ['The scheduler has not joined its group yet.']
}

/**
 * Looks at the free space of the disk with the data folder. A broker that runs out of disk ends in the middle of a write. The embedded
 * broker is stopped before that happens.
 */

/** Space for hours of a busy broker: enough to act on. */
const lowBytes = 2 ** 30
/** Space for what the embedded broker writes while it stops. */
const stopBytes = 128 * 2 ** 20
const lookEachMs = 5_000

export interface DiskWatchOptions {
  dataDir: string
  /** Whether the embedded broker or registry writes to that disk. If not, the process goes on, and its stores say what fails. */
  isEmbedded: boolean
  clock: Pick<Clock, 'nowMs' | 'at'>
  logger: Pick<Logger, 'warn' | 'info'>
  metrics: { diskFree: { set(bytes: number): void } }
  /** Ends the process in order. */
  onFull(error: DuelogError): void
  /** Free bytes for a user without privileges. Default: those of the file system. */
  freeBytesOf?: (dataDir: string) => Promise<number>
}

export class DiskWatch {
  readonly #options: DiskWatchOptions
  #isLow = false
  #cancel: (() => void) | undefined
  #isStopped = false

  constructor(options: DiskWatchOptions) {
    this.#options = options
  }

  /** Looks now, and every 5 s until `stop`. */
  async start(): Promise<void> {
    await this.#look()
    if (this.#isStopped) return
    const { clock } = this.#options
    this.#cancel = clock.at(clock.nowMs() + lookEachMs, () => void this.start())
  }

  stop(): void {
    this.#isStopped = true
    this.#cancel?.()
  }

  async #look(): Promise<void> {
    const { dataDir, isEmbedded, logger, metrics, onFull, freeBytesOf = freeBytes } = this.#options
    const free = await freeBytesOf(dataDir).catch(() => undefined)
    if (free === undefined || this.#isStopped) return
    metrics.diskFree.set(free)
    const facts = { dataDir, freeMb: megabytes(free) }
    if (isEmbedded && free < stopBytes) {
      this.stop()
      onFull(
        new DuelogError(
          'embedded-failed',
          `The disk of the data folder ${dataDir} has ${facts.freeMb} MB left, so the embedded broker is stopped before it fails in the middle of a write. Free some, then start again. Nothing is lost.`,
        ),
      )
    } else if (!this.#isLow && free < lowBytes) {
      this.#isLow = true
      const then = isEmbedded ? ` Below ${megabytes(stopBytes)} MB the process stops.` : ''
      logger.warn({ event: 'disk-low', ...facts }, `The disk of the data folder has only ${facts.freeMb} MB left.${then}`)
    } else if (this.#isLow && free > 1.1 * lowBytes) {
      this.#isLow = false
      logger.info({ event: 'disk-free', ...facts }, 'The disk of the data folder has space again.')
    }
  }
}

const megabytes = (bytes: number): number => Math.floor(bytes / 2 ** 20)

async function freeBytes(dataDir: string): Promise<number> {
  const { bavail, bsize } = await statfs(dataDir)
  return bavail * bsize
}
