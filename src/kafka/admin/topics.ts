/** Creates missing topics. Refuses existing topics whose settings could lose jobs or fire them twice. */
import kafkajs, { type Admin, type Kafka } from 'kafkajs'
import { counted } from '../../../streams/text/index.ts'
import type { TopicPlan } from '../../../streams/topics/index.ts'
import { DuelogError } from '../../errors/index.ts'
import { faultOn, type Logger } from '../brokers/index.ts'
import { withRetry } from '../errors/index.ts'

export interface TopicsWanted {
  plans: TopicPlan[]
  /** Used if `jobs` does not exist yet. */
  partitions: number
  /** No user has set that number, so a different number is not reported. Default false. */
  partitionsByDefault?: boolean
  /** Replicas of each partition. With 3 or more, new topics get min.insync.replicas=2. */
  replication: number
}

/** Time limit for the controller to create the topics. */
const createTimeoutMs = 10_000
/**
 * Shortest retention of topics that are not compacted and have no shorter planned retention: an outage of the readers must not
 * cost runs. -1 is unlimited.
 */
const retentionMsMin = 86_400_000

export async function ensureTopics(kafka: Kafka, wanted: TopicsWanted, logger: Logger) {
  const admin = kafka.admin()
  try {
    await admin.connect()
    const existing = new Set(await withRetry(() => admin.listTopics()))
    const present = wanted.plans.filter(({ topic }) => existing.has(topic))
    const counts = await partitionCounts(admin, present)
    const jobs = wanted.plans.find(({ schema }) => schema === 'job-definition')
    const partitions = (jobs && counts.get(jobs.topic)) ?? wanted.partitions
    if (partitions !== wanted.partitions && wanted.partitionsByDefault !== true)
      logger.warn(
        { event: 'partitions-ignored', partitions, configured: wanted.partitions },
        `${jobs?.topic} has ${counted(partitions, 'partition')}; the configured number is ignored.`,
      )
    // Check before creating: a refused start should not leave topics behind.
    checkCounts(counts, partitions)
    await checkSettings(admin, present)
    const missing = wanted.plans.filter(({ topic }) => !existing.has(topic))
    const lost = missing.filter(({ schema }) => core.has(schema)).map(({ topic }) => topic)
    if (lost.length > 0) await reportLost(admin, lost, present, logger)
    const created = await createTopics(admin, missing, partitions, wanted.replication)
    if (created.length < missing.length) {
      // Another process created some at the same time: its topics must fit as well.
      checkCounts(await partitionCounts(admin, missing), partitions)
      await checkSettings(admin, missing)
    }
    return { partitions, created }
  } catch (thrown) {
    throw faultOn(kafka, thrown, 'Checking the topics')
  } finally {
    await admin.disconnect().catch(() => {})
  }
}

/** Duelog does nothing without these topics. If other topics hold records, they must have existed. */
const core: ReadonlySet<string> = new Set(['job-definition', 'job-state', 'job-command', 'execution-event'])

/** If a lost topic were recreated silently, it would look like a topic of a new cluster. */
async function reportLost(admin: Admin, lost: string[], present: TopicPlan[], logger: Logger): Promise<void> {
  for (const { topic } of present) {
    const ends = await withRetry(() => admin.fetchTopicOffsets(topic))
    if (!ends.some(({ high }) => Number(high) > 0)) continue
    logger.error(
      { event: 'topics-lost', lost, present: topic },
      `${lost.join(', ')} had to be created again, although ${topic} holds records: ${lost.length === 1 ? 'it was' : 'they were'} deleted with all their records. See docs/adr/0034.`,
    )
    return
  }
}

export async function createTopics(admin: Admin, plans: TopicPlan[], partitions: number, replication: number): Promise<string[]> {
  if (plans.length === 0) return []
  await checkBrokers(admin, replication)
  // kafkajs does not ask again when a broker did not answer. Topics that it had created meanwhile count as another process's.
  const request = {
    timeout: createTimeoutMs,
    // kafkajs's own wait fails if the broker it asks has not received the topic's metadata yet.
    waitForLeaders: false,
    topics: plans.map(({ topic, config }) => ({
      topic,
      numPartitions: partitions,
      replicationFactor: replication,
      configEntries: Object.entries(settingsOfNew(config, replication)).map(([name, value]) => ({ name, value })),
    })),
  }
  const made = await withRetry(() => admin.createTopics(request))
  await untilLed(
    admin,
    plans.map(({ topic }) => topic),
  )
  return made ? plans.map(({ topic }) => topic) : []
}

/** The settings with which a topic is created. */
export const settingsOfNew = (config: Record<string, string>, replication: number): Record<string, string> =>
  replication >= 3 ? { 'min.insync.replicas': '2', ...config } : config

