import { pino } from 'pino'
import { expect, it } from 'vitest'
import { limitRecordLogs, RecordLogLimiter } from '../../src/ground/logging/logger.ts'

function logged() {
  const lines: Record<string, unknown>[] = []
  let nowMs = 0
  const options = limitRecordLogs(new RecordLogLimiter(() => nowMs))
  const logger = pino(options, { write: (line: string) => void lines.push(JSON.parse(line)) })
  const pass = (ms: number): void => {
    nowMs += ms
  }
  return { lines, logger, pass }
}

it('logs little of a flood of garbage, and later how much was left out', () => {
  const { lines, logger, pass } = logged()
  for (let offset = 0; offset < 1_000; offset++) logger.child({ partition: 1 }).warn({ topic: 'jobs', offset }, 'passed over')
  expect(lines).toHaveLength(20)
  expect(lines[19]).toMatchObject({ topic: 'jobs', offset: 19, partition: 1, msg: 'passed over' })
  pass(10_000)
  logger.warn({ topic: 'jobs', offset: 1_000 }, 'passed over')
  expect(lines[20]).toMatchObject({ offset: 1_000, linesLeftOut: 980 })
})

it('leaves out nothing of other topics, nor lines that are not about a record', () => {
  const { lines, logger } = logged()
  for (let offset = 0; offset < 100; offset++) logger.warn({ topic: 'jobs', offset }, 'passed over')
  lines.length = 0
  logger.warn({ topic: 'job-commands', offset: 1 }, 'passed over')
  for (let index = 0; index < 50; index++) logger.error({ topic: 'jobs', partition: index }, 'cannot be read')
  logger.warn('plain')
  logger.info({ topic: 'jobs', offset: 1 }, 'told')
  expect(lines).toHaveLength(53)
})

it('writes one line a minute of an event that repeats, with the number that was left out', () => {
  const { lines, logger, pass } = logged()
  for (let partition = 0; partition < 12; partition++) logger.error({ event: 'worker-session-lost', partition }, 'Lost.')
  logger.warn({ event: 'schema-not-given', topic: 'jobs', offset: 1 }, 'Not given.')
  logger.warn({ event: 'schema-awaited', partition: 1 }, 'Awaited.')
  logger.warn({ event: 'registry-unreachable' }, 'Unreachable.')
  logger.warn({ event: 'registry-unreachable' }, 'Unreachable.')
  expect(lines).toHaveLength(4)
  pass(60_000)
  logger.error({ event: 'worker-session-lost', partition: 3 }, 'Lost.')
  logger.warn({ event: 'registry-unreachable' }, 'Unreachable.')
  expect(lines.slice(4)).toMatchObject([
    { partition: 3, linesLeftOut: 11 },
    { linesLeftOut: 1, event: 'registry-unreachable' },
  ])
  logger.warn({ event: 'group-not-left' }, 'Not left; joined again.')
  logger.warn({ event: 'group-not-left' }, 'Not left; joined again.')
  expect(lines).toHaveLength(8)
})
