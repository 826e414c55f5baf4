/** The rules between fields of a definition. They run only if every field is within its own limits. */
import type { JobDefinition } from '../../schemas/index.ts'
import { contradiction, controls, oneOf, type Problem, quoted } from '../text/index.ts'
import { addLimitProblems } from './limit-rules.ts'
import { addScheduleProblems } from './schedule-rules.ts'
import { addTargetProblems } from './target-rules.ts'
import { addTrackingProblems } from './tracking-rules.ts'

const backoffs = ['list', 'fixed', 'linear', 'exponential'] as const

export function addRuleProblems(definition: JobDefinition, problems: Problem[]): void {
  addScheduleProblems(definition, problems)
  addTargetProblems(definition, problems)
  addLimitProblems(definition, problems)
  addBackoffProblems(definition, problems)
  addTrackingProblems(definition, problems)
  addControlProblems(definition, problems)
}

/** Lists and logs show these texts. A control character in one could steer the terminal that shows it. */
function addControlProblems({ tags, onSuccess, onFailure, contentType }: JobDefinition, problems: Problem[]): void {
  const limit = 'text without control characters'
  for (const [name, texts] of Object.entries({ tags, onSuccess, onFailure, contentType: [contentType ?? ''] }))
    for (const [index, text] of texts.entries()) {
      const field = name === 'contentType' ? name : `${name}[${index}]`
      if (controls.test(text))
        problems.push(contradiction(field, text, limit, `${field} ${quoted(text)} has a control character; allowed: ${limit}.`))
    }
}

function addBackoffProblems({ retry: { backoff } }: JobDefinition, problems: Problem[]): void {
  const listed = backoff.list.length > 0
  const set = (listed ? 1 : 0) + (backoff.fixed ? 1 : 0) + (backoff.linear ? 1 : 0) + (backoff.exponential ? 1 : 0)
  if (set === 1) return
  const given = backoffs.filter((name) => (name === 'list' ? listed : backoff[name] !== null))
  const found = set === 0 ? 'none of them is set' : `${given.join(' and ')} are set`
  problems.push(oneOf('retry.backoff', backoffs, given, found))
}
