/**
 * The topics: their names, their settings, and the partition of a key; and the priorities, which have topics of their own.
 * All code that creates, checks or addresses a topic uses this file.
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
/** How long the tombstones of compacted topics are kept. A store that is older may have missed a deletion. */
export const tombstoneRetentionMs = 7 * dayMs
/** How long executions wait for a worker. A run that has not started by then expires (streams/runs/dispatch.ts). */
export const executionsRetentionMs = 7 * dayMs
/** Workers read worker-control as it is written. A worker that starts also reads the cancellations in it. */
export const controlRetentionMs = 3_600_000
/** Longest batch of each topic: Kafka's default, which brokers may have lowered. Records and batches of Duelog have up to 1,000,000 bytes. */
const batchSize = { 'max.message.bytes': '1048588' }

/** The topic names with a prefix. */
export function topicNames(prefix: string) {
  return {
    jobs: `${prefix}jobs`,
    commands: `${prefix}job-commands`,
    state: `${prefix}job-state`,
    events: `${prefix}execution-events`,
    deadLetters: `${prefix}executions.dlq`,
    /** Messages of owners to all workers: cancellations, and executions that are pinned to one worker. */
    control: `${prefix}worker-control`,
    /** Audit trail: which caller made which change through the API. */
    audit: `${prefix}audit`,
    /** One record for each run that has ended. */
    runs: `${prefix}runs`,
    /** Lines that handlers wrote with run.log. */
    runLogs: `${prefix}run-logs`,
    /** Changes of many jobs or dead runs, each as one operation, and their progress. */
    operations: `${prefix}operations`,
    /** Which pools and workers are paused or drained. */
    pauses: `${prefix}pauses`,
    retry: (tier: string): string => `${prefix}retry.${tier}`,
    /** Consumer group of a role, such as `exec.<pool>`, `retry`, or `control.<pool>.<instance>` of one worker alone. */
    group: (role: string): string => `${prefix}${role}`,
    /** `ahead` is the topic of runs dispatched earlier than the usual lead, so that a burst is not in front of a run that is due now. */
    executions: (pool: string, priority: Priority, ahead = false): string =>
      `${prefix}executions.${pool}.${priority.toLowerCase()}${ahead ? '.ahead' : ''}`,
  }
}
export type TopicNames = ReturnType<typeof topicNames>

/** The topics from which the workers of a pool read its runs. */
export const topicsOfPool = ({ executions }: Pick<TopicNames, 'executions'>, pool: string): string[] =>
  priorities.flatMap((priority) => [executions(pool, priority), executions(pool, priority, true)])

export interface TopicPlan {
  topic: string
  config: Record<string, string>
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
    | 'ended-run'
    | 'run-log'
    | 'operation'
    | 'pause'
}

/** Retentions that are settings, in ms. 0: nobody writes to the topic, and it is created with the default. */
export interface Retentions {
  /** DUELOG_RUNS_RETENTION_MS. Default: its default. */
  runsRetentionMs?: number
  /** DUELOG_RUN_LOGS_RETENTION_MS. Default: its default. */
  runLogsRetentionMs?: number
}
const runsRetentionMsDefault = 90 * dayMs
const runLogsRetentionMsDefault = 7 * dayMs

/** Every topic that a cluster needs for these pools. All have the same number of partitions. */
export function topicPlans(names: TopicNames, pools: readonly string[], retentions: Retentions = {}): TopicPlan[] {
  const deleteAfter = (retentionMs: number): Record<string, string> => ({
    'cleanup.policy': 'delete',
    'retention.ms': String(retentionMs),
  })
  /** The writer learns the broker's time from the answer (clock/clock-trust.ts); the reader sees when the record was appended. */
  const brokersTime = { 'message.timestamp.type': 'LogAppendTime' }
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
    },
    { topic: names.commands, schema: 'job-command', config: { ...deleteAfter(7 * dayMs), ...brokersTime } },
    { topic: names.events, schema: 'execution-event', config: { ...deleteAfter(7 * dayMs), ...brokersTime } },
    { topic: names.deadLetters, schema: 'dead-letter', config: deleteAfter(30 * dayMs) },
    { topic: names.control, schema: 'worker-control', config: deleteAfter(controlRetentionMs) },
    { topic: names.audit, schema: 'audit-event', config: deleteAfter(90 * dayMs) },
    {
      topic: names.runs,
      schema: 'ended-run',
      config: deleteAfter(retentions.runsRetentionMs || runsRetentionMsDefault),
    },
    // The API finds the lines of a run by the broker's time.
    {
      topic: names.runLogs,
      schema: 'run-log',
      config: { ...deleteAfter(retentions.runLogsRetentionMs || runLogsRetentionMsDefault), ...brokersTime },
    },
    { topic: names.operations, schema: 'operation', config: compact },
    { topic: names.pauses, schema: 'pause', config: compact },
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
          }),
        ),
      ),
    ),
  ]
  return plans.map((plan) => ({ ...plan, config: { ...plan.config, ...batchSize } }))
}

