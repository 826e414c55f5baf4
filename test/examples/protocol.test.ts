/** docs/PROTOCOL.md names fields, limits and topics that others rely on: they are those of the program. */
import { expect, test } from 'vitest'
import {
  executionEventSchema,
  executionSchema,
  jobDefinitionSchema,
  runLogSchema,
  workerControlSchema,
} from '../../schemas/generated.ts'
import { takenText } from '../../src/ground/records/worker-data.ts'
import { errorMessageMax, errorStackMax } from '../../src/worker/executor/handlers/handler.ts'
import { bytesPerAttemptMax, linesPerAttemptMax, linesPerSecondMax } from '../../src/worker/executor/report/attempt-log.ts'
import { resultBytesMax } from '../../src/worker/executor/report/outcome.ts'
import { fieldsBytesMax, textBytesMax } from '../../src/worker/executor/report/run-log-line.ts'
import { attemptTimeoutGraceMs } from '../../streams/state/timers.ts'
import { priorities, topicNames } from '../../streams/topics/topics.ts'
import { readHouseFile } from '../house/tree.ts'

const { text } = readHouseFile('docs/PROTOCOL.md')
const count = (value: number): string => value.toLocaleString('en-US')

/** Every name of a field in a schema, of records inside records too. */
function fieldsOf(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  if (Array.isArray(schema)) return schema.flatMap(fieldsOf)
  const { fields = [], type, items } = schema as { fields?: { name: string; type: unknown }[]; type?: unknown; items?: unknown }
  return [...fields.flatMap((field) => [field.name, ...fieldsOf(field.type)]), ...fieldsOf(type), ...fieldsOf(items)]
}

const told = takenText({ reach: 1_042, waiting: 3, sharing: 0 }, Date.UTC(2026, 0, 1))

test('the metadata of a commit is what a worker writes', () => {
  expect(text).toContain(`\`${told}\``)
})

test('every named field is in one of the records', () => {
  const records = [executionSchema, executionEventSchema, workerControlSchema, jobDefinitionSchema, runLogSchema]
  const known = new Set(records.flatMap(fieldsOf))
  // Words of other things: assignors, isolation, places in `name@host:pid:boot`, topics, settings of Kafka, user data, metadata of commits.
  const others = new Set([
    'range',
    'earliest',
    'executor',
    'boot',
    'python',
    'name',
    'false',
    'true',
    'null',
    'handlers',
    'pauses',
    'restarts',
    ...Object.keys(JSON.parse(told)),
  ])
  const named = Array.from(text.matchAll(/`([a-z][A-Za-z]*)`/g), ([, name = '']) => name)
  expect(named.length).toBeGreaterThan(30)
  expect(named.filter((name) => !known.has(name) && !others.has(name))).toEqual([])
})

test('the limits of lines are those of run.log', () => {
  expect(bytesPerAttemptMax).toBe(1_048_576)
  expect(text).toContain(`${linesPerSecondMax} a second, ${count(linesPerAttemptMax)} and 1 MiB for an attempt`)
  expect([textBytesMax, fieldsBytesMax]).toEqual([4_096, 4_096])
  expect(text).toContain('`text` and `fields` of 4,096 bytes each')
})

test('every kind of report of a worker is explained', () => {
  const kinds = ['STARTED', 'HEARTBEAT', 'SUCCEEDED', 'FAILED', 'RELEASED']
  const [{ type }] = executionEventSchema.fields
  // RETRY_DUE is the forwarder's.
  expect([...type.symbols].filter((symbol) => symbol !== 'RETRY_DUE').toSorted()).toEqual(kinds.toSorted())
  for (const kind of kinds) expect(text).toContain(`\`${kind}\``)
})

test('the limits are those of the program, and the Python example keeps them', () => {
  expect(text).toContain(`at most ${count(resultBytesMax)} bytes`)
  expect(text).toContain(`at most ${count(errorMessageMax)} and ${count(errorStackMax)} characters`)
  expect(text).toContain(`the owner ends it ${attemptTimeoutGraceMs / 1_000} s later`)
  const python = readHouseFile('examples/python-worker/attempt.py').text.replaceAll('_', '')
  for (const limit of [resultBytesMax, errorMessageMax, errorStackMax]) expect(python).toContain(String(limit))
})

test('the topics and groups are those of the program', () => {
  const names = topicNames('<prefix>')
  for (const topic of [
    names.executions('<pool>', priorities[0] ?? 'HIGH'),
    names.events,
    names.control,
    names.group('exec.<pool>'),
  ])
    expect(text).toContain(topic)
})
