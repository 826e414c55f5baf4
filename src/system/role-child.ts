/**
 * What a child process that runs roles and its parent tell each other over the IPC channel. Settings travel as they were read, so no file of
 * a secret is read twice.
 *
 *   child ──{ask: plan}──► parent ──{answer: plan, plan}──► child ──{state: ready, instance, url}──► parent
 *                                                             └────{state: failed, code, message}──► parent
 *   parent ──{state: registry-up}──► child      once the embedded registry answers
 */
import type { Config } from '../config/index.ts'
import { DuelogError, errorTable, messageOf } from '../errors/index.ts'
import type { Channel } from './child-metrics.ts'

export interface Cluster {
  brokers: string[]
  registryUrl: string
  /** Resolves when an embedded registry has started, for other registries at once. */
  registryUp: Promise<unknown>
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
const registryUp = 'duelog:registry-up'

export const isPlanQuestion = (message: unknown): boolean => (message as { ask?: unknown } | null)?.ask === question

/** Answers the question of a child. JSON has no sets and no promises. */
export function answerPlan({ config, cluster, ...plan }: RolePlan, send: (message: object) => unknown): void {
  send({ answer: question, plan: { ...plan, cluster, config: { ...config, roles: [...config.roles] } } })
  cluster.registryUp.then(
    () => send({ state: registryUp }),
    // The parent ends.
    () => {},
  )
}

/** The child's side. */
export function planOf(channel: Channel): Promise<RolePlan> {
  const up = Promise.withResolvers<void>()
  return new Promise((resolve) => {
    channel.on('message', (message) => {
      const { answer, plan, state } = (message ?? {}) as { answer?: unknown; plan?: RolePlan; state?: unknown }
      if (state === registryUp) up.resolve()
      if (answer !== question || plan === undefined) return
      const cluster = { ...plan.cluster, registryUp: up.promise }
      resolve({ ...plan, cluster, config: { ...plan.config, roles: new Set(plan.config.roles) } })
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
