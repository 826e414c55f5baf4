/**
 * The metrics of a child process, asked for over its IPC channel whenever somebody reads ours.
 *
 *   parent ──{ask: metrics, id}──► child ──{answer: metrics, id, metrics}──► parent
 *
 * What a child counted does not vanish with it: its last answer stays in the sum, so that counters of ours never go back.
 */
import type { Clock } from '../clock/index.ts'
import { added, countsIn, type MetricsSource, named, type Shown } from '../metrics/index.ts'

/** A child whose handlers keep its event loop busy for longer is shown as it was the last time. */
export const childAnswerMsMax = 1_000

const question = 'duelog:metrics'

interface Question {
  ask: typeof question
  id: number
}
interface Answer {
  answer: typeof question
  id: number
  metrics: Shown[]
}

/** The parent's side, for one kept process and all its lives. */
export class ChildMetrics {
  readonly #name: string
  readonly #clock: Clock
  readonly #send: (message: object) => boolean
  #id = 0
  #last: Shown[] = []
  /** What those counted that have ended. */
  #ended: Promise<Shown[]> = Promise.resolve([])
  #waiting = new Set<() => void>()

  /** `name`: value of the label `process`. `send` answers whether the child can hear. */
  constructor(name: string, clock: Clock, send: (message: object) => boolean) {
    this.#name = name
    this.#clock = clock
    this.#send = send
  }

  readonly source: MetricsSource = async () => {
    await this.#ask()
    const now = named(this.#last, this.#name)
    const ended = await this.#ended
    return ended.length === 0 ? now : added([now, ended])
  }

  /** What its former lives counted, for a child that shows the present one itself. */
  readonly former: MetricsSource = async () => {
    await this.#ask()
    return this.#ended
  }

  received(message: unknown): void {
    const { answer, id, metrics } = (message ?? {}) as Partial<Answer>
    if (answer !== question || id !== this.#id || !Array.isArray(metrics)) return
    this.#last = metrics
    this.#settle()
  }

  /** The child has ended; another may take its place. */
  ended(): void {
    const counts = countsIn(this.#last)
    if (counts.length > 0) this.#ended = this.#ended.then((before) => added([counts, before]))
    this.#last = []
    this.#id++
    this.#settle()
  }

  #settle(): void {
    for (const resolve of this.#waiting) resolve()
  }

  /** Resolves with the answer, or when it takes too long. Readers that come meanwhile share it. */
  #ask(): Promise<void> {
    const message: Question = { ask: question, id: this.#waiting.size === 0 ? ++this.#id : this.#id }
    if (this.#waiting.size === 0 && !this.#send(message)) return Promise.resolve()
    return new Promise((resolve) => {
      const callOff = this.#clock.at(this.#clock.nowMs() + childAnswerMsMax, () => done())
      const done = (): void => {
        callOff()
        this.#waiting.delete(done)
        resolve()
      }
      this.#waiting.add(done)
    })
  }
}

/** Parts of `process` that are used here. */
export interface Channel {
  on(event: 'message', listener: (message: unknown) => void): unknown
  /** A message without `onSent` that cannot be sent ends the process: its channel closes when its parent ends. */
  send?(message: object, onSent: (error: Error | null) => void): unknown
}

/** The child's side: answers the process that started it. */
export function tellMetrics(channel: Channel, shown: MetricsSource): void {
  channel.on('message', (message) => {
    const { ask, id } = (message ?? {}) as Partial<Question>
    if (ask !== question || id === undefined) return
    void shown().then(
      (metrics) => {
        const answer: Answer = { answer: question, id, metrics }
        channel.send?.(answer, () => {})
      },
      // Its parent shows the last ones.
      () => {},
    )
  })
}
