/** A problem with a user's input, in a form that API, CLI and client can show. */
import { cutText } from './cut-text.ts'
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
