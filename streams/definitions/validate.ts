/** Whether a job may be taken: its id, and its definition against the schema's limits and the rules between fields. */
import { isUtf8 } from 'node:buffer'
import { type JobCommand, type JobDefinition, jobCommandSchema, jobDefinitionSchema } from '../../schemas/index.ts'
import { contradiction, controls, notAllowed, type Problem, quoted } from '../text/index.ts'
import { addRuleProblems } from './cross-field-rules.ts'
import { limitChecker } from './field-limits.ts'

export type { Problem } from '../text/index.ts'

/** Longest job id, in bytes of UTF-8. */
export const jobIdBytesMax = 255

/** What may be a job id, in words. */
export const jobIdLimit = `1 to ${jobIdBytesMax} bytes of UTF-8 without control characters, other than . and ..`

/**
 * What is wrong with a job id, or undefined. 1 to 255 bytes of valid UTF-8; no control characters (C0, DEL, C1), because keys of
 * the store end an id with a 00 byte and because ids stand in logs and URLs. Not . and .., which clients of HTTP remove from a path
 * however they are written, so that a DELETE of such a job would be one of something else.
 */
export function validateJobId(id: string | Buffer): Problem | undefined {
  const text = typeof id === 'string' ? id : id.toString('utf8', 0, jobIdBytesMax)
  const wrong = (found: string): Problem => {
    return contradiction('id', text, jobIdLimit, `The job id ${quoted(text)} ${found}; allowed: ${jobIdLimit}.`)
  }
  const bytes = typeof id === 'string' ? Buffer.byteLength(id) : id.byteLength
  if (bytes === 0) return wrong('is empty')
  if (bytes > jobIdBytesMax) return wrong(`has ${bytes} bytes`)
  if (typeof id === 'string' ? !id.isWellFormed() : !isUtf8(id)) return wrong('is not valid UTF-8')
  if (text === '.' || text === '..') return wrong('is a path of its own in a URL')
  if (controls.test(text)) return wrong('has a control character')
  return undefined
}

const definitionLimits = limitChecker(jobDefinitionSchema)

const commandLimits = limitChecker(jobCommandSchema)
/** What makes a run is known to the owner, and maxRuns counts by it; only these two a sender may name. */
const commandTriggers: readonly string[] = ['MANUAL', 'FOLLOW_UP']

/** What is wrong with a job command's own fields: the limits of its schema, and what only an owner may say. */
export function validateCommand(command: JobCommand): Problem[] {
  const problems = commandLimits(command)
  if (problems.length === 0 && !commandTriggers.includes(command.trigger))
    problems.push(notAllowed('trigger', command.trigger, commandTriggers.join(', ')))
  return problems
}

/** All that is wrong with a definition; empty when it may be taken. Never throws for a decoded value. */
export function validateDefinition(definition: JobDefinition): Problem[] {
  const problems = definitionLimits(definition)
  // Rules compare fields, so they need each to be of its own kind.
  if (problems.length === 0) addRuleProblems(definition, problems)
  return problems
}
