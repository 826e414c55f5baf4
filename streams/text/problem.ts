/** Problems with a user's input, in a form that API, CLI and client can show; and what their sentences need: texts that are cut, and names that were meant. */
import { counted } from './quantities.ts'

export interface Problem {
  /** Path of the field, such as schedule.everyMs or tags[3]; empty for the value as a whole. */
  field: string
  /** The value that was found; for a long value its size. */
  value: unknown
  /** The allowed values. */
  limit: string
  /** A sentence with all three. */
  message: string
}

/** Most problems reported for one value; a hostile value must not fill the memory or the answer. */
export const problemsMax = 50

/** Longest user text that is quoted in full. */
const quotedLengthMax = 80

/** Any value in a short form on one line, for messages. Never throws. */
export function quoted(value: unknown): string {
  if (value === null || value === undefined || typeof value === 'boolean' || typeof value === 'number') return String(value)
  if (typeof value === 'string') {
    return JSON.stringify(value.length > quotedLengthMax ? `${cutText(value, quotedLengthMax)}…` : value)
  }
  if (Array.isArray(value)) return 'an array'
  if (value instanceof Uint8Array) return counted(value.byteLength, 'byte')
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/** Fields that may hold credentials (ADR 0060). A problem becomes the reason of a job, which every viewer sees. */
const secretField = /^(?:target\.http\.url$|(?:target\.http\.)?headers\[)/

/** A problem whose sentence is "field is value; allowed: limit." */
export function notAllowed(field: string, value: unknown, limit: string, unit = ''): Problem {
  if (secretField.test(field) && value !== undefined)
    return { field, value: undefined, limit, message: `${field} does not have the allowed form: ${limit}.` }
  const found = `${quoted(value)}${unit && typeof value === 'number' ? ` ${unit}` : ''}`
  const shown = typeof value === 'object' && value !== null ? quoted(value) : value
  const state = value === undefined ? 'is missing' : `is ${found}`
  return { field, value: shown, limit, message: `${field || 'the value'} ${state}; allowed: ${limit}.` }
}

/** A problem with its own sentence. */
export function contradiction(field: string, value: unknown, limit: string, message: string): Problem {
  return { field, value, limit, message }
}

/** A problem with a group of fields: exactly one must be set. */
export function oneOf(field: string, names: readonly string[], given: readonly string[], found: string): Problem {
  const limit = `exactly one of ${names.join(', ')}`
  return contradiction(field, given.join(', '), limit, `${field} must have ${limit}; ${found}.`)
}

export function isoOf(ms: number): string {
  return new Date(ms).toISOString()
}

/** Control characters: C0, DEL and C1. They are refused because store keys end texts with a 00 byte, and logs and URLs show ids and keys. */
export const controls = /[\u0000-\u001f\u007f-\u009f]/

/** The rule in words. UTF-8 has no lone surrogate (half of a character), so the log would hold another character. */
export const validText = 'text that is valid Unicode, without lone surrogates'

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff

/** At most `charsMax` code units. A character of two that would be cut in half is left out; lone halves of others are replaced. */
export function cutText(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text.toWellFormed()
  const end = charsMax > 0 && isHighSurrogate(text.charCodeAt(charsMax - 1)) ? charsMax - 1 : charsMax
  return text.slice(0, end).toWellFormed()
}

/** More edits than this are no typing mistake. */
const editsMax = 3
/** Longest name that `suggestion` compares: the cost grows with the square of the length. */
const comparedLengthMax = 40

/** The nearest known name within three edits; undefined when none is near. */
export function nearestOf(name: string, known: Iterable<string>, most = editsMax): string | undefined {
  let nearest: string | undefined
  let least = most + 1
  for (const candidate of known) {
    const edits = editsBetween(name, candidate)
    if (edits < least) [nearest, least] = [candidate, edits]
  }
  return nearest
}

/** The same for names from outside, within `most` edits. It ignores case, and allows fewer edits for a short name. */
export function suggestion(name: string, known: readonly string[], most = editsMax): string | undefined {
  if (name.length > comparedLengthMax) return undefined
  const byLowerCase = new Map(known.map((each) => [each.toLowerCase(), each]))
  const nearest = nearestOf(name.toLowerCase(), byLowerCase.keys(), Math.min(most, Math.floor(name.length / 2)))
  return nearest === undefined ? undefined : byLowerCase.get(nearest)
}

/** The Levenshtein distance: insertions, deletions and replacements that turn one text into another. */
function editsBetween(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let i = 1; i <= from.length; i++) {
    const next = [i]
    for (let j = 1; j <= to.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[to.length] ?? 0
}

/** A text without the characters that end it. An expression that looks for them begins anew at each, which takes quadratic time. */
export function withoutEnd(text: string, characters: string): string {
  let end = text.length
  while (end > 0 && characters.includes(text.charAt(end - 1))) end--
  return text.slice(0, end)
}