/**
 * Partition of a job id in every topic of Duelog. If the id has a tag, it is the partition of the tag, so that jobs with the same tag have
 * the same owner. Else it is that of Kafka's default partitioner. An owner moves records that a client without tags wrote elsewhere.
 */
export function partitionOf(jobId: string | Buffer, partitions: number): number {
  return keyPartitionOf(tagOf(typeof jobId === 'string' ? Buffer.from(jobId) : jobId), partitions)
}

/** Whether a job id has a tag, so that it shares its partition with all ids of the same tag. */
export function hasTag(jobId: string): boolean {
  const id = Buffer.from(jobId)
  return tagOf(id).length < id.length
}

/** Partition of any other key, such as one in a target topic: that of Kafka's default partitioner, so that any client with murmur2 agrees. */
export function keyPartitionOf(key: string | Buffer, partitions: number): number {
  return (murmur2(typeof key === 'string' ? Buffer.from(key) : key) & 0x7fffffff) % partitions
}

const [opening, closing] = [0x7b, 0x7d]

/** The text between the first `{` and the next `}` if it is not empty, else the whole id. No byte of a longer UTF-8 character equals one of the two. */
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

/**
 * Whether a job or a receipt may write to a topic of the user. `patterns`: allowed names, in which `*` matches any characters.
 * Topics with Duelog's own prefix are never allowed.
 */
export function topicAllowance(patterns: readonly string[], prefix: string): (topic: string) => boolean {
  const parts = patterns.map((pattern) => pattern.split('*'))
  return (topic) => !topic.startsWith(prefix) && parts.some((pattern) => isMatch(pattern, topic))
}

/** `parts`: what stands between the stars. The first place of each is as good as any later one, so no star is tried twice. */
function isMatch([start = '', ...parts]: readonly string[], text: string): boolean {
  const end = parts.pop()
  if (end === undefined) return text === start
  if (!text.startsWith(start)) return false
  let from = start.length
  for (const part of parts) {
    const found = text.indexOf(part, from)
    if (found < 0) return false
    from = found + part.length
  }
  return text.length - end.length >= from && text.endsWith(end)
}

/**
 * Priorities: words and numbers, the order in which runs go, and the topics they are dispatched in.
 *
 *   number   9   8     7 │ 6   5   4       3 │ 2   1    0
 *   word         HIGH    │         NORMAL    │     LOW
 *   topic    high          normal              low
 */
export const priorityMax = 9

/** The number of each word. */
export const priorityNumbers: Readonly<Record<Priority, number>> = { HIGH: 8, NORMAL: 4, LOW: 1 }

/** Records of other writers may have the word alone. */
export interface HasPriority {
  priority: Priority
  priorityLevel: number | null
}

export const priorityOf = ({ priority, priorityLevel }: HasPriority): number =>
  priorityLevel === null ? priorityNumbers[priority] : Math.min(Math.max(priorityLevel, 0), priorityMax)

/** What people may write. */
export const priorityAllowed = `HIGH, NORMAL, LOW, or a whole number from 0 to ${priorityMax}`

export const isPriorityNumber = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= priorityMax

/** A word or a number of a command line; upper and lower case are the same. Undefined: it is none. */
export function priorityIn(text: string): Priority | number | undefined {
  const word = text.trim().toUpperCase()
  if (Object.hasOwn(priorityNumbers, word)) return word as Priority
  return /^\d$/.test(word) && isPriorityNumber(Number(word)) ? Number(word) : undefined
}

/** The word whose topic a number is dispatched in. */
export const wordOf = (priority: number): Priority => (priority >= 7 ? 'HIGH' : priority >= 3 ? 'NORMAL' : 'LOW')

/** As people wrote it. */
export const shownPriority = ({ priority, priorityLevel }: HasPriority): Priority | number => priorityLevel ?? priority

/** Attempts that the order tells apart. */
const attemptsApart = 16

/** Ranks from 0 to this one. */
export const rankMax = (priorityMax + 1) * attemptsApart - 1

/** Place in the order of waiting runs: the lower goes first. By priority, then by attempts. */
export const rankOf = (priority: number, attempt: number): number =>
  (priorityMax - priority) * attemptsApart + Math.min(Math.max(attempt, 1), attemptsApart) - 1

/** One of so many runs that go is not of the best rank: it is the one of the others that has been due longest. So none waits for ever. */
export const agedEvery = 16
