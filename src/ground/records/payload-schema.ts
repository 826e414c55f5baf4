/**
 * Schemas of payloads, of any library that follows Standard Schema (zod, valibot, arktype and others). See
 * https://standardschema.dev for the interface.
 */
import type { StandardSchemaV1 } from '@standard-schema/spec'

/** A schema of zod, valibot, arktype or another library of Standard Schema. */
export type PayloadSchema = StandardSchemaV1

/** The type of the payloads that jobs give to a handler with this schema. */
export type PayloadInput<Schema extends PayloadSchema> = StandardSchemaV1.InferInput<Schema>
/** The type of the payloads that the handler gets. They may differ: a schema may fill in defaults and convert. */
export type PayloadOutput<Schema extends PayloadSchema> = StandardSchemaV1.InferOutput<Schema>
/** Payloads by handler, from schemas by handler: `createClient<PayloadsOf<typeof schemas>>(…)`. */
export type PayloadsOf<Schemas extends Record<string, PayloadSchema>> = { [Name in keyof Schemas]: PayloadInput<Schemas[Name]> }

/** `issues`: what does not match, as a sentence part. Otherwise the value that the schema returns. */
export type CheckedPayload = { value: unknown } | { issues: string }

/** Issues that a message names. */
const issuesNamedMax = 10

export function isPayloadSchema(value: unknown): value is PayloadSchema {
  const isObject = (typeof value === 'object' && value !== null) || typeof value === 'function'
  return isObject && typeof (value as Partial<PayloadSchema>)['~standard']?.validate === 'function'
}

/** A promise only if the schema checks asynchronously. Throws what the schema throws. */
export function checkPayload(schema: PayloadSchema, payload: unknown): CheckedPayload | Promise<CheckedPayload> {
  const result = schema['~standard'].validate(payload)
  return result instanceof Promise ? result.then(checkedOf) : checkedOf(result)
}

function checkedOf(result: StandardSchemaV1.Result<unknown>): CheckedPayload {
  return result.issues === undefined ? { value: result.value } : { issues: issuesText(result.issues) }
}

/** `to: Required; items.0.price: Expected number`. */
function issuesText(issues: readonly StandardSchemaV1.Issue[]): string {
  const named = issues.slice(0, issuesNamedMax).map(({ path = [], message }) => {
    const place = path.map((part) => String(typeof part === 'object' ? part.key : part)).join('.')
    return place === '' ? message : `${place}: ${message}`
  })
  const more = issues.length - named.length
  return `${named.join('; ')}${more > 0 ? `; and ${more} more` : ''}`
}
