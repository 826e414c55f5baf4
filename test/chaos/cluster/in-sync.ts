/**
 * Tells whether each replica of each partition is in sync. A broker that was away needs long to catch up, and the next fault
 * would hit the other brokers.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { Kafka, logLevel } from 'kafkajs'
import { changeRequestQueues } from '../../../src/log/kafka/client/connection.ts'
import type { Network } from '../network/network.ts'

const lookMs = 500

/** Resolves when all replicas are in sync. After the limit it resolves with a sentence about the state. */
export async function untilInSync(network: Network, signal: AbortSignal, limitMs: number): Promise<string | undefined> {
  changeRequestQueues()
  const until = Date.now() + limitMs
  const brokers = network.bootstrap('outside')
  const admin = new Kafka({ brokers, clientId: 'chaos', logLevel: logLevel.NOTHING, retry: { retries: 20 } }).admin()
  try {
    await admin.connect()
    for (;;) {
      signal.throwIfAborted()
      // kafkajs throws if no broker answers.
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
