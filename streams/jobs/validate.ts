/** Whether a job may be taken: its id, and its definition against the schema's limits and the rules between fields. */
import { isUtf8 } from 'node:buffer'
import { type JobDefinition, jobCommandSchema, jobDefinitionSchema } from '../../schemas/generated.ts'
import { limitChecker } from './limits.ts'
import { controls } from './plain-text.ts'
import { contradiction, type Problem, quoted } from './problem.ts'
import { addRuleProblems } from './rules.ts'

export type { Problem } from './problem.ts'

/** Longest job id, in bytes of UTF-8. */
export const jobIdBytesMax = 255

const idLimit = `1 to ${jobIdBytesMax} bytes of UTF-8 without control characters`

/**
 * What is wrong with a job id, or undefined. 1 to 255 bytes of valid UTF-8; no control characters (C0, DEL, C1), because keys of
 * the store end an id with a 00 byte and because ids stand in logs and URLs.
 */
export function validateJobId(id: string | Buffer): Problem | undefined {
  const wrong = (found: string): Problem => {
    const shown = typeof id === 'string' ? id : id.toString('utf8', 0, jobIdBytesMax)
    return contradiction('id', shown, idLimit, `The job id ${quoted(shown)} ${found}; allowed: ${idLimit}.`)
  }
  const bytes = typeof id === 'string' ? Buffer.byteLength(id) : id.byteLength
  if (bytes === 0) return wrong('is empty')
  if (bytes > jobIdBytesMax) return wrong(`has ${bytes} bytes`)
  if (typeof id === 'string' ? !id.isWellFormed() : !isUtf8(id)) return wrong('is not valid UTF-8')
  if (controls.test(typeof id === 'string' ? id : id.toString())) return wrong('has a control character')
  return undefined
}

const definitionLimits = limitChecker(jobDefinitionSchema)

/** What is wrong with a job command's own fields: the limits of its schema. */
export const validateCommand = limitChecker(jobCommandSchema)

/** All that is wrong with a definition; empty when it may be taken. Never throws for a decoded value. */
export function validateDefinition(definition: JobDefinition): Problem[] {
  const problems = definitionLimits(definition)
  // Rules compare fields, so they need each to be of its own kind.
  if (problems.length === 0) addRuleProblems(definition, problems)
  return problems
}