/** Throws if there are too few brokers. Kafka itself says only INVALID_REPLICATION_FACTOR. */
export async function checkBrokers(admin: Admin, replication: number): Promise<void> {
  const { brokers } = await withRetry(() => admin.describeCluster())
  if (brokers.length < replication)
    throw new DuelogError(
      'bad-config',
      `The cluster has ${brokers.length} ${brokers.length === 1 ? 'broker' : 'brokers'}, and each topic of Duelog is to have ${replication} copies. Set DUELOG_REPLICATION=${brokers.length}, or start more brokers.`,
    )
}

/** A topic is in the brokers' metadata before its leaders serve it. A request for its offsets shows whether they do. */
async function untilLed(admin: Admin, topics: string[]): Promise<void> {
  for (const topic of topics) await withRetry(() => admin.fetchTopicOffsets(topic))
}

export async function partitionCounts(admin: Admin, plans: TopicPlan[]): Promise<Map<string, number>> {
  if (plans.length === 0) return new Map()
  const { topics } = await withRetry(() => admin.fetchTopicMetadata({ topics: plans.map(({ topic }) => topic) }))
  return new Map(topics.map(({ name, partitions }) => [name, partitions.length]))
}

function checkCounts(counts: Map<string, number>, partitions: number): void {
  for (const [topic, count] of counts)
    if (count !== partitions)
      throw unsafe(topic, 'number of partitions', String(count), `${partitions}, as all topics of this prefix`)
}

async function checkSettings(admin: Admin, plans: TopicPlan[]): Promise<void> {
  const found = await settingsOf(admin, plans)
  for (const plan of plans) {
    const differences = differencesOf(plan, found.get(plan.topic) ?? new Map())
    const difference = differences.find(({ setting }) => !plan.advised?.includes(setting))
    if (difference !== undefined) throw unsafe(plan.topic, difference.setting, difference.found, difference.needed)
  }
}

export interface TopicSetting {
  value: string
  /** Whether it was set for this topic, as opposed to a broker default. */
  own: boolean
}

/** Topic-level settings of each of these topics. All of them must exist. */
export async function settingsOf(admin: Admin, plans: TopicPlan[]): Promise<Map<string, Map<string, TopicSetting>>> {
  if (plans.length === 0) return new Map()
  const resourcesWanted = plans.map(({ topic }) => ({ type: kafkajs.ConfigResourceTypes.TOPIC, name: topic }))
  // With several brokers, the one asked may not know yet about a topic that another process has just created.
  const { resources } = await withRetry(() => admin.describeConfigs({ includeSynonyms: false, resources: resourcesWanted }))
  return new Map(
    resources.map(({ resourceName, configEntries }) => [
      resourceName,
      new Map(
        configEntries.map(({ configName, configValue, configSource }) => [
          configName,
          { value: configValue, own: configSource === kafkajs.ConfigSource.TOPIC_CONFIG },
        ]),
      ),
    ]),
  )
}

export interface Difference {
  setting: string
  found: string
  /** The difference as text. */
  needed: string
  /** The settings of the plan. */
  planned: string
}

/**
 * Settings that could lose jobs, fire them twice or make brokers refuse records. All other settings are the operator's choice.
 */
export function differencesOf({ config }: TopicPlan, found: ReadonlyMap<string, TopicSetting>): Difference[] {
  const differences: Difference[] = []
  const must = (
    setting: string,
    fits: (value: string, planned: string) => boolean,
    needed: (planned: string) => string,
  ): void => {
    const value = found.get(setting)?.value
    const planned = config[setting]
    if (value === undefined || planned === undefined || fits(value, planned)) return
    differences.push({ setting, found: value, needed: needed(planned), planned })
  }
  for (const setting of ['cleanup.policy', 'message.timestamp.type']) {
    must(
      setting,
      (value, planned) => value === planned,
      (planned) => planned,
    )
  }
  for (const setting of ['delete.retention.ms', 'min.compaction.lag.ms', 'max.message.bytes']) {
    must(
      setting,
      (value, planned) => Number(value) >= Number(planned),
      (planned) => `at least ${planned}`,
    )
  }
  if (config['cleanup.policy'] === 'delete') {
    const least = (planned: string): number => Math.min(retentionMsMin, Number(planned))
    must(
      'retention.ms',
      (value, planned) => value === '-1' || Number(value) >= least(planned),
      (planned) => `at least ${least(planned)}, or -1`,
    )
  }
  return differences
}

function unsafe(topic: string, setting: string, found: string, needed: string): DuelogError {
  return new DuelogError(
    'unsafe-topic',
    `Topic ${topic} has ${setting} = ${found}; needed: ${needed}. Jobs could be lost or fire twice. ` +
      'Change the topic, or use another topic prefix (DUELOG_TOPIC_PREFIX).',
  )
}
