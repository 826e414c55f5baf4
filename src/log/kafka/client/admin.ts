/** What brokers are asked about their cluster: topics and their settings, groups, offsets, ACLs. */
import kafkajs, { type Admin, type Kafka, type AclEntry as KafkaAcl, type RetryOptions } from 'kafkajs'
import type { CommittedOffset, OffsetRange, TopicPartition } from '../../../ground/ports/index.ts'
import { SharedCluster, unveiled } from './cluster.ts'
import { closed, faultOn } from './connection.ts'
import { assignedOf, metadataOf } from './coordinator.ts'
import { withRetry } from './errors.ts'
import { offsetsOf, offsetsOfExisting } from './offsets.ts'

const { AclOperationTypes, AclPermissionTypes, AclResourceTypes, ConfigResourceTypes, ConfigSource, ResourcePatternTypes } =
  kafkajs

export interface PartitionInfo {
  partitionId: number
  leader: number
  replicas: readonly number[]
}

export interface TopicSetting {
  value: string
  /** Whether it was set for this topic, as opposed to a broker default. */
  own: boolean
}

export interface DescribedMember {
  memberId: string
  clientId: string
  /** Absent if its metadata cannot be read. */
  userData: Buffer | undefined
  assigned: TopicPartition[]
  isJoining: boolean
}

export interface Acl {
  principal: string
  resource: keyof typeof resourceTypes
  name: string
  pattern: 'literal' | 'prefixed'
  operation: keyof typeof operations
  host: string
}

/** Time limit for the controller to create topics. */
const createTimeoutMs = 10_000

const resourceTypes = {
  topic: AclResourceTypes.TOPIC,
  group: AclResourceTypes.GROUP,
  cluster: AclResourceTypes.CLUSTER,
  'transactional-id': AclResourceTypes.TRANSACTIONAL_ID,
} as const

const operations = {
  Read: AclOperationTypes.READ,
  Write: AclOperationTypes.WRITE,
  Create: AclOperationTypes.CREATE,
  Describe: AclOperationTypes.DESCRIBE,
  DescribeConfigs: AclOperationTypes.DESCRIBE_CONFIGS,
  AlterConfigs: AclOperationTypes.ALTER_CONFIGS,
  Delete: AclOperationTypes.DELETE,
  Alter: AclOperationTypes.ALTER,
  All: AclOperationTypes.ALL,
} as const

/** Requests reject with the error of the brokers; those with `doing` in their code with DuelogError. */
export class BrokerAdmin {
  readonly #kafka: Kafka
  readonly #admin: Admin
  readonly #committed: SharedCluster
  readonly #uncommitted: SharedCluster

  private constructor(kafka: Kafka, admin: Admin) {
    this.#kafka = kafka
    this.#admin = admin
    this.#committed = new SharedCluster(kafka, 'committed')
    this.#uncommitted = new SharedCluster(kafka, 'uncommitted')
  }

  /** `retry`: default is the retry policy of the connection. */
  static async open(kafka: Kafka, retry?: RetryOptions): Promise<BrokerAdmin> {
    const admin = kafka.admin(retry === undefined ? {} : { retry })
    try {
      await admin.connect()
      return new BrokerAdmin(kafka, admin)
    } catch (thrown) {
      await admin.disconnect().catch(() => {})
      throw faultOn(kafka, thrown, 'Connecting to the brokers')
    }
  }

  /** For one use. Rejects with an error of our table that says what was being done. */
  static async with<Value>(kafka: Kafka, doing: string, ask: (admin: BrokerAdmin) => Promise<Value>): Promise<Value> {
    let admin: BrokerAdmin | undefined
    try {
      admin = await BrokerAdmin.open(kafka)
      return await ask(admin)
    } catch (thrown) {
      throw faultOn(kafka, thrown, doing)
    } finally {
      await admin?.close()
    }
  }

