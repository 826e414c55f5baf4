/**
 * Creates missing topics, and refuses existing ones whose settings could lose jobs or fire them twice. Plans and applies the changes that
 * bring topics to their planned state. Nothing is deleted or lowered.
 */
import { counted } from '../../../../streams/text/index.ts'
import type { TopicPlan } from '../../../../streams/topics/index.ts'
import { DuelogError } from '../../../ground/errors/index.ts'
import { type BrokerAdmin, type KafkaClient, type Logger, type TopicSetting, withRetry } from '../client/index.ts'

export interface TopicsWanted {
  plans: TopicPlan[]
  /** Used if `jobs` does not exist yet. */
  partitions: number
  /** No user has set that number, so a different number is not reported. Default false. */
  partitionsByDefault?: boolean
  /** Replicas of each partition. With 3 or more, new topics get min.insync.replicas=2. */
  replication: number
}

/**
 * Shortest retention of topics that are not compacted and have no shorter planned retention: an outage of the readers must not
 * cost runs. -1 is unlimited.
 */
const retentionMsMin = 86_400_000

export function ensureTopics(client: KafkaClient, wanted: TopicsWanted, logger: Logger) {
  return client.withAdmin('Checking the topics', async (admin) => {
    const { present, counts, jobs, partitions } = await foundOf(admin, wanted)
    if (partitions !== wanted.partitions && wanted.partitionsByDefault !== true)
      logger.warn(
        { event: 'partitions-ignored', partitions, configured: wanted.partitions },
        `${jobs?.topic} has ${counted(partitions, 'partition')}; the configured number is ignored.`,
      )
    // Check before creating: a refused start should not leave topics behind.
    checkCounts(counts, partitions)
    await checkSettings(admin, present)
    const missing = wanted.plans.filter(({ topic }) => !counts.has(topic))
    const lost = missing.filter(({ schema }) => core.has(schema)).map(({ topic }) => topic)
    if (lost.length > 0) await reportLost(admin, lost, present, logger)
    const created = await createTopics(admin, missing, partitions, wanted.replication)
    if (created.length < missing.length) {
      // Another process created some at the same time: its topics must fit as well.
      checkCounts(await partitionCounts(admin, missing), partitions)
      await checkSettings(admin, missing)
    }
    return { partitions, created }
  })
}

/** The planned topics that exist, and the number of partitions for the others: that of `jobs`. */
async function foundOf(admin: BrokerAdmin, wanted: TopicsWanted) {
  const existing = new Set(await admin.topics())
  const present = wanted.plans.filter(({ topic }) => existing.has(topic))
  const counts = await partitionCounts(admin, present)
  const jobs = wanted.plans.find(({ schema }) => schema === 'job-definition')
  return { present, counts, jobs, partitions: (jobs && counts.get(jobs.topic)) ?? wanted.partitions }
}

/** Duelog does nothing without these topics. If other topics hold records, they must have existed. */
const core: ReadonlySet<string> = new Set(['job-definition', 'job-state', 'job-command', 'execution-event'])

/** If a lost topic were recreated silently, it would look like a topic of a new cluster. */
async function reportLost(admin: BrokerAdmin, lost: string[], present: TopicPlan[], logger: Logger): Promise<void> {
  for (const { topic } of present) {
    const ends = await admin.offsets(topic)
    if (!ends.some(({ next }) => next > 0)) continue
    logger.error(
      { event: 'topics-lost', lost, present: topic },
      `${lost.join(', ')} had to be created again, although ${topic} holds records: ${lost.length === 1 ? 'it was' : 'they were'} deleted with all their records. See docs/adr/0034.`,
    )
    return
  }
}

async function createTopics(admin: BrokerAdmin, plans: TopicPlan[], partitions: number, replication: number): Promise<string[]> {
  if (plans.length === 0) return []
  await checkBrokers(admin, replication)
  const made = await admin.createTopics(
    plans.map(({ topic, config }) => ({ topic, partitions, replication, settings: settingsOfNew(config, replication) })),
  )
  // A topic is in the brokers' metadata before its leaders serve it. A request for its offsets shows whether they do.
  for (const { topic } of plans) await withRetry(() => admin.offsets(topic))
  return made ? plans.map(({ topic }) => topic) : []
}

/** The settings with which a topic is created. */
const settingsOfNew = (config: Record<string, string>, replication: number): Record<string, string> =>
  replication >= 3 ? { 'min.insync.replicas': '2', ...config } : config

/** Throws if there are too few brokers. Kafka itself says only INVALID_REPLICATION_FACTOR. */
async function checkBrokers(admin: BrokerAdmin, replication: number): Promise<void> {
  const brokers = await withRetry(() => admin.brokers())
  if (brokers.length < replication)
    throw new DuelogError(
      'bad-config',
      `The cluster has ${brokers.length} ${brokers.length === 1 ? 'broker' : 'brokers'}, and each topic of Duelog is to have ${replication} copies. Set DUELOG_REPLICATION=${brokers.length}, or start more brokers.`,
    )
}

async function partitionCounts(admin: BrokerAdmin, plans: TopicPlan[]): Promise<Map<string, number>> {
  const found = await withRetry(() => admin.partitionsOf(plans.map(({ topic }) => topic)))
  return new Map([...found].map(([topic, partitions]) => [topic, partitions.length]))
}

