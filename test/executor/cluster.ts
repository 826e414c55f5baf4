/** Separate topics on the real broker for each test, with codecs, and executors that are stopped after the test. */
import { randomUUID } from 'node:crypto'
import { onTestFinished } from 'vitest'
import type { ExecutionEvent, ExecutionInput } from '../../schemas/generated.ts'
import { systemClock } from '../../src/ground/clock/clock.ts'
import { newMetrics } from '../../src/ground/metrics/metrics.ts'
import type { RecordOut } from '../../src/ground/ports/log.ts'
import { createCodecs } from '../../src/log/kafka/avro/codecs.ts'
import { Executor, type ExecutorOptions } from '../../src/worker/executor/executor.ts'
import { partitionOf, priorities, topicNames, topicPlans } from '../../streams/topics/topics.ts'
import { openLog, registryUrl, uniquePrefix, Watcher } from '../kafka/harness.ts'
import { silent } from './harness.ts'

export const partitionCount = 4

export async function openCluster() {
  const prefix = uniquePrefix()
  const names = topicNames(prefix)
  const plans = topicPlans(names, ['default'])
  const log = openLog()
  await log.ensureTopics({ plans, partitions: partitionCount, replication: 1 })
  const codecs = await createCodecs({ registryUrl, plans })

  const record = (wanted: Partial<ExecutionInput> & { jobId: string }, ahead = false): RecordOut => {
    const dueAt = wanted.dueAt ?? Date.now()
    const execution: ExecutionInput = {
      runNo: 1,
      attempt: 1,
      life: '0-0',
      specOffset: 0,
      handler: 'noop',
      scheduledFor: dueAt,
      dueAt,
      dispatchedAt: Date.now(),
      pool: 'default',
      attemptTimeoutMs: 300_000,
      leaseMs: 30_000,
      startDeadlineAt: dueAt + 86_400_000,
      ...wanted,
    }
    return {
      topic: names.executions('default', execution.priority ?? 'NORMAL', ahead),
      partition: partitionOf(execution.jobId, partitionCount),
      key: execution.jobId,
      value: codecs.execution.encode(execution),
    }
  }

  /** Reads execution-events from the start and keeps all events. */
  const watchEvents = async () => {
    const events: (ExecutionEvent & { partition: number; timestampMs: number })[] = []
    const watcher = new Watcher(
      {
        topics: [names.events],
        groupId: `${prefix}watch-${randomUUID()}`,
        onBatch: ({ records }) => {
          for (const { partition, timestampMs, value } of records) {
            // A marker that a process writes to ask brokers for the time.
            if (value === null) continue
            events.push({ ...(codecs.event.decode(value) as ExecutionEvent), partition, timestampMs })
          }
        },
      },
      log,
    )
    await watcher.reader.start()
    return { events, until: (condition: () => boolean) => watcher.until(condition) }
  }

  const executor = (options: Partial<ExecutorOptions> = {}): Executor => {
    const made = new Executor({
      log: openLog(),
      codecs,
      names,
      pool: 'default',
      concurrency: 50,
      handlers: { noop: () => undefined },
      instance: `worker@test:1:${randomUUID().slice(0, 4)}`,
      clock: systemClock,
      metrics: newMetrics(),
      logger: silent,
      drainMs: 1_000,
      ...options,
    })
    onTestFinished(() => made.stop())
    return made
  }

  /** Commits the records in transactions, like an owner. */
  const dispatch = async (records: RecordOut[], transactionMax = 250): Promise<void> => {
    const writer = await log.transactionalWriter(`${prefix}owner-${randomUUID()}`)
    try {
      for (let at = 0; at < records.length; at += transactionMax) await writer.commit(records.slice(at, at + transactionMax))
    } finally {
      await writer.close()
    }
  }

  /** Partitions with records that the group has not committed, as kafka-consumer-groups.sh counts them. */
  const lags = async (
    group = names.group('exec.default'),
    topics = priorities.flatMap((priority) => [false, true].map((ahead) => names.executions('default', priority, ahead))),
  ): Promise<string[]> => {
    const admin = await log.admin()
    try {
      const found: string[] = []
      for (const topic of topics) {
        const committed = new Map((await admin.committed(group, topic)).map(({ partition, offset }) => [partition, offset]))
        for (const [partition, end] of (await admin.highWatermarks?.(topic)) ?? []) {
          const lag = end - (committed.get(partition) ?? 0)
          if (lag !== 0) found.push(`${topic}/${partition}: ${lag}`)
        }
      }
      return found
    } finally {
      await admin.close()
    }
  }

  return { prefix, names, log, codecs, record, watchEvents, executor, dispatch, lags }
}
