/**
 * accept: the client writes definitions with 200-byte payloads. They count when they are durable and applied by the owners. In
 * the same run bare kafkajs writes the same records (idempotent, batches of 1,000). The figure is the ratio of the two rates.
 */
import kafkajs from 'kafkajs'
import { createClient } from '../../src/clients/library/create-client.ts'
import { remoteQueries } from '../../src/server/peers/remote-queries.ts'
import { partitionOf } from '../../streams/topics/topics.ts'
import { writeBatches } from '../tools/batches.ts'
import { type Bed, jobs, Stage } from '../tools/bed.ts'

const payloadBytes = 200
const farMs = 7 * 86_400_000

export async function accept(bed: Bed, n = 100_000): Promise<Record<string, unknown>> {
  const stage = await Stage.open(bed)
  try {
    const at = Date.now() + farMs
    const bareMs = await bare(stage, n, at)
    const owner = await stage.start('scheduler', 'owner')
    const client = createClient({ brokers: bed.brokers, registryUrl: bed.registryUrl, topicPrefix: stage.prefix })
    // Warms up connections and compiled code, as for the bare writer.
    await client.scheduleMany(jobs(5_000, () => at, payloadBytes, 'warm'))
    await applied(stage, owner.url)
    const { cpuMs: startCpuMs } = await owner.report()
    const startedAt = performance.now()
    await client.scheduleMany(jobs(n, (index) => at + index, payloadBytes))
    const durableMs = performance.now() - startedAt
    await applied(stage, owner.url)
    const appliedMs = performance.now() - startedAt
    await client.close()
    const { rssPeakBytes, cpuMs } = await owner.report()
    return {
      n,
      barePerSecond: perSecond(n, bareMs),
      durablePerSecond: perSecond(n, durableMs),
      appliedPerSecond: perSecond(n, appliedMs),
      ratio: round(bareMs / appliedMs),
      ownerStartCpuMs: Math.round(startCpuMs),
      ownerCpuUsEach: round(((cpuMs - startCpuMs) * 1_000) / n),
      ownerRssPeakMb: Math.round(rssPeakBytes / 2 ** 20),
    }
  } finally {
    await stage.close()
  }
}

/** Bare kafkajs writes the same bytes, encoded beforehand, to a topic that nobody reads. */
async function bare(stage: Stage, n: number, at: number): Promise<number> {
  const kafka = new kafkajs.Kafka({ brokers: stage.bed.brokers, logLevel: kafkajs.logLevel.NOTHING })
  const topic = `${stage.prefix}bare`
  await stage.log.ensureTopics({
    plans: [{ topic, config: {}, schema: 'execution' }],
    partitions: 4,
    replication: stage.bed.replication,
  })
  const producer = kafka.producer({
    idempotent: true,
    createPartitioner:
      () =>
      ({ message }) =>
        message.partition as number,
  })
  await producer.connect()
  const messages: { key: string; value: Buffer; partition: number }[] = []
  for (const job of jobs(n, (index) => at + index, payloadBytes)) {
    const { id, schedule, target, payload, contentType } = job
    const value = stage.codecs.definition.encode({ schedule, target, payload: Buffer.from(payload), contentType })
    messages.push({ key: id, value, partition: partitionOf(id, 4) })
  }
  await producer.send({ topic, acks: -1, messages: messages.slice(0, 1_000) })
  const startedAt = performance.now()
  await writeBatches(messages, 8, (batch) => producer.send({ topic, acks: -1, messages: batch }))
  const tookMs = performance.now() - startedAt
  await producer.disconnect()
  return tookMs
}

/** Waits until the owners have applied all records of `jobs`. */
export async function applied(stage: Stage, ownerUrl: string): Promise<void> {
  const admin = await stage.log.admin()
  const ends = await admin.offsets(stage.names.jobs)
  await admin.close()
  const owner = remoteQueries(ownerUrl, { timeoutMs: 120_000 })
  await Promise.all(
    ends
      .filter(({ next }) => next > 0)
      .map(async ({ partition, next }) => {
        while (!(await owner.applied(partition, { jobs: next - 1 }, 5_000))) {
          // Each call waits for the owner up to its own limit.
        }
      }),
  )
}

export const perSecond = (count: number, tookMs: number): number => Math.round((count * 1_000) / tookMs)
export const round = (value: number): number => Math.round(value * 1_000) / 1_000