function checkCounts(counts: Map<string, number>, partitions: number): void {
  for (const [topic, count] of counts)
    if (count !== partitions)
      throw unsafe(topic, 'number of partitions', String(count), `${partitions}, as all topics of this prefix`)
}

async function checkSettings(admin: BrokerAdmin, plans: TopicPlan[]): Promise<void> {
  const found = await settingsOf(admin, plans)
  for (const plan of plans) {
    const [difference] = differencesOf(plan, found.get(plan.topic) ?? new Map())
    if (difference !== undefined) throw unsafe(plan.topic, difference.setting, difference.found, difference.needed)
  }
}

/** Topic-level settings of each of these topics. All of them must exist. */
const settingsOf = (admin: BrokerAdmin, plans: TopicPlan[]): Promise<Map<string, Map<string, TopicSetting>>> =>
  // With several brokers, the one asked may not know yet about a topic that another process has just created.
  withRetry(() => admin.settingsOf(plans.map(({ topic }) => topic)))

interface Difference {
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
function differencesOf({ config }: TopicPlan, found: ReadonlyMap<string, TopicSetting>): Difference[] {
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

export interface TopicChange {
  topic: string
  /** `refuse`: only a new topic can fit the plan; `reason` says why. */
  action: 'create' | 'change' | 'keep' | 'refuse'
  partitions: number
  /** Replicas of each partition, only with `create`. The replicas of existing topics are the operator's responsibility. */
  replicas?: number
  /** With `create` all settings of the topic, with `change` only the changed ones. */
  settings: { setting: string; found: string | undefined; planned: string }[]
  reason: string | undefined
}

/** One change for each planned topic, in the order of the plans. Nothing is written. */
export function planTopics(client: KafkaClient, wanted: TopicsWanted): Promise<TopicChange[]> {
  return client.withAdmin('Looking up the topics', (admin) => changesOf(admin, wanted))
}

/** Applies the changes and skips the refused ones. Resolves with the state found before. */
export function changeTopics(client: KafkaClient, wanted: TopicsWanted): Promise<TopicChange[]> {
  return client.withAdmin('Changing the topics', async (admin) => {
    const changes = await changesOf(admin, wanted)
    const plansOf = (action: TopicChange['action']): TopicPlan[] => {
      const topics = new Set(changes.filter((change) => change.action === action).map(({ topic }) => topic))
      return wanted.plans.filter(({ topic }) => topics.has(topic))
    }
    const partitions = changes.find(({ action }) => action === 'create')?.partitions ?? wanted.partitions
    await createTopics(admin, plansOf('create'), partitions, wanted.replication)
    await alter(admin, plansOf('change'))
    return changes
  })
}

/** Creates topics of others. The only thing planned for them is that they exist. */
export async function makeTopics(
  client: KafkaClient,
  topics: readonly string[],
  { partitions, replication }: { partitions: number; replication: number },
): Promise<void> {
  const plans = topics.map((topic) => ({ topic, config: {}, schema: 'job-definition' }) as const)
  if (plans.length > 0)
    await client.withAdmin(`Creating ${topics.join(', ')}`, (admin) => createTopics(admin, plans, partitions, replication))
}

export function listTopics(client: KafkaClient): Promise<string[]> {
  return client.withAdmin('Listing the topics', (admin) => admin.topics())
}

async function changesOf(admin: BrokerAdmin, wanted: TopicsWanted): Promise<TopicChange[]> {
  const { present, counts, jobs, partitions } = await foundOf(admin, wanted)
  const found = await settingsOf(admin, present)
  // A plan must be possible to apply.
  if (counts.size < wanted.plans.length) await checkBrokers(admin, wanted.replication)
  return wanted.plans.map((plan): TopicChange => {
    const { topic, config } = plan
    const count = counts.get(topic)
    if (count === undefined) {
      const settings = Object.entries(settingsOfNew(config, wanted.replication)).map(([setting, planned]) => ({
        setting,
        found: undefined,
        planned,
      }))
      return { topic, action: 'create', partitions, replicas: wanted.replication, settings, reason: undefined }
    }
    const differences = differencesOf(plan, found.get(topic) ?? new Map())
    const settings = differences.map(({ setting, found: value, planned }: Difference) => ({ setting, found: value, planned }))
    if (count !== partitions) {
      const reason = `it has ${counted(count, 'partition')}; all topics of this prefix need ${partitions}, as ${jobs?.topic} has`
      return { topic, action: 'refuse', partitions: count, settings, reason }
    }
    return { topic, action: settings.length === 0 ? 'keep' : 'change', partitions, settings, reason: undefined }
  })
}

/** Kafka's request replaces all settings of a topic, so the existing ones are sent along. */
async function alter(admin: BrokerAdmin, plans: TopicPlan[]): Promise<void> {
  const found = await settingsOf(admin, plans)
  const changed = plans.map((plan): [string, Map<string, string>] => {
    const settings = found.get(plan.topic) ?? new Map()
    const own = [...settings].filter(([, { own }]) => own).map(([name, { value }]): [string, string] => [name, value])
    const planned = differencesOf(plan, settings).map(({ setting, planned }): [string, string] => [setting, planned])
    return [plan.topic, new Map([...own, ...planned])]
  })
  await admin.changeSettings(new Map(changed))
}
