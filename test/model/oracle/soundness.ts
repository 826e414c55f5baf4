/**
 * Decides whether a definition can be used: within the limits of its schema, and with one schedule and one target (docs/JOBS.md).
 */
import { readFileSync } from 'node:fs'
import type { JobDefinition } from '../../../schemas/generated.ts'

interface Field {
  name: string
  type: unknown
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  maxBytes?: number
  maxItems?: number
  pattern?: string
}

const schema = JSON.parse(readFileSync(new URL('../../../schemas/job-definition.avsc', import.meta.url), 'utf8')) as {
  fields: Field[]
}

export function isSound(spec: JobDefinition): boolean {
  const { at, delayMs, everyMs, cron, rrule } = spec.schedule
  const schedules = [at, delayMs, everyMs, cron, rrule].filter((each) => each !== null)
  const targets = [spec.target.handler, spec.target.topic, spec.target.http].filter((each) => each !== null)
  return schedules.length === 1 && targets.length === 1 && isWithin(schema.fields, spec as unknown as Record<string, unknown>)
}

function isWithin(fields: Field[], value: Record<string, unknown>): boolean {
  return fields.every((field) => {
    const given = value[field.name]
    if (given === null || given === undefined) return true
    const inner = [field.type]
      .flat()
      .find((type): type is { fields: Field[] } => (type as { fields?: unknown })?.fields !== undefined)
    return inner === undefined ? fits(field, given) : isWithin(inner.fields, given as Record<string, unknown>)
  })
}

function fits({ minimum, maximum, minLength, maxLength, maxBytes, maxItems, pattern }: Field, value: unknown): boolean {
  if (typeof value === 'number') return value >= (minimum ?? value) && value <= (maximum ?? value)
  if (typeof value === 'string') {
    if (value.length < (minLength ?? 0) || value.length > (maxLength ?? value.length)) return false
    return pattern === undefined || new RegExp(pattern).test(value)
  }
  if (Buffer.isBuffer(value)) return value.length <= (maxBytes ?? value.length)
  if (Array.isArray(value)) return value.length <= (maxItems ?? value.length)
  return true
}
