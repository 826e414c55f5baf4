/**
 * The topics: their names, how they are kept, and which partition a key belongs to.
 * Everything that creates, checks or addresses a topic reads it here.
 */
import type { Priority } from '../../schemas/index.ts'

/** Delay tiers of the retry topics, in ascending order. */
export const retryTiers = [
  { name: '1s', delayMs: 1_000 },
  { name: '5s', delayMs: 5_000 },
  { name: '30s', delayMs: 30_000 },
  { name: '2m', delayMs: 120_000 },
  { name: '10m', delayMs: 600_000 },
  { name: '1h', delayMs: 3_600_000 },
] as const

export const priorities: readonly Priority[] = ['HIGH', 'NORMAL', 'LOW']

const dayMs = 86_400_000
/** How long the tombstones of compacted topics are kept: a copy that is older may have missed a deletion. */
export const tombstoneRetentionMs = 7 * dayMs
/** How long executions wait for a worker. What has not started by then expires (streams/runs/dispatch.ts). */
export const executionsRetentionMs = 7 * dayMs
/** Workers read it as it is written; a worker that starts reads the cancellations in it as well. */
const controlRetentionMs = 3_600_000
/** What each topic takes in one batch, which brokers may have lowered: Kafka's own default. Records and batches of ours have up to 1,000,000 bytes. */
const batchSize = { 'max.message.bytes': '1048588' }

/** What topic names a prefix stands for. */
export function topicNames(prefix: string) {
  return {
    jobs: `${prefix}jobs`,
    commands: `${prefix}job-commands`,
    state: `${prefix}job-state`,
    events: `${prefix}execution-events`,
    deadLetters: `${prefix}executions.dlq`,
    /** What owners tell all workers: cancellations, and executions that are pinned to one of them. */
    control: `${prefix}worker-control`,
    /** Who asked the API for which change. */
    audit: `${prefix}audit`,
    retry: (tier: string): string => `${prefix}retry.${tier}`,
    /** Consumer group of a role, such as `exec.<pool>`, `retry`, or `control.<pool>.<instance>` of one worker alone. */
    group: (role: string): string => `${prefix}${role}`,
    /** `ahead` is the lane of runs dispatched earlier than the usual lead, so that a herd does not stand before a run that is due now. */
    executions: (pool: string, priority: Priority, ahead = false): string =>
      `${prefix}executions.${pool}.${priority.toLowerCase()}${ahead ? '.ahead' : ''}`,
  }
}
export type TopicNames = ReturnType<typeof topicNames>

export interface TopicPlan {
  topic: string
  config: Record<string, string>
  /** Settings of `config` that a topic of an earlier version may lack: `topics apply` sets them, and nothing refuses to start without. */
  advised?: readonly string[]
  /** Subject of the values and the schema they are written with. */
  schema:
    | 'job-definition'
    | 'job-command'
    | 'job-state'
    | 'execution'
    | 'execution-event'
    | 'dead-letter'
    | 'worker-control'
    | 'audit-event'
}

/** Every topic that a cluster needs for these pools. All have the same number of partitions. */
export function topicPlans(names: TopicNames, pools: readonly string[]): TopicPlan[] {
  const deleteAfter = (retentionMs: number): Record<string, string> => ({
    'cleanup.policy': 'delete',
    'retention.ms': String(retentionMs),
  })
  /** Who writes learns the broker's time from the answer (clock/clock-trust.ts), who reads sees when it was there. */
  const brokersTime = { 'message.timestamp.type': 'LogAppendTime' }
  const advised = ['message.timestamp.type']
  const compact = { 'cleanup.policy': 'compact', 'delete.retention.ms': String(tombstoneRetentionMs) }
  const plans: TopicPlan[] = [
    {
      topic: names.jobs,
      schema: 'job-definition',
      config: { ...compact, 'min.compaction.lag.ms': String(dayMs), ...brokersTime },
    },
    {
      topic: names.state,
      schema: 'job-state',
      config: { ...compact, 'segment.bytes': String(64 * 1024 * 1024), ...brokersTime },
      advised,
    },
    { topic: names.commands, schema: 'job-command', config: { ...deleteAfter(7 * dayMs), ...brokersTime }, advised },
    { topic: names.events, schema: 'execution-event', config: { ...deleteAfter(7 * dayMs), ...brokersTime }, advised },
    { topic: names.deadLetters, schema: 'dead-letter', config: deleteAfter(30 * dayMs) },
    { topic: names.control, schema: 'worker-control', config: deleteAfter(controlRetentionMs) },
    { topic: names.audit, schema: 'audit-event', config: deleteAfter(90 * dayMs) },
    ...retryTiers.map(
      (tier): TopicPlan => ({
        topic: names.retry(tier.name),
        schema: 'execution',
        config: { ...deleteAfter(7 * dayMs), ...brokersTime },
      }),
    ),
    ...pools.flatMap((pool) =>
      priorities.flatMap((priority) =>
        [false, true].map(
          (ahead): TopicPlan => ({
            topic: names.executions(pool, priority, ahead),
            schema: 'execution',
            config: { ...deleteAfter(executionsRetentionMs), ...brokersTime },
            advised,
          }),
        ),
      ),
    ),
  ]
  return plans.map((plan) => ({
    ...plan,
    config: { ...plan.config, ...batchSize },
    advised: [...(plan.advised ?? []), ...Object.keys(batchSize)],
  }))
}

/**
 * Partition of a job id, in every topic of ours: that of its tag if it has one, so that jobs which share a tag have one owner. Without a
 * tag it is that of Kafka's own default partitioner; records of a client that knows no tags are moved by the owner that reads them.
 */
export function partitionOf(jobId: string | Buffer, partitions: number): number {
  return keyPartitionOf(tagOf(typeof jobId === 'string' ? Buffer.from(jobId) : jobId), partitions)
}

/** Partition of any other key, such as one in a topic of the user's: that of Kafka's own default partitioner, so that any client with murmur2 agrees. */
export function keyPartitionOf(key: string | Buffer, partitions: number): number {
  return (murmur2(typeof key === 'string' ? Buffer.from(key) : key) & 0x7fffffff) % partitions
}

const [opening, closing] = [0x7b, 0x7d]

/** What stands between the first `{` and the next `}`, if that is anything; else the whole id. No byte of a longer character is one of the two. */
function tagOf(id: Buffer): Buffer {
  const from = id.indexOf(opening) + 1
  if (from === 0) return id
  const to = id.indexOf(closing, from)
  return to > from ? id.subarray(from, to) : id
}

/** 32-bit MurmurHash2 (Austin Appleby, 2008) with the seed of Kafka's Java client; tested against kafkajs. */
function murmur2(data: Buffer): number {
  const mix = 0x5bd1e995
  const length = data.length
  let hash = 0x9747b28c ^ length
  let at = 0
  for (; at + 4 <= length; at += 4) {
    let word = Math.imul(data.readInt32LE(at), mix)
    word = Math.imul(word ^ (word >>> 24), mix)
    hash = Math.imul(hash, mix) ^ word
  }
  const rest = length - at
  if (rest > 0) {
    for (let index = rest - 1; index >= 0; index--) hash ^= (data[at + index] ?? 0) << (8 * index)
    hash = Math.imul(hash, mix)
  }
  hash = Math.imul(hash ^ (hash >>> 13), mix)
  return hash ^ (hash >>> 15)
}
