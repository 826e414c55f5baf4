/**
 * Plans the changes that bring topics to their planned state, and applies them. Topics are created and settings raised. Nothing
 * is deleted or lowered.
 */
import kafkajs, { type Admin, type Kafka } from 'kafkajs'
import { counted } from '../../../streams/text/index.ts'
import type { TopicPlan } from '../../../streams/topics/index.ts'
import { faultOn } from '../brokers/index.ts'
import { withRetry } from '../errors/index.ts'
import {
  checkBrokers,
  createTopics,
  type Difference,
  differencesOf,
  partitionCounts,
  settingsOf,
  settingsOfNew,
  type TopicsWanted,
} from './topics.ts'

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
export function planTopics(kafka: Kafka, wanted: TopicsWanted): Promise<TopicChange[]> {
  return withAdmin(kafka, 'Looking up the topics', (admin) => changesOf(admin, wanted))
}

/** Applies the changes and skips the refused ones. Resolves with the state found before. */
export function changeTopics(kafka: Kafka, wanted: TopicsWanted): Promise<TopicChange[]> {
  return withAdmin(kafka, 'Changing the topics', async (admin) => {
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
  kafka: Kafka,
  topics: readonly string[],
  { partitions, replication }: { partitions: number; replication: number },
): Promise<void> {
  const plans = topics.map((topic) => ({ topic, config: {}, schema: 'job-definition' }) as const)
  if (plans.length > 0)
    await withAdmin(kafka, `Creating ${topics.join(', ')}`, (admin) => createTopics(admin, plans, partitions, replication))
}

export function listTopics(kafka: Kafka): Promise<string[]> {
  return withAdmin(kafka, 'Listing the topics', (admin) => withRetry(() => admin.listTopics()))
}

async function changesOf(admin: Admin, wanted: TopicsWanted): Promise<TopicChange[]> {
  const existing = new Set(await withRetry(() => admin.listTopics()))
  const present = wanted.plans.filter(({ topic }) => existing.has(topic))
  const counts = await partitionCounts(admin, present)
  const found = await settingsOf(admin, present)
  const jobs = wanted.plans.find(({ schema }) => schema === 'job-definition')
  const partitions = (jobs && counts.get(jobs.topic)) ?? wanted.partitions
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
async function alter(admin: Admin, plans: TopicPlan[]): Promise<void> {
  if (plans.length === 0) return
  const found = await settingsOf(admin, plans)
  const resources = plans.map((plan) => {
    const settings = found.get(plan.topic) ?? new Map()
    const own = [...settings].filter(([, { own }]) => own).map(([name, { value }]): [string, string] => [name, value])
    const planned = differencesOf(plan, settings).map(({ setting, planned }): [string, string] => [setting, planned])
    const configEntries = [...new Map([...own, ...planned])].map(([name, value]) => ({ name, value }))
    return { type: kafkajs.ConfigResourceTypes.TOPIC, name: plan.topic, configEntries }
  })
  await admin.alterConfigs({ validateOnly: false, resources })
}

/** An admin client for one use. Rejects with an error of our table that says what was being done. */
export async function withAdmin<Value>(kafka: Kafka, doing: string, ask: (admin: Admin) => Promise<Value>): Promise<Value> {
  const admin = kafka.admin()
  try {
    await admin.connect()
    return await ask(admin)
  } catch (thrown) {
    throw faultOn(kafka, thrown, doing)
  } finally {
    await admin.disconnect().catch(() => {})
  }
}
