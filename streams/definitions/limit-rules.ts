/** The rules for limits that jobs share: concurrencyKey, concurrencyLimit and rateLimit. */
import type { JobDefinition } from '../../schemas/index.ts'
import { contradiction, controls, type Problem, quoted } from '../text/index.ts'
import { hasTag } from '../topics/index.ts'

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

/**
 * Warnings about limits that this job shares with others, as sentences: a limit counts the jobs of one partition, and ids without a tag
 * are spread over all of them.
 */
export function limitWarnings(id: string, { concurrencyKey, rateLimit }: JobDefinition, partitions: number): string[] {
  if (partitions === 1 || hasTag(id)) return []
  const keys = [
    ...(concurrencyKey === null ? [] : [['concurrencyKey', concurrencyKey] as const]),
    ...(rateLimit === null ? [] : [['rateLimit.key', rateLimit.key] as const]),
  ]
  return keys.map(([field, key]) => {
    const example = JSON.stringify(`{${key}}${id}`)
    return `The limit of ${field} ${quoted(key)} counts the jobs of each of the ${partitions} partitions separately. If other jobs have this key, give their ids one tag in braces, such as ${example}: then they are in one partition and share the limit exactly.`
  })
}

function addKeyProblems(field: string, key: string, problems: Problem[]): void {
  const limit = `1 to ${limitKeyBytesMax} bytes of UTF-8 without control characters`
  const bytes = Buffer.byteLength(key)
  if (bytes <= limitKeyBytesMax && key.isWellFormed() && !controls.test(key)) return
  const found =
    bytes > limitKeyBytesMax ? `has ${bytes} bytes` : key.isWellFormed() ? 'has a control character' : 'is not valid UTF-8'
  problems.push(contradiction(field, key, limit, `${field} ${quoted(key)} ${found}; allowed: ${limit}.`))
}
