/** One thing wrong with what a user gave, in a form that API, CLI and client can show. */
import { counted } from './counted.ts'

export interface Problem {
  /** Path of the field, such as schedule.everyMs or tags[3]; empty for the value as a whole. */
  field: string
  /** What was found; sizes stand for long values. */
  value: unknown
  /** What is allowed. */
  limit: string
  /** A sentence with all three. */
  message: string
}

/** Most problems reported of one value; a hostile one must not fill the memory or the answer. */
export const problemsMax = 50

/** Longest text of a user that is quoted whole. */
const quotedLengthMax = 80

/** A value in a message: short, on one line, whatever it is. Never throws. */
export function quoted(value: unknown): string {
  if (value === null || value === undefined || typeof value === 'boolean' || typeof value === 'number') return String(value)
  if (typeof value === 'string') {
    return JSON.stringify(value.length > quotedLengthMax ? `${value.slice(0, quotedLengthMax)}…` : value)
  }
  if (Array.isArray(value)) return 'an array'
  if (value instanceof Uint8Array) return counted(value.byteLength, 'byte')
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/** Fields whose values open doors elsewhere (ADR 0060). A problem becomes the reason of a job, which is for all eyes. */
const secretField = /^(?:target\.http\.url$|(?:target\.http\.)?headers\[)/

/** A problem whose sentence is "field is value; allowed: limit." */
export function notAllowed(field: string, value: unknown, limit: string, unit = ''): Problem {
  if (secretField.test(field) && value !== undefined)
    return { field, value: undefined, limit, message: `${field} is not of the form that is allowed: ${limit}.` }
  const found = `${quoted(value)}${unit && typeof value === 'number' ? ` ${unit}` : ''}`
  const shown = typeof value === 'object' && value !== null ? quoted(value) : value
  const state = value === undefined ? 'is missing' : `is ${found}`
  return { field, value: shown, limit, message: `${field || 'the value'} ${state}; allowed: ${limit}.` }
}

/** A problem with a sentence of its own. */
export function contradiction(field: string, value: unknown, limit: string, message: string): Problem {
  return { field, value, limit, message }
}

/** A problem of fields of which exactly one is to be set. */
export function oneOf(field: string, names: readonly string[], given: readonly string[], found: string): Problem {
  const limit = `exactly one of ${names.join(', ')}`
  return contradiction(field, given.join(', '), limit, `${field} must have ${limit}; ${found}.`)
}

export function isoOf(ms: number): string {
  return new Date(ms).toISOString()
}
