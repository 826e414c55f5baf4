/** A writer that is opened at its first use, and again after a failed open. */
import type { Log, LogWriter, RecordOut } from '../ports/index.ts'

export class LazyWriter {
  readonly #log: Pick<Log, 'writer'>
  #writer: Promise<LogWriter> | undefined

  constructor(log: Pick<Log, 'writer'>) {
    this.#log = log
  }

  open(): Promise<LogWriter> {
    if (this.#writer !== undefined) return this.#writer
    const opening = this.#log.writer()
    this.#writer = opening
    opening.catch(() => {
      if (this.#writer === opening) this.#writer = undefined
    })
    return opening
  }

  async write(records: RecordOut[]): Promise<void> {
    await (await this.open()).write(records)
  }

  async close(): Promise<void> {
    await this.#writer?.then(
      (writer) => writer.close(),
      () => {},
    )
  }
}
