/** Validation of a job: its id, and its definition by the limits of the schema and the rules between fields. */
import { isUtf8 } from 'node:buffer'
import { type JobCommand, type JobDefinition, jobCommandSchema, jobDefinitionSchema } from '../../schemas/index.ts'
import { contradiction, controls, notAllowed, type Problem, quoted } from '../text/index.ts'
import { addRuleProblems } from './cross-field-rules.ts'
import { limitChecker } from './field-limits.ts'

export type { Problem } from '../text/index.ts'

/** Longest job id, in bytes of UTF-8. */
export const jobIdBytesMax = 255

/** The rule for job ids, in words. */
export const jobIdLimit = `1 to ${jobIdBytesMax} bytes of UTF-8 without control characters, other than "." and ".."`

/**
 * The problem of a job id, or undefined. An id has 1 to 255 bytes of valid UTF-8. It has no control characters (C0, DEL, C1), because
 * store keys end an id with a 00 byte, and because logs and URLs show ids. It is not . or .., because HTTP clients remove these from a
 * path in any encoding, so that a DELETE of such a job would delete something else.
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
/** The triggers that a sender may name. The owner knows the trigger of all other runs, and maxRuns counts by it. */
const commandTriggers: readonly string[] = ['MANUAL', 'FOLLOW_UP']

/** The problems of a job command's own fields: the limits of its schema, and triggers that only an owner may set. */
export function validateCommand(command: JobCommand): Problem[] {
  const problems = commandLimits(command)
  if (problems.length === 0 && !commandTriggers.includes(command.trigger))
    problems.push(notAllowed('trigger', command.trigger, commandTriggers.join(', ')))
  return problems
}

/** The problems of the single fields: types and limits. */
export const limitProblems = (definition: JobDefinition): Problem[] => definitionLimits(definition)

/** All problems of a definition; empty if it may be accepted. Never throws for a decoded value. */
export function validateDefinition(definition: JobDefinition): Problem[] {
  const problems = definitionLimits(definition)
  // The rules compare fields, so every field must have its own type.
  if (problems.length === 0) addRuleProblems(definition, problems)
  return problems
}
