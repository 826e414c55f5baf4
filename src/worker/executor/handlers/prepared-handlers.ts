/** Handlers as users give them: functions, batches, with a schema or without; what the runner calls for them; and the names that a worker announces. */
import { handlerNameProblem } from '../../../../streams/definitions/index.ts'
import type { Logger } from '../../../ground/logging/index.ts'
import { isPayloadSchema } from '../../../ground/records/index.ts'
import { type BatchHandler, batchSizeMax, batchWaitMsMax, type Handler, type Handlers, isBatchHandler } from './handler.ts'
import { type Hook, hookedBatchHandler, hookedHandler } from './hooks.ts'
import { checkedBatchHandler, checkedHandler, type SchemaHandler } from './payload-schema.ts'

/** Any form of a handler. */
export type AnyHandler<Payload = unknown> = Handler<Payload> | BatchHandler<Payload> | SchemaHandler<Payload>

/** By name, as users give them. */
export type GivenHandlers = Record<string, AnyHandler>

/** One handler for each name of the map, with the payload type of that name. */
export type HandlersFor<Payloads extends object> = { [Name in keyof Payloads]: AnyHandler<Payloads[Name]> }

/**
 * The functions and batches to call: `around` a schema are the hooks, so that they see the run also if its payload is invalid. Without
 * hooks and schemas each handler stays the same object.
 */
export function preparedHandlers(handlers: GivenHandlers, hooks: readonly Hook[], logger: Pick<Logger, 'warn'>): Handlers {
  return Object.fromEntries(
    Object.entries(handlers).map(([name, handler]) => {
      const plain = withoutSchema(handler)
      if (hooks.length === 0) return [name, plain]
      return [name, isBatchHandler(plain) ? hookedBatchHandler(plain, hooks, logger) : hookedHandler(plain, hooks, logger)]
    }),
  )
}

function withoutSchema(handler: AnyHandler): Handler | BatchHandler {
  if (typeof handler === 'function') return handler
  if ('handler' in handler) return checkedHandler(handler)
  return handler.schema === undefined ? handler : checkedBatchHandler(handler.schema, handler)
}

/** The problem of a handler as a sentence; undefined if it has none. */
export function handlerProblem(name: string, handler: unknown): string | undefined {
  const problem = handlerNameProblem(name)
  if (problem !== undefined) return problem
  if (typeof handler === 'function') return undefined
  const { schema, handler: single, batch, run } = (handler ?? {}) as Partial<SchemaHandler & BatchHandler>
  const isSingle = typeof single === 'function' && schema !== undefined && batch === undefined
  if (!isSingle && (typeof run !== 'function' || typeof batch !== 'object' || batch === null))
    return `handler "${name}" is neither a function nor { schema, handler(run) } nor { batch: { maxSize, maxWaitMs }, run(runs) }`
  if (schema !== undefined && !isPayloadSchema(schema))
    return `schema of handler "${name}" does not follow Standard Schema; use one of zod, valibot, arktype or another library that does`
  if (batch === undefined) return undefined
  const limits = [
    ['maxSize', batch.maxSize, 1, batchSizeMax],
    ['maxWaitMs', batch.maxWaitMs, 0, batchWaitMsMax],
  ] as const
  for (const [field, value, min, max] of limits) {
    if (!(Number.isInteger(value) && value >= min && value <= max))
      return `batch.${field} of handler "${name}" is ${value}; allowed: an integer from ${min} to ${max}`
  }
  return undefined
}

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

/** The names that one worker announces to its group, so that others can say which runs it can do. It ends if the brokers cannot keep its group: the announcements of all workers are part of one record. */
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
