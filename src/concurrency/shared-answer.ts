/**
 * A question to brokers and owners that all who ask share. One is asked at a time: who comes meanwhile gets the answer of the next, which began
 * after it came, so that nobody is told what was so before.
 */
export class SharedAnswer<Answer> {
  readonly #ask: () => Promise<Answer>
  #running: Promise<Answer> | undefined
  #next: Promise<Answer> | undefined

  constructor(ask: () => Promise<Answer>) {
    this.#ask = ask
  }

  /** Rejects as the question does. */
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
