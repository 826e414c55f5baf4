/** What a write changed in a definition, for the audit trail: without payloads and credentials, and limited in size. */
import type { AuditChange, JobDefinition } from '../../../schemas/index.ts'
import { definitionToJson, isObject, withoutDefaults } from '../../../streams/definitions/index.ts'
import { cutText } from '../../../streams/text/index.ts'
import { redacted } from '../http/index.ts'
import { auditChangesMax, auditValueCharsMax } from '../schemas/index.ts'

/** Undefined: there is no definition, or it cannot be read. */
export function definitionChanges(before: JobDefinition | undefined, after: JobDefinition | undefined): AuditChange[] {
  const [old, now] = [valuesOf(before), valuesOf(after)]
  const changes: AuditChange[] = []
  for (const field of new Set([...old.keys(), ...now.keys()])) {
    const [was, is] = [old.get(field), now.get(field)]
    // Masks are equal although the values below them differ.
    if (was?.exact === is?.exact) continue
    changes.push({ field: shortened(field), before: was?.shown ?? null, after: is?.shown ?? null })
    if (changes.length === auditChangesMax) break
  }
  return changes
}

interface Value {
  exact: string
  shown: string
}

const anyJson = Buffer.from('0')

/** The values that are not the default, by their paths. */
function valuesOf(definition: JobDefinition | undefined): Map<string, Value> {
  const values = new Map<string, Value>()
  if (definition === undefined) return values
  const { payload } = definition
  // Half a megabyte of JSON takes 30 ms to read, and is not shown.
  const small = payload === null ? definition : { ...definition, payload: anyJson }
  const { payload: _, payloadBase64: __, ...exact } = withoutDefaults(definitionToJson(small))
  walk(exact, redacted(exact), '', (path, value, shown) => {
    values.set(path, { exact: JSON.stringify(value), shown: shortened(JSON.stringify(shown)) })
  })
  if (payload !== null)
    values.set('payload', { exact: payload.toString('base64'), shown: JSON.stringify(`${payload.length} bytes`) })
  return values
}

/** Each value that is no object, with the one that may be shown. Both have the same fields. */
function walk(exact: unknown, shown: unknown, path: string, take: (path: string, exact: unknown, shown: unknown) => void): void {
  if (!isObject(exact) || !isObject(shown)) return take(path, exact, shown)
  for (const [name, value] of Object.entries(exact)) walk(value, shown[name], path === '' ? name : `${path}.${name}`, take)
}

const shortened = (text: string): string => (text.length > auditValueCharsMax ? `${cutText(text, auditValueCharsMax)}…` : text)
