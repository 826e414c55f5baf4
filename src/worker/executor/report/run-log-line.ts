/**
 * One line of run.log, bounded. A handler may pass anything, also from a program without a compiler: whatever it is, it becomes a
 * line and throws nothing.
 */

import { fieldOf, type RunLogLine, runLogSchema } from '../../../../schemas/index.ts'
import { cutText } from '../../../../streams/text/index.ts'
import type { RunLogLevel } from '../handlers/index.ts'

const lineSchema = runLogSchema.fields[6].type.items
/** Bytes of the text, and of the fields as JSON. */
export const textBytesMax = fieldOf(lineSchema, 'text').maxBytes as number
export const fieldsBytesMax = fieldOf(lineSchema, 'fields').maxBytes as number
/** Fields of a line, bytes of the text of one field, and characters of its name. Further ones are left out. */
export const fieldsMax = 32
export const fieldBytesMax = 1_024
const fieldNameCharsMax = 100

const levels: readonly unknown[] = ['debug', 'info', 'warn', 'error'] satisfies RunLogLevel[]
const ending = '…'

/** `at`: epoch ms. An unknown level becomes info. */
export function runLogLine(level: unknown, text: unknown, fields: unknown, at: number): RunLogLine {
  const whole = textOf(text)
  const shown = shortened(whole, textBytesMax)
  const { json, isWhole } = fieldsOf(fields)
  return {
    at,
    level: levels.includes(level) ? (level as RunLogLevel) : 'info',
    text: shown,
    fields: json,
    shortened: !isWhole || shown.length < whole.length,
  }
}

/** About the bytes of the line in a record. */
export function lineBytes({ text, fields }: RunLogLine): number {
  return Buffer.byteLength(text) + (fields === null ? 0 : Buffer.byteLength(fields)) + 16
}

function textOf(value: unknown): string {
  try {
    return String(value)
  } catch {
    return '[a value without a text]'
  }
}

/** At most that many bytes of UTF-8, well-formed. A text that is cut ends in an ellipsis. */
function shortened(text: string, bytesMax: number): string {
  const start = cutText(text, bytesMax)
  const bytes = Buffer.from(start)
  if (text.length <= bytesMax && bytes.length <= bytesMax) return start
  let end = Math.min(bytes.length, bytesMax - Buffer.byteLength(ending))
  // Not within a character.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--
  return bytes.toString('utf8', 0, end) + ending
}

/** JSON of the fields that fit; null without any. */
function fieldsOf(fields: unknown): { json: string | null; isWhole: boolean } {
  if (fields === undefined || fields === null) return { json: null, isWhole: true }
  if (typeof fields !== 'object' || Array.isArray(fields)) return { json: null, isWhole: false }
  const parts: string[] = []
  let bytes = 2
  let isWhole = true
  for (const name of namesOf(fields)) {
    const value = fieldValue(fields as Record<string, unknown>, name)
    if (value.shown === undefined) continue
    const part = `${JSON.stringify(cutText(name, fieldNameCharsMax))}:${JSON.stringify(value.shown)}`
    const size = Buffer.byteLength(part) + 1
    const fits = parts.length < fieldsMax && bytes + size <= fieldsBytesMax
    isWhole &&= fits && value.isWhole && name.length <= fieldNameCharsMax
    if (parts.length >= fieldsMax) break
    if (!fits) continue
    bytes += size
    parts.push(part)
  }
  return { json: parts.length === 0 ? null : `{${parts.join(',')}}`, isWhole }
}

function namesOf(fields: object): string[] {
  try {
    return Object.keys(fields)
  } catch {
    return []
  }
}

/** A value as flat JSON has it. Undefined: the field is left out, like in JSON. */
function fieldValue(
  fields: Record<string, unknown>,
  name: string,
): { shown: string | number | boolean | null | undefined; isWhole: boolean } {
  try {
    const value = fields[name]
    if (value === undefined || value === null || typeof value === 'boolean') return { shown: value, isWhole: true }
    if (typeof value === 'number' && Number.isFinite(value)) return { shown: value, isWhole: true }
    const text = value instanceof Date ? value.toISOString() : nested(value) ? '[object]' : String(value)
    const shown = shortened(text, fieldBytesMax)
    return { shown, isWhole: shown.length === text.length && !nested(value) }
  } catch {
    return { shown: '[a value without a text]', isWhole: false }
  }
}

/** To write it as JSON would take as long as it is large. */
function nested(value: unknown): boolean {
  return (typeof value === 'object' && !(value instanceof Error) && !(value instanceof Date)) || typeof value === 'function'
}
