/** Converts a handler's return value to the outcome in the report. */

import { types } from 'node:util'
import { executionEventSchema, fieldOf } from '../../../../schemas/index.ts'
import { cutText } from '../../../../streams/text/index.ts'
import { errorOf, outcomesProblem, runError } from '../handlers/index.ts'
import { type Outcome, succeededWithoutResult } from './attempt.ts'

const resultField = executionEventSchema.fields.find((field) => field.name === 'result')

/** From the schema: 64 KB of JSON. */
export const resultBytesMax: number = resultField !== undefined && 'maxBytes' in resultField ? resultField.maxBytes : 65_536

const noteCharsMax = fieldOf(executionEventSchema, 'message').maxLength ?? 0

/** Values that a result has lost are named up to this number. */
const lossesNamedMax = 5
const lossCharsMax = 80

/**
 * `undefined` is no result. No result fails the attempt, because the work is done: one that is not JSON, or too large, is left out, and
 * values that JSON changes are told.
 */
export function succeeded(returned: unknown): Outcome {
  if (returned === undefined) return succeededWithoutResult
  const losses: string[] = []
  let json: string | undefined
  try {
    json = JSON.stringify(returned, function (this: unknown, name, value: unknown) {
      const loss = lossOf(value, (this as Record<string, unknown>)[name])
      if (loss !== undefined && losses.length <= lossesNamedMax)
        losses.push(name === '' ? `it is ${loss}` : `${JSON.stringify(cutText(name, lossCharsMax))} is ${loss}`)
      return wellFormed(value)
    })
  } catch (error) {
    return withoutResult(`it is not JSON: ${errorOf(error).message}`)
  }
  const loss = losses.length === 0 ? undefined : lossText(losses)
  if (json === undefined) return { type: 'SUCCEEDED', result: null, loss }
  const result = Buffer.from(json)
  if (result.length <= resultBytesMax) return { type: 'SUCCEEDED', result, loss }
  return withoutResult(`it has ${result.length} bytes of JSON, more than ${resultBytesMax}. Store it elsewhere and return where.`)
}

/** The run keeps the note; the log of the run has it too. */
function withoutResult(why: string): Outcome {
  const note = cutText(`The result was left out: ${why}`, noteCharsMax)
  return { type: 'SUCCEEDED', result: null, loss: note, note }
}

/** UTF-8, and so the result that a caller reads, has no half of a character. */
function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed()
  if (typeof value !== 'object' || value === null || Object.keys(value).every((name) => name.isWellFormed())) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name.toWellFormed(), inner]))
}

/** What JSON makes of a value without an error, if that is not the value. `undefined` in an object is left out, as everybody expects. */
function lossOf(value: unknown, original: unknown): string | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : `${value}, which JSON has as null`
  if (typeof value === 'string')
    return value.isWellFormed() ? undefined : 'a text with half of a character, which JSON cannot keep'
  if (typeof value === 'function' || typeof value === 'symbol') return `a ${typeof value}, which JSON leaves out`
  if (typeof original !== 'object' || original === null) return undefined
  if (value === null && types.isDate(original)) return 'an invalid Date, which JSON has as null'
  if (types.isPromise(value)) return 'a promise that nobody waits for, which JSON has as {}'
  if (types.isMap(value) || types.isSet(value)) return 'a Map or Set, which JSON has as {}'
  return types.isNativeError(value) ? 'an Error, which JSON has without its message' : undefined
}

function lossText(losses: readonly string[]): string {
  const more = losses.length > lossesNamedMax ? ' There are more.' : ''
  return `The result is not kept as the handler returned it: ${losses.slice(0, lossesNamedMax).join('; ')}.${more}`
}

/** The outcome of each run of a batch, by its index, from the handler's return value. */
export function batchOutcomes(returned: unknown, runs: number): (index: number) => Outcome {
  if (returned === undefined) return () => succeededWithoutResult
  const problem = outcomesProblem(returned, runs)
  if (problem !== undefined) return () => wrong(problem)
  return (index) => outcomeOf((returned as unknown[])[index])
}

function outcomeOf(outcome: unknown): Outcome {
  const names = typeof outcome === 'object' && outcome !== null ? Object.keys(outcome).join() : 'none'
  if (names === 'error') return failed((outcome as { error: unknown }).error)
  if (names === 'result' || names === '') return succeeded((outcome as { result?: unknown }).result)
  return wrong('an outcome of a batch handler must be { result } or { error }, or {}')
}

const wrong = (message: string): Outcome => ({ type: 'FAILED', error: runError('BatchOutcomesWrong', message, false) })

export function failed(thrown: unknown): Outcome {
  return { type: 'FAILED', error: errorOf(thrown) }
}
