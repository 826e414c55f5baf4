/**
 * Looks at the free space of the disk with the data folder. A broker that runs out of disk ends in the middle of a write, so the embedded one is
 * stopped before.
 */
import { statfs } from 'node:fs/promises'
import type { Clock } from '../clock/index.ts'
import { DuelogError } from '../errors/index.ts'
import type { Logger } from '../logging/index.ts'

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
