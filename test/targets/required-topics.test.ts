/** The topics of foreign schedules at the start of the role intake: created on an embedded broker, required elsewhere. */
import { pino } from 'pino'
import { expect, it } from 'vitest'
import { readConfig } from '../../src/ground/config/config.ts'
import { newMetrics } from '../../src/ground/metrics/metrics.ts'
import type { ProcessContext } from '../../src/program/system/process-context.ts'
import { startIntake } from '../../src/program/system/readers.ts'
import { topicNames } from '../../streams/topics/topics.ts'

/** Reads nothing. `there`: the topics that the broker has. */
function partsOf(env: Record<string, string>, there: readonly string[]) {
  const made: unknown[][] = []
  const readers: unknown[] = []
  const log = {
    topics: async () => there,
    makeMissing: async (...asked: unknown[]) => {
      made.push(asked)
      return asked[0]
    },
    writer: async () => {
      readers.push('opened')
      throw new Error('as far as this goes')
    },
    reader: () => {
      readers.push('opened')
      throw new Error('as far as this goes')
    },
  }
  const config = readConfig({
    DUELOG_ROLES: 'intake',
    DUELOG_INTAKE_ETF1_TOPICS: 'one-foreign',
    DUELOG_INTAKE_KARAFKA_TOPICS: 'other-foreign',
    ...env,
  })
  const [names, metrics, logger] = [topicNames('t.'), newMetrics(), pino({ level: 'silent' })]
  const targets = { allows: () => true }
  const parts = { ...{ config, log, names, metrics, logger, targets }, codecs: {}, partitions: 3, instance: 'i', undo: [] }
  return { parts: parts as unknown as ProcessContext, made, readers }
}

it('with the embedded broker missing topics are created, with the partition count of Duelog', async () => {
  const { parts, made } = partsOf({ DUELOG_REPLICATION: '1' }, [])
  await startIntake(parts).catch(() => {})
  expect(made).toEqual([[['one-foreign', 'other-foreign'], { partitions: 3, replication: 1 }]])
})

it('with other brokers the start names missing topics, and how to create them', async () => {
  const { parts, made, readers } = partsOf({ KAFKA_BROKERS: 'b:9092', SCHEMA_REGISTRY_URL: 'http://r' }, ['one-foreign'])
  const error = await startIntake(parts).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({
    code: 'unsafe-topic',
    message: expect.stringMatching(/must read other-foreign, .*topics apply/),
  })
  expect((error as Error).message).not.toContain('one-foreign')
  expect([made, readers]).toEqual([[], []])
})
