/** From when on an auditor may expect dispatches, where retention has taken the beginning of a topic. */
import { expect, it } from 'vitest'
import { CompleteFrom } from '../../../src/tools/auditor/reading/lanes.ts'
import { topicNames } from '../../../streams/topics/topics.ts'

const names = topicNames('duelog.')
const executions = names.executions('default', 'NORMAL')
const record = (topic: string, partition: number, offset: number, timestampMs: number) => ({
  topic,
  partition,
  offset,
  timestampMs,
})

it('completeness is the oldest record of the partition that is furthest behind', () => {
  const complete = new CompleteFrom(names)
  complete.note(record(executions, 0, 0, 100))
  complete.note(record(executions, 0, 1, 200))
  expect(complete.times).toEqual({ executions: 0, control: 0 })
  complete.note(record(executions, 1, 17, 5_000))
  complete.note(record(executions, 2, 3, 4_000))
  // Only the first record of a partition tells.
  complete.note(record(executions, 1, 18, 9_000))
  expect(complete.times).toEqual({ executions: 5_000, control: 0 })
  complete.note(record(names.control, 0, 2, 7_000))
  complete.note(record(names.jobs, 0, 2, 8_000))
  expect(complete.times).toEqual({ executions: 5_000, control: 7_000 })
})

it('completeness is the present time if retention has removed all records', () => {
  const complete = new CompleteFrom(names)
  complete.begins({ topic: executions, partition: 0 }, 0, 1_000)
  expect(complete.times.executions).toBe(0)
  complete.begins({ topic: executions, partition: 0 }, 12, 2_000)
  expect(complete.times.executions).toBe(2_000)
})
