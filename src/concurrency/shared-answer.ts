/**
 * A query to brokers and owners that all callers share. One query runs at a time. A caller that comes meanwhile gets the answer of the
 * next one, which begins after its call, so no caller gets an answer from before its call.
 */
export class SharedAnswer<Answer> {
  readonly #ask: () => Promise<Answer>
  #running: Promise<Answer> | undefined
  #next: Promise<Answer> | undefined

  constructor(ask: () => Promise<Answer>) {
    this.#ask = ask
  }

  /** Rejects if the query does. */
  get(): Promise<Answer> {
    if (this.#next !== undefined) return this.#next
    if (this.#running === undefined) return this.#begin()
    const begin = (): Promise<Answer> => this.#begin()
    this.#next = this.#running.then(begin, begin)
    return this.#next
  }

  #begin(): Promise<Answer> {
    this.#next = undefined
    const running = this.#ask().finally(() => {
      if (this.#running === running) this.#running = undefined
    })
    this.#running = running
    return running
  }
}
