/** `duelog topics …` on a real broker. */
import kafkajs, { type Admin, type ITopicConfig } from 'kafkajs'
import { describe, expect, it, onTestFinished } from 'vitest'
import { topicNames, topicPlans } from '../../streams/topics/topics.ts'
import { brokers, registryUrl } from '../kafka/harness.ts'
import { duelogHere, type Ended } from './built-program.ts'

function topics(prefix: string): (...args: string[]) => Promise<Ended> {
  const env = {
    KAFKA_BROKERS: brokers.join(','),
    SCHEMA_REGISTRY_URL: registryUrl,
    DUELOG_TOPIC_PREFIX: prefix,
    DUELOG_PARTITIONS: '2',
  }
  return (...args) => duelogHere(['topics', ...args, '--replication', '1'], { env })
}

async function openAdmin() {
  const admin = new kafkajs.Kafka({ brokers, logLevel: kafkajs.logLevel.NOTHING }).admin()
  await admin.connect()
  onTestFinished(() => admin.disconnect())
  return admin
}

const count = topicPlans(topicNames(''), ['default']).length
const prefixOf = (name: string): string => `topics-${name}-${process.pid}-${Date.now()}.`

/** kafkajs's own wait for leaders fails when the broker that it asks does not know the topic yet. */
async function createTopic(admin: Admin, topic: ITopicConfig): Promise<void> {
  await admin.createTopics({ topics: [topic], waitForLeaders: false })
  await expect.poll(() => admin.listTopics()).toContain(topic.topic)
}

describe('duelog topics', () => {
  it('shows what would be created, creates it, and then finds nothing to do', async () => {
    const prefix = prefixOf('new')
    const run = topics(prefix)
    const plan = await run('plan')
    expect(plan).toMatchObject({ code: 0, err: '' })
    expect(plan.out).toMatch(new RegExp(`\\ncreate +${prefix}job-state +2 +1 +cleanup.policy=compact, `))
    expect((await run('plan', '--json')).json().every(({ action }) => action === 'create')).toBe(true)
    expect((await run('apply')).out).toContain(`Topics: ${count} created.`)
    expect(await run('plan')).toMatchObject({ out: `Topics: ${count} are up to date.\n`, err: '' })
    expect((await run('plan', '--partitions', '8')).err).toContain(
      `DUELOG_PARTITIONS=8 is ignored: ${prefix}jobs has 2 partitions.`,
    )
    expect(
      (await run('plan', '--pools', 'default,mail', '--json')).json().filter(({ action }) => action === 'create'),
    ).toHaveLength(6)
  })
  it('creates the topics of foreign schedules that are missing, and leaves those that are there', async () => {
    const prefix = prefixOf('intake')
    const run = topics(prefix)
    // Foreign topics must not be under our own prefix.
    const intake = ['--intake-etf1-topics', `of-${prefix}etf1`, '--intake-karafka-topics', `of-${prefix}karafka`]
    expect((await run('plan', ...intake)).out).toMatch(new RegExp(`\\ncreate +of-${prefix}etf1 +2 +1`))
    expect((await run('apply', ...intake)).out).toContain(`Topics: ${count + 2} created.`)
    expect((await run('plan', ...intake)).out).toBe(`Topics: ${count} are up to date.\n`)
  })
  it('plans nothing that cannot be applied', async () => {
    const env = { KAFKA_BROKERS: brokers.join(','), SCHEMA_REGISTRY_URL: registryUrl, DUELOG_TOPIC_PREFIX: prefixOf('copies') }
    const { code, out, err } = await duelogHere(['topics', 'plan', '--replication', '3'], { env })
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toContain('Set DUELOG_REPLICATION=1')
  })
  it('raises unsafe settings, and leaves the others', async () => {
    const prefix = prefixOf('unsafe')
    const run = topics(prefix)
    const admin = await openAdmin()
    const topic = `${prefix}execution-events`
    const configEntries = [
      { name: 'retention.ms', value: '1000' },
      { name: 'segment.bytes', value: '2097152' },
    ]
    await createTopic(admin, { topic, numPartitions: 2, configEntries })
    expect((await run('plan')).out).toContain('retention.ms 1000 -> 604800000')
    expect((await run('apply')).out).toContain(`${count - 1} created, 1 changed.`)
    const configNames = ['retention.ms', 'segment.bytes']
    const found = async () => {
      const { resources } = await admin.describeConfigs({
        includeSynonyms: false,
        resources: [{ type: kafkajs.ConfigResourceTypes.TOPIC, name: topic, configNames }],
      })
      return resources[0]?.configEntries.map(({ configName, configValue }) => [configName, configValue]) ?? []
    }
    // A broker learns of a change a moment after the controller has accepted it.
    await expect
      .poll(async () => Object.fromEntries(await found()))
      .toEqual({
        'retention.ms': '604800000',
        'segment.bytes': '2097152',
      })
  })
  it('says what it cannot fix, fails, and changes nothing', async () => {
    const prefix = prefixOf('count')
    const run = topics(prefix)
    const admin = await openAdmin()
    const topic = `${prefix}job-commands`
    await createTopic(admin, { topic, numPartitions: 3 })
    const { code, out } = await run('apply')
    expect(code).toBe(1)
    expect(out).toMatch(new RegExp(`\\nrefuse +${topic} +3 +it has 3 partitions; all topics of this prefix need 2`))
    expect((await admin.fetchTopicMetadata({ topics: [topic] })).topics[0]?.partitions).toHaveLength(3)
  })
  it('has its own exit code for unreachable brokers', async () => {
    const env = { KAFKA_BROKERS: '127.0.0.1:9', SCHEMA_REGISTRY_URL: registryUrl }
    const { code, out, err } = await duelogHere(['topics', 'plan'], { env })
    expect({ code, out }).toEqual({ code: 3, out: '' })
    expect(err).toMatch(/^duelog: [^\n]+brokers run and can be reached[^\n]+\n$/)
  })
})
