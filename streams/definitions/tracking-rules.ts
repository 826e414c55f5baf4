/** The fields that trackRuns false excludes, because the owner does not learn when a run ends. */
import { type JobDefinition, jobDefinitionSchema } from '../../schemas/index.ts'
import { contradiction, type Problem, quoted } from '../text/index.ts'

const defaultOf = (name: string): unknown => {
  const field = jobDefinitionSchema.fields.find((candidate) => candidate.name === name)
  return field !== undefined && 'default' in field ? field.default : undefined
}
/** A default retry was not requested. It does not apply, and is no contradiction. */
const retryDefault = JSON.stringify(defaultOf('retry'))
const maxConcurrentRunsDefault = defaultOf('maxConcurrentRuns')

/** Refuses fields that depend on the end of a run, or on an answer of its worker. */
export function addTrackingProblems(definition: JobDefinition, problems: Problem[]): void {
  if (definition.trackRuns) return
  const { overlap, maxConcurrentRuns, schedule, onSuccess, onFailure, retry, pinTo, target, concurrencyKey, rateLimit } =
    definition
  const refuse = (field: string, value: unknown, why: string, allowed: string): void => {
    const message = `${field} is ${quoted(value)}, but trackRuns is false: ${why}; allowed: ${allowed}.`
    problems.push(contradiction(field, value, allowed, message))
  }
  const unheard = 'the owner does not learn when a run ends'
  if (overlap !== 'ALLOW') refuse('overlap', overlap, unheard, 'ALLOW, or trackRuns true')
  // A run that waits for its start is not dispatched yet, so maxConcurrentRuns may limit those.
  if (maxConcurrentRuns !== maxConcurrentRunsDefault && rateLimit === null)
    refuse(
      'maxConcurrentRuns',
      maxConcurrentRuns,
      unheard,
      'nothing, or trackRuns true, or a rateLimit whose starts runs wait for',
    )
  if (schedule.from === 'END') refuse('schedule.from', schedule.from, unheard, 'START, or trackRuns true')
  if (onSuccess.length > 0) refuse('onSuccess', onSuccess, unheard, 'nothing, or trackRuns true')
  if (onFailure.length > 0) refuse('onFailure', onFailure, unheard, 'nothing, or trackRuns true')
  if (retry.maxAttempts > 1 && !isRetryDefault(definition))
    refuse(
      'retry.maxAttempts',
      retry.maxAttempts,
      'the owner does not learn that a run failed',
      '1, or no retry, or trackRuns true',
    )
  // A slot of the key is released at the end of a run.
  if (concurrencyKey !== null) refuse('concurrencyKey', concurrencyKey, unheard, 'nothing, or trackRuns true')
  if (pinTo !== null)
    refuse('pinTo', pinTo, 'the owner does not learn whether that worker has the run', 'nothing, or trackRuns true')
  if (target.topic !== null)
    refuse('target.topic', target.topic, 'the run of a topic target is known to have succeeded', 'trackRuns true')
}

/** Compares the fields in the order of the schema, as completeDefinition and the codec give them. */
function isRetryDefault({ retry }: JobDefinition): boolean {
  const { maxAttempts, backoff, maxAgeMs, jitter, nonRetryable } = retry
  const { list, fixed, linear, exponential } = backoff
  const ordered = { maxAttempts, backoff: { list, fixed, linear, exponential }, maxAgeMs, jitter, nonRetryable }
  return JSON.stringify(ordered) === retryDefault
}
