/** Versions of a job: `"<partition>.<offset>"` of its definition, as ETag and in If-Match. */

import { DuelogError } from '../../errors/index.ts'
import { jobEtag } from '../../ports/index.ts'

export interface Version {
  partition: number
  offset: number
}

/** The condition of a write: any version, no version, or one of these entity tags. */
export type Condition = ExistingCondition | 'none'
/** The condition of If-Match: the job exists, with any version or one of these. */
export type ExistingCondition = 'any' | readonly string[]

/**
 * The condition of If-Match or If-None-Match. Undefined without both. Throws `bad-request` for a value that does not have the form of
 * RFC 9110, and for both at once.
 */
export function conditionOf(headers: {
  'if-match'?: string | undefined
  'if-none-match'?: string | undefined
}): Condition | undefined {
  const { 'if-match': match, 'if-none-match': noneMatch } = headers
  if (noneMatch === undefined) return parseIfMatch(match)
  if (match !== undefined) throw new DuelogError('bad-request', 'If-Match and If-None-Match exclude each other. Use one of them.')
  if (noneMatch.trim() === '*') return 'none'
  throw new DuelogError(
    'bad-request',
    `If-None-Match is ${JSON.stringify(noneMatch.slice(0, 80))}. Use *: the job is written only if it does not exist.`,
  )
}

/** Undefined without the header. Throws `bad-request` for a value that does not have the form of RFC 9110. */
export function parseIfMatch(header: string | undefined): ExistingCondition | undefined {
  if (header === undefined) return undefined
  const text = header.trim()
  if (text === '*') return 'any'
  const tags: string[] = []
  for (const part of text.split(',')) {
    const match = /^\s*(W\/)?("[^"]*")\s*$/.exec(part)
    if (match === null) {
      throw new DuelogError(
        'bad-request',
        `If-Match is ${JSON.stringify(text.slice(0, 80))}. Use * or the ETag of the job with its quotes, such as "0.12".`,
      )
    }
    // A weak tag never matches under strong comparison.
    if (match[1] === undefined && match[2] !== undefined) tags.push(match[2])
  }
  return tags
}

/** Throws `version-conflict` if the job does not satisfy the condition. */
export function checkCondition(id: string, condition: Condition | undefined, current: Version | undefined): void {
  if (condition === undefined) return
  const tag = current === undefined ? undefined : jobEtag(current)
  if (condition === 'none') {
    if (tag === undefined) return
    throw new DuelogError(
      'version-conflict',
      `Job ${JSON.stringify(id)} exists already, with the version ${tag}, and If-None-Match: * allows only a new job. Nothing was changed.`,
    )
  }
  if (tag !== undefined && (condition === 'any' || condition.includes(tag))) return
  const found = tag === undefined ? 'does not exist' : `has the version ${tag}`
  throw new DuelogError(
    'version-conflict',
    `Job ${JSON.stringify(id)} ${found}, which does not match If-Match. It was changed or deleted meanwhile. Read it again and repeat the change.`,
  )
}
