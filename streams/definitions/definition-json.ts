/**
 * Jobs in JSON, as API, CLI and files have them: the fields of the Avro schema, `id` beside them, times in ISO 8601 with an offset
 * or epoch ms, durations in ms, header values and keys as text or {"base64"}, and the payload as streams/definitions/payload-json.ts says.
 */
import { type JobDefinition, type JobDefinitionInput, jobDefinitionSchema, type Target } from '../../schemas/index.ts'
import { contradiction, notAllowed, type Problem, problemsMax } from '../text/index.ts'
import { completeDefinition } from './defaults.ts'
import { readPayload, writePayload } from './payload-json.ts'
import { isObject, recordReader, recordWriter, textOrBase64, unknownField } from './record-json.ts'
import { validateDefinition, validateJobId } from './validate.ts'

export { isoTime, parseIsoTime } from '../text/index.ts'
export { completeDefinition } from './defaults.ts'

export type FromJson = { ok: true; id: string | undefined; definition: JobDefinition } | { ok: false; problems: Problem[] }

export interface FromJsonOptions {
  /** Id known from elsewhere, such as the path of a request; the JSON may repeat it, but not name another. */
  id?: string
  /** Default false. True refuses a job without an id. */
  idRequired?: boolean
}

const readFields = recordReader(jobDefinitionSchema)
const writeFields = recordWriter(jobDefinitionSchema)
const known = ['id', ...jobDefinitionSchema.fields.map((field) => field.name as string), 'payloadBase64']
const knownSet = new Set(known)
const required = jobDefinitionSchema.fields.filter((field) => !('default' in field)).map((field) => field.name)

/** A complete, valid definition, or everything that is wrong with the JSON. Never throws for parsed JSON. */
export function definitionFromJson(json: unknown, options: FromJsonOptions = {}): FromJson {
  if (!isObject(json)) return { ok: false, problems: [notAllowed('', json, 'a job as a JSON object')] }
  const problems: Problem[] = []
  const fields: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(json)) {
    if (problems.length >= problemsMax) break
    if (!knownSet.has(name)) problems.push(unknownField('', name, known))
    else if (value !== undefined) fields[name] = value
  }
  const id = idOf(fields.id, options, problems)
  const payload = readPayload(fields, problems)
  for (const name of ['id', 'payload', 'payloadBase64', 'contentType']) delete fields[name]
  for (const name of required) if (fields[name] === undefined) problems.push(missing(name))
  const input = { ...readFields(fields, problems), ...payload }
  if (problems.length > 0) return { ok: false, problems }
  const definition = completeDefinition(input as unknown as JobDefinitionInput)
  const refused = validateDefinition(definition)
  if (id !== undefined) addCycleProblems(id, definition, refused)
  return refused.length > 0 ? { ok: false, problems: refused } : { ok: true, id, definition }
}

function idOf(given: unknown, { id, idRequired = false }: FromJsonOptions, problems: Problem[]): string | undefined {
  const chosen = given ?? id
  if (chosen === undefined) {
    if (idRequired) problems.push(missing('id'))
    return undefined
  }
  if (typeof chosen !== 'string') {
    problems.push(notAllowed('id', chosen, 'text'))
    return undefined
  }
  const problem = validateJobId(chosen)
  if (problem !== undefined) problems.push(problem)
  if (id !== undefined && chosen !== id) problems.push(notAllowed('id', chosen, `the id it was sent to, ${JSON.stringify(id)}`))
  return chosen
}

/** A job that follows on itself: the one circle that is seen in one place. Of all others the bounds of a chain are the end. */
function addCycleProblems(id: string, definition: JobDefinition, problems: Problem[]): void {
  for (const field of ['onSuccess', 'onFailure'] as const) {
    if (!definition[field].includes(id)) continue
    const limit = 'ids of other jobs; to run again and again, use schedule.everyMs with from END, or retry'
    problems.push(contradiction(field, id, limit, `${field} names the job itself; allowed: ${limit}.`))
  }
}

function missing(field: string): Problem {
  return { field, value: undefined, limit: 'required', message: `${field} is missing; it is required.` }
}

/** A definition as definitionFromJson takes it. Times in UTC; what is not set is left out. */
export function definitionToJson(definition: JobDefinition): Record<string, unknown> {
  const { payload: _, headers, schedule, target, ...rest } = writeFields({ ...definition, payload: null, headers: {} })
  return {
    schedule: scheduleToJson(schedule as Record<string, unknown>),
    target: targetToJson(target as Record<string, unknown>, definition.target),
    ...rest,
    ...writePayload(definition),
    ...headersToJson(definition.headers),
  }
}

/** Fields that have a default but no meaning beside this kind of schedule are left out. */
function scheduleToJson(schedule: Record<string, unknown>): Record<string, unknown> {
  const { from, timezone, dstGap, dstOverlap, ...rest } = schedule
  return {
    ...rest,
    ...(rest.everyMs === undefined ? {} : { from }),
    ...(rest.cron === undefined && rest.rrule === undefined ? {} : { timezone, dstGap, dstOverlap }),
  }
}

function targetToJson({ pool, ...rest }: Record<string, unknown>, { topic }: Target): Record<string, unknown> {
  if (topic === null) return { ...rest, pool }
  const { key, ...place } = rest.topic as Record<string, unknown>
  return { topic: { ...place, ...(topic.key === null ? {} : { key: textOrBase64(topic.key) }) } }
}

function headersToJson(headers: Record<string, Buffer>): { headers?: Record<string, string | { base64: string }> } {
  const entries = Object.entries(headers).map(([name, value]) => [name, textOrBase64(value)] as const)
  return entries.length === 0 ? {} : { headers: Object.fromEntries(entries) }
}