  async close(): Promise<void> {
    const all = [this.#committed.close(), this.#uncommitted.close(), this.#admin.disconnect()]
    await closed(Promise.all(all), 'An admin client')
  }

  /** Ends are those for readers of committed records. */
  offsets(topic: string): Promise<OffsetRange[]> {
    return this.#ask(`Looking up offsets of ${topic}`, () => offsetsWith(this.#committed, topic))
  }

  /** The same of many topics; those that do not exist are absent. */
  offsetsOf(topics: readonly string[]): Promise<Map<string, OffsetRange[]>> {
    const ask = () => this.#committed.use((cluster) => offsetsOfExisting(cluster, topics))
    return this.#ask(`Looking up offsets of ${topics.length} topics`, ask)
  }

  /** Ends with the records after open transactions. */
  async highWatermarks(topic: string): Promise<Map<number, number>> {
    const ranges = await this.#ask(`Looking up ends of ${topic}`, () => offsetsWith(this.#uncommitted, topic))
    return new Map(ranges.map(({ partition, next }) => [partition, next]))
  }

  async clusterId(): Promise<string> {
    // The first request of a scheduler: a broker that is slow for 3 s must not end the process.
    return (await this.#ask('Looking up the cluster', () => withRetry(() => this.#admin.describeCluster()))).clusterId
  }

  /** No topics: all that the group has committed and this principal may describe. */
  async committed(groupId: string, topics: readonly string[]): Promise<Map<string, CommittedOffset[]>> {
    const ask = () => this.#admin.fetchOffsets({ groupId, topics: [...topics] })
    const found = await this.#ask(`Looking up what ${groupId} has committed`, ask, groupId)
    return new Map(
      found.map(({ topic, partitions }) => [
        topic,
        partitions
          .filter(({ offset }) => Number(offset) >= 0)
          .map(({ partition, offset, metadata }) => ({ partition, offset: Number(offset), ...(metadata ? { metadata } : {}) })),
      ]),
    )
  }

  async members(groupId: string): Promise<DescribedMember[]> {
    const { groups } = await this.#ask(`Describing group ${groupId}`, () => this.#admin.describeGroups([groupId]), groupId)
    return (groups[0]?.members ?? []).map(({ memberId, clientId, memberMetadata, memberAssignment }) => ({
      ...{ memberId, clientId, userData: metadataOf(memberMetadata)?.userData, assigned: assignedOf(memberAssignment) },
      // Both are empty while the group rebalances.
      isJoining: memberMetadata.length === 0,
    }))
  }

  /** Ids of all consumer groups. */
  async groups(): Promise<string[]> {
    const { groups } = await this.#ask('Listing groups', () => this.#admin.listGroups())
    return groups.map(({ groupId }) => groupId)
  }

  /** Takes members out of their groups. */
  async remove(members: readonly { groupId: string; memberId: string }[]): Promise<void> {
    const ids = members.map(({ memberId }) => memberId).join(', ')
    await this.#ask(`Taking ${ids} out of their groups`, () =>
      this.#uncommitted.use((cluster) =>
        Promise.all(members.map(async (member) => (await cluster.findGroupCoordinator(member)).leaveGroup(member))),
      ),
    )
  }

