/**
 * A child process that runs roles: its environment, its flags, its metrics, and what it and its parent tell each other over the IPC
 * channel. Settings travel as they were read, so no file of a secret is read twice.
 *
 *   child ──{ask: plan}──► parent ──{answer: plan, plan}──► child ──{state: ready, instance, url}──► parent
 *                                                             └────{state: failed, code, message}──► parent
 */
import { join } from 'node:path'
import type { Clock } from '../../ground/clock/index.ts'
import { type Config, settingByName } from '../../ground/config/index.ts'
import { DuelogError, errorTable, messageOf } from '../../ground/errors/index.ts'
import { added, countsIn, type MetricsSource, named, type Shown } from '../../ground/metrics/index.ts'

export interface Cluster {
  brokers: string[]
  registryUrl: string
}

/** How a child process runs its roles. */
export interface RolePlan {
  /** Its settings: those of its parent, with the roles and the address of the child. */
  config: Config
  /** The cluster that its parent has connected to. */
  cluster: Cluster
  /** Name of the file with its instance, if it shares the data folder with others. */
  name?: string
  /** HTTP server of the engine on this machine. Absent: the child is not the front of one. */
  engineUrl?: string
}

const question = 'duelog:plan'
const ready = 'duelog:ready'
const failed = 'duelog:failed'

export const isPlanQuestion = (message: unknown): boolean => (message as { ask?: unknown } | null)?.ask === question

/** Answers the question of a child. JSON has no sets. */
export function answerPlan({ config, ...plan }: RolePlan, send: (message: object) => unknown): void {
  send({ answer: question, plan: { ...plan, config: { ...config, roles: [...config.roles] } } })
}

/** The child's side. */
export function planOf(channel: Channel): Promise<RolePlan> {
  return new Promise((resolve) => {
    channel.on('message', (message) => {
      const { answer, plan } = (message ?? {}) as { answer?: unknown; plan?: RolePlan }
      if (answer !== question || plan === undefined) return
      resolve({ ...plan, config: { ...plan.config, roles: new Set(plan.config.roles) } })
    })
    channel.send?.({ ask: question }, () => {})
  })
}

export interface ReadyChild {
  /** name@host:pid:boot, under which it has joined its groups. */
  instance: string
  url: string
}

export function tellReady(channel: Pick<Channel, 'send'>, { instance, url }: ReadyChild): void {
  channel.send?.({ state: ready, instance, url }, () => {})
}

/** Undefined: another message. */
export function readyChild(message: unknown): ReadyChild | undefined {
  const { state, instance, url } = (message ?? {}) as { state?: unknown; instance?: unknown; url?: unknown }
  return state === ready && typeof instance === 'string' && typeof url === 'string' ? { instance, url } : undefined
}

/** Resolves when the message is sent, as the child ends then. */
export function tellFailed(channel: Pick<Channel, 'send'>, error: unknown): Promise<void> {
  const code = error instanceof DuelogError ? error.code : undefined
  return new Promise((resolve) => {
    if (channel.send === undefined) return resolve()
    channel.send({ state: failed, code, message: messageOf(error) }, () => resolve())
  })
}

/** Why the child cannot start. Undefined: another message. */
export function failureOf(message: unknown): Error | undefined {
  const {
    state,
    code,
    message: sentence,
  } = (message ?? {}) as { state?: unknown; code?: keyof typeof errorTable; message?: unknown }
  if (state !== failed || typeof sentence !== 'string') return undefined
  return code !== undefined && Object.hasOwn(errorTable, code) ? new DuelogError(code, sentence) : new Error(sentence)
}

/** Half of V8's young generation, in MB. By default it grows to 16 MB while a process loads its code, and stays so. */
export const childFlags = ['--max-semi-space-size=4']

/** The environment of this process with its given settings, for handlers. It has the cache of compiled code that this process has. */
export function environmentOf({ given, dataDir }: Pick<Config, 'given' | 'dataDir'>): NodeJS.ProcessEnv {
  const foreign = Object.entries(process.env).filter(([name]) => !name.startsWith('DUELOG_') && !settingByName.has(name))
  return { NODE_COMPILE_CACHE: join(dataDir, 'compiled'), ...Object.fromEntries(foreign), ...given }
}

/**
 * The metrics of a child process, asked for over its IPC channel whenever somebody reads ours.
 *
 *   parent ──{ask: metrics, id}──► child ──{answer: metrics, id, metrics}──► parent
 *
 * What a child counted does not vanish with it: its last answer stays in the sum, so that counters of ours never go back.
 */

/** A child whose handlers keep its event loop busy for longer is shown as it was the last time. */
export const childAnswerMsMax = 1_000

const metricsQuestion = 'duelog:metrics'

interface Question {
  ask: typeof metricsQuestion
  id: number
}
interface Answer {
  answer: typeof metricsQuestion
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
    if (answer !== metricsQuestion || id !== this.#id || !Array.isArray(metrics)) return
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
    const message: Question = { ask: metricsQuestion, id: this.#waiting.size === 0 ? ++this.#id : this.#id }
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
    if (ask !== metricsQuestion || id === undefined) return
    void shown().then(
      (metrics) => {
        const answer: Answer = { answer: metricsQuestion, id, metrics }
        channel.send?.(answer, () => {})
      },
      // Its parent shows the last ones.
      () => {},
    )
  })
}
