/** Converts a handler's return value to the outcome in the report. */
import { executionEventSchema } from '../../../schemas/index.ts'
import { errorOf, outcomesProblem, runError } from '../handlers/index.ts'
import { type Outcome, succeededWithoutResult } from './attempt.ts'

const resultField = executionEventSchema.fields.find((field) => field.name === 'result')

/** From the schema: 64 KB of JSON. */
export const resultBytesMax: number = resultField !== undefined && 'maxBytes' in resultField ? resultField.maxBytes : 65_536

/**
 * `undefined` is no result. A result that is not JSON, or too large, fails the attempt for good: a retry would return the same.
 */
export function succeeded(returned: unknown): Outcome {
  if (returned === undefined) return succeededWithoutResult
  let json: string | undefined
  try {
    json = JSON.stringify(returned)
  } catch (error) {
    return { type: 'FAILED', error: { ...errorOf(error), type: 'ResultNotJson', retryable: false, retryAfterMs: null } }
  }
  if (json === undefined) return succeededWithoutResult
  const result = Buffer.from(json)
  if (result.length <= resultBytesMax) return { type: 'SUCCEEDED', result }
  const message = `the handler's result is ${result.length} bytes of JSON, more than ${resultBytesMax}; store it elsewhere and return where`
  return { type: 'FAILED', error: runError('ResultTooLarge', message, false) }
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
