/** Handlers whose payloads are checked by a schema before each attempt. */
import { type CheckedPayload, checkPayload, type PayloadOutput, type PayloadSchema } from '../../../ground/records/index.ts'
import type { BatchHandler, Handler, Run } from './handler.ts'
import { NonRetryableError } from './handler.ts'
import { partialBatch } from './partial-batch.ts'

/**
 * A handler whose payload is checked before each attempt. A payload that does not match ends the run at once (DEAD, error
 * `PayloadInvalid`), because another attempt would find the same. `withSchema` makes one with the right types.
 */
export interface SchemaHandler<Payload = unknown> {
  schema: PayloadSchema
  handler: Handler<Payload>
}

/** A handler that gets what the schema returns. */
export function withSchema<Schema extends PayloadSchema>(
  schema: Schema,
  handler: Handler<PayloadOutput<Schema>>,
): SchemaHandler<PayloadOutput<Schema>> {
  return { schema, handler }
}

/** The payload does not match the schema of its handler. */
class PayloadInvalidError extends NonRetryableError {
  constructor(issues: string) {
    super(`the payload does not match the schema of the handler: ${issues}`)
    this.name = 'PayloadInvalid'
  }
}

/** A handler that checks the payload and then calls `handler` with what the schema returns. */
export function checkedHandler({ schema, handler }: SchemaHandler): Handler {
  return (run) => {
    const checked = checkPayload(schema, run.payload)
    if (checked instanceof Promise) return checked.then((settled) => handler(withChecked(run, settled)))
    return handler(withChecked(run, checked))
  }
}

export function checkedBatchHandler(schema: PayloadSchema, handler: BatchHandler): BatchHandler {
  const prepare = async (run: Run): Promise<Run> => withChecked(run, await checkPayload(schema, run.payload))
  return { batch: handler.batch, run: (runs) => partialBatch(handler, runs, prepare) }
}

/** The run with the value of the schema as its payload. Everything else is that of the run itself, also what changes later. */
function withChecked(run: Run, checked: CheckedPayload): Run {
  if ('issues' in checked) throw new PayloadInvalidError(checked.issues)
  return new Proxy(run, {
    get(target, name) {
      if (name === 'payload') return checked.value
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
