/** Handlers as users give them: functions, batches, with a schema or without; and what the runner calls for them. */
import { handlerNameProblem } from '../../../streams/definitions/index.ts'
import type { Logger } from '../../logging/index.ts'
import { isPayloadSchema } from '../../ports/index.ts'
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
