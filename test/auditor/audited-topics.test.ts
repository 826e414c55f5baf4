import { expect, test } from 'vitest'
import { auditedTopics } from '../../src/tools/auditor/audit.ts'
import { topicNames } from '../../streams/topics/topics.ts'

test('the end of each topic is read before the ends of the topics that its records refer to', () => {
  const names = topicNames('p.')
  const topics = auditedTopics(names, ['p.executions.default.high', 'p.executions.default.normal'], ['orders'])
  const at = (topic: string): number => topics.indexOf(topic)
  const before = [
    [names.jobs, names.state],
    // A state tells of reports, and of records in target topics.
    [names.state, names.events],
    [names.state, 'orders'],
    // A report tells of a dispatch: by a topic of its pool, or to one worker.
    [names.events, 'p.executions.default.high'],
    [names.events, 'p.executions.default.normal'],
    [names.events, names.control],
    [names.deadLetters, 'p.executions.default.normal'],
    // A state tells of a pause.
    [names.state, names.pauses],
  ] as const
  expect(before.filter(([first, later]) => !(at(first) >= 0 && at(first) < at(later)))).toEqual([])
})
