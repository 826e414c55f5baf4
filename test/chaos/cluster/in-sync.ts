/** Whether each copy of each partition is in sync: a broker that was away reads for long what it lacks, and the next fault would hit the rest. */
import { setTimeout as wait } from 'node:timers/promises'
import { Kafka, logLevel } from 'kafkajs'
import { stopIdleQueueTimers } from '../../../src/kafka/kafkajs/request-queue-timer.ts'
import type { Network } from '../network/network.ts'

const lookMs = 500

/** Resolves when all are; with how it stands, when that does not come within the limit. */
export async function untilInSync(network: Network, signal: AbortSignal, limitMs: number): Promise<string | undefined> {
  stopIdleQueueTimers()
  const until = Date.now() + limitMs
  const brokers = network.bootstrap('outside')
  const admin = new Kafka({ brokers, clientId: 'chaos', logLevel: logLevel.NOTHING, retry: { retries: 20 } }).admin()
  try {
    await admin.connect()
    for (;;) {
      signal.throwIfAborted()
      // Where no broker answers, kafkajs throws.
      const answer = await admin.fetchTopicMetadata().catch(() => undefined)
      const lacking = answer?.topics.flatMap(({ name, partitions }) => {
        const behind = partitions.filter(({ isr, replicas }) => isr.length < replicas.length)
        return behind.map(({ partitionId }) => `${name}/${partitionId}`)
      })
      if (lacking?.length === 0) return undefined
      if (Date.now() > until)
        return `${lacking?.length ?? 'some'} partitions are not in sync after ${limitMs / 1000} s: ${lacking?.[0]}`
      await wait(lookMs, undefined, { signal })
    }
  } finally {
    await admin.disconnect().catch(() => {})
  }
}