  topics(): Promise<string[]> {
    return withRetry(() => this.#admin.listTopics())
  }

  /** Rejects if one does not exist. */
  async partitionsOf(topics: string[]): Promise<Map<string, PartitionInfo[]>> {
    if (topics.length === 0) return new Map()
    const { topics: found } = await this.#admin.fetchTopicMetadata({ topics })
    return new Map(found.map(({ name, partitions }) => [name, partitions]))
  }

  /** Addresses of the brokers that Kafka counts as alive. */
  async brokers(): Promise<string[]> {
    const { brokers } = await this.#admin.describeCluster()
    return brokers.map(({ host, port }) => `${host}:${port}`)
  }

  /** Settings of topics that exist. `names`: default all. */
  async settingsOf(topics: readonly string[], names?: string[]): Promise<Map<string, Map<string, TopicSetting>>> {
    if (topics.length === 0) return new Map()
    const resources = topics.map((name) => ({ type: ConfigResourceTypes.TOPIC, name, ...(names && { configNames: names }) }))
    const found = await this.#admin.describeConfigs({ includeSynonyms: false, resources })
    return new Map(
      found.resources.map(({ resourceName, configEntries }) => {
        const settings = configEntries.map(({ configName, configValue, configSource }): [string, TopicSetting] => [
          configName,
          { value: configValue, own: configSource === ConfigSource.TOPIC_CONFIG },
        ])
        return [resourceName, new Map(settings)]
      }),
    )
  }

  /** Replaces all settings of each topic. */
  async changeSettings(topics: ReadonlyMap<string, ReadonlyMap<string, string>>): Promise<void> {
    if (topics.size === 0) return
    const resources = [...topics].map(([name, settings]) => ({
      ...{ type: ConfigResourceTypes.TOPIC, name },
      configEntries: [...settings].map(([setting, value]) => ({ name: setting, value })),
    }))
    await this.#admin.alterConfigs({ validateOnly: false, resources })
  }

  /** Resolves with false if one of them existed. Their leaders may not serve them yet. */
  createTopics(
    topics: readonly { topic: string; partitions: number; replication: number; settings: Record<string, string> }[],
  ): Promise<boolean> {
    // kafkajs does not ask again when a broker did not answer. Topics that it had created meanwhile count as another process's.
    return withRetry(() =>
      this.#admin.createTopics({
        timeout: createTimeoutMs,
        // kafkajs's own wait fails if the broker it asks has not received the topic's metadata yet.
        waitForLeaders: false,
        topics: topics.map(({ topic, partitions, replication, settings }) => ({
          ...{ topic, numPartitions: partitions, replicationFactor: replication },
          configEntries: Object.entries(settings).map(([name, value]) => ({ name, value })),
        })),
      }),
    )
  }

  /** ACLs of a principal on resources of the kinds that `Acl` names. */
  async aclsOf(principal: string): Promise<(Acl & { isAllowed: boolean })[]> {
    const { resources } = await this.#admin.describeAcls({
      resourceType: AclResourceTypes.ANY,
      resourcePatternType: ResourcePatternTypes.ANY,
      operation: AclOperationTypes.ANY,
      permissionType: AclPermissionTypes.ANY,
      principal,
    })
    return resources.flatMap(({ resourceType, resourceName: name, resourcePatternType, acls }) => {
      const resource = nameIn(resourceTypes, resourceType)
      if (resource === undefined) return []
      const pattern = resourcePatternType === ResourcePatternTypes.PREFIXED ? 'prefixed' : 'literal'
      return acls.flatMap(({ host, operation, permissionType }) => {
        const known = nameIn(operations, operation)
        const isAllowed = permissionType === AclPermissionTypes.ALLOW
        return known === undefined ? [] : [{ principal, resource, name, pattern, operation: known, host, isAllowed } as const]
      })
    })
  }

  async createAcls(acls: readonly Acl[]): Promise<void> {
    await this.#admin.createAcls({ acl: acls.map(kafkaAclOf) })
  }

  async deleteAcls(acls: readonly Acl[]): Promise<void> {
    await this.#admin.deleteAcls({ filters: acls.map(kafkaAclOf) })
  }

  /** `groupId`: the group whose coordinator answers the request. */
  async #ask<Value>(doing: string, ask: () => Promise<Value>, groupId?: string): Promise<Value> {
    try {
      return await ask()
    } catch (thrown) {
      const error = groupId === undefined ? thrown : await unveiled(this.#kafka, thrown, groupId)
      throw faultOn(this.#kafka, error, doing)
    }
  }
}

/** A topic that was just created may not be known everywhere: a missing one is a final answer after some tries. */
async function offsetsWith(cluster: SharedCluster, topic: string): Promise<OffsetRange[]> {
  const found = await withRetry(() => cluster.use((connected) => offsetsOf(connected, [topic])), [], missingMsMax)
  return found.get(topic) ?? []
}

const missingMsMax = 9_000

const kafkaAclOf = ({ principal, resource, name, pattern, operation, host }: Acl): KafkaAcl => ({
  resourceType: resourceTypes[resource],
  resourceName: name,
  resourcePatternType: pattern === 'prefixed' ? ResourcePatternTypes.PREFIXED : ResourcePatternTypes.LITERAL,
  principal,
  host,
  operation: operations[operation],
  permissionType: AclPermissionTypes.ALLOW,
})

const nameIn = <Name extends string>(table: Readonly<Record<Name, number>>, number: number): Name | undefined =>
  (Object.keys(table) as Name[]).find((name) => table[name] === number)
