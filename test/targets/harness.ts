/** A whole system on the real broker with topics that jobs may write to, and readers of them. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import kafkajs from 'kafkajs'
import { pino } from 'pino'
import { onTestFinished } from 'vitest'
import { createClient } from '../../src/clients/library/index.ts'
import { readConfig } from '../../src/ground/config/config.ts'
import type { RecordIn } from '../../src/ground/ports/log.ts'
import { startSystem } from '../../src/program/system/system.ts'
import type { Handlers } from '../../src/worker/executor/handlers/handler.ts'
import { type TopicPlan, topicNames } from '../../streams/topics/topics.ts'
import { brokers, openLog, openWriter, registryUrl, uniquePrefix, Watcher } from '../kafka/harness.ts'

/** `atEnd`: takes what ends with the place. By itself that is the test. */
export async function openPlace(atEnd: (end: () => Promise<void>) => void = onTestFinished) {
  const prefix = uniquePrefix()
  const outside = `x-${prefix}`
  const freshFolder = async (): Promise<string> => {
    const folder = await mkdtemp(join(tmpdir(), 'duelog-targets-'))
    atEnd(() => rm(folder, { recursive: true, force: true }))
    return folder
  }
  const folder = await freshFolder()
  const names = topicNames(prefix)
  const client = createClient({ brokers, registryUrl, topicPrefix: prefix })
  atEnd(() => client.close())

  /** The name of a topic outside the prefix. */
  const topicOf = (name: string): string => outside + name
  const make = async (name: string, partitions = 1, config: Record<string, string> = {}): Promise<string> => {
    const plan: TopicPlan = { topic: topicOf(name), schema: 'execution', config }
    await openLog().ensureTopics({ plans: [plan], partitions, replication: 1 })
    return plan.topic
  }

  const start = async (settings: Record<string, string> = {}, handlers: Handlers = {}) => {
    const config = readConfig({
      KAFKA_BROKERS: brokers.join(','),
      SCHEMA_REGISTRY_URL: registryUrl,
      DUELOG_TOPIC_PREFIX: prefix,
      DUELOG_HTTP_PORT: '0',
      DUELOG_DATA_DIR: folder,
      DUELOG_PARTITIONS: '2',
      DUELOG_REPLICATION: '1',
      DUELOG_TARGET_TOPICS: `${outside}*`,
      ...settings,
    })
    const system = await startSystem({ config, handlers, logger: pino({ level: process.env.LOG ?? 'silent' }) })
    atEnd(() => system.stop())
    await system.ready()
    return system
  }

  /** Reads the topic from its start, committed records only. */
  const watch = async (topic: string) => {
    const watcher = new Watcher({ topics: [topic], groupId: `${topic}.watch` })
    await watcher.reader.start()
    return watcher
  }

  const send = async (
    topic: string,
    ...records: { key: Buffer | string | null; value: Buffer | null; headers?: RecordIn['headers'] }[]
  ) => {
    const writer = await openWriter()
    for (const record of records) await writer.write([{ topic, partition: 0, ...record, headers: record.headers ?? {} }])
  }

  return { prefix, names, client, freshFolder, topicOf, make, start, watch, send }
}

export type Place = Awaited<ReturnType<typeof openPlace>>

export async function deleteTopic(topic: string): Promise<void> {
  const admin = new kafkajs.Kafka({ brokers, logLevel: 0 }).admin()
  await admin.connect()
  await admin.deleteTopics({ topics: [topic] })
  await admin.disconnect()
}

/** The job as the API shows it. */
export async function jobAt(
  url: string,
  id: string,
): Promise<{
  status: string
  reason: string | null
  lastRun: unknown
  active: { status: string; errors: { type: string; message: string }[] }[]
}> {
  const answer = await fetch(`${url}/v1/jobs/${encodeURIComponent(id)}`)
  return (await answer.json()) as Awaited<ReturnType<typeof jobAt>>
}
