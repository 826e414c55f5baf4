/** The names of handlers that a worker announces to its group, so that others can say which runs it can do. */
import type { Logger } from '../../logging/index.ts'

/** Most names that are announced. */
export const announcedMax = 500
/** Most bytes of all names. The broker keeps the metadata of all members of a group in one record of 1 MiB. */
export const announcedBytesMax = 16_384

/** Sorted; null beyond a limit: then it is unknown what the worker can do, as with a worker of another program. */
export function announcedHandlers(handlers: Readonly<Record<string, unknown>>): string[] | null {
  const names = Object.keys(handlers).sort()
  if (names.length > announcedMax) return null
  const bytes = names.reduce((sum, name) => sum + Buffer.byteLength(name), 0)
  return bytes > announcedBytesMax ? null : names
}

/** What one worker announces. It ends if the brokers cannot keep its group: the announcements of all workers are part of one record. */
export class Announcement {
  readonly #pool: string
  readonly #logger: Logger
  #handlers: string[] | null

  constructor(handlers: Readonly<Record<string, unknown>>, { pool, logger }: { pool: string; logger: Logger }) {
    this.#pool = pool
    this.#logger = logger
    this.#handlers = announcedHandlers(handlers)
  }

  get handlers(): string[] | null {
    return this.#handlers
  }

  /** False: nothing was announced. */
  end(): boolean {
    if (this.#handlers === null) return false
    this.#handlers = null
    this.#logger.warn(
      { event: 'handlers-not-announced', pool: this.#pool },
      `The brokers cannot keep the group of pool ${this.#pool}, so this worker announces its handlers no more until it is started again. Usually the names that all workers of a pool announce are too much together (1 MiB, message.max.bytes of the brokers). Runs that it cannot do still go to other workers without losing an attempt, but later. Give some handlers a pool of their own.`,
    )
    return true
  }
}
