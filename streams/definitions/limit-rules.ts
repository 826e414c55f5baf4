/** The rules for limits that jobs share: concurrencyKey, concurrencyLimit and rateLimit. */
import type { JobDefinition } from '../../schemas/index.ts'
import { contradiction, controls, type Problem, quoted } from '../text/index.ts'

/** Longest key of a limit, in bytes of UTF-8. */
export const limitKeyBytesMax = 256

export function addLimitProblems(definition: JobDefinition, problems: Problem[]): void {
  const { concurrencyKey, concurrencyLimit, rateLimit, target } = definition
  if (concurrencyKey !== null) addKeyProblems('concurrencyKey', concurrencyKey, problems)
  if (rateLimit !== null) addKeyProblems('rateLimit.key', rateLimit.key, problems)
  if (concurrencyKey === null && concurrencyLimit !== 1) {
    const limit = 'only with concurrencyKey'
    const message = `concurrencyLimit is ${concurrencyLimit}, but it is allowed ${limit}; give the key or leave the limit out.`
    problems.push(contradiction('concurrencyLimit', concurrencyLimit, limit, message))
  }
  if (concurrencyKey !== null && target.topic !== null) {
    const limit = 'only with target.handler and target.http'
    const message = `concurrencyKey is ${quoted(concurrencyKey)}, but it is allowed ${limit}: a record in a topic takes no time; rateLimit works with every target.`
    problems.push(contradiction('concurrencyKey', concurrencyKey, limit, message))
  }
}

function addKeyProblems(field: string, key: string, problems: Problem[]): void {
  const limit = `1 to ${limitKeyBytesMax} bytes of UTF-8 without control characters`
  const bytes = Buffer.byteLength(key)
  if (bytes <= limitKeyBytesMax && key.isWellFormed() && !controls.test(key)) return
  const found =
    bytes > limitKeyBytesMax ? `has ${bytes} bytes` : key.isWellFormed() ? 'has a control character' : 'is not valid UTF-8'
  problems.push(contradiction(field, key, limit, `${field} ${quoted(key)} ${found}; allowed: ${limit}.`))
}
