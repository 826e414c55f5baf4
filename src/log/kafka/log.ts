/** The log of a process: writers, readers and admin clients of one cluster. */
import type { GroupMember, Log, LogAdmin, RangeReader } from '../../ground/ports/index.ts'
import { instanceParts } from '../../ground/process/index.ts'
import { type BoundedRead, type BrokerAdmin, KafkaClient, type Logger, type LogOptions, type Span } from './client/index.ts'
import { KafkaGroupReader, readUserData } from './group/index.ts'
import {
  type AclPlan,
  CheckedTopics,
  changeAcls,
  changeTopics,
  ensureTopics,
  listTopics,
  makeTopics,
  planAcls,
  planTopics,
  type TargetTopicsOptions,
  type TopicsWanted,
} from './topics/index.ts'

export type { BoundedRead, Logger, LogOptions, Span } from './client/index.ts'
export type { AclChange, TopicChange } from './topics/index.ts'

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} }

export type KafkaLog = ReturnType<typeof connectLog>

/** Opens no connection: each writer, reader and admin client has its own connections and is closed separately. */
export function connectLog(options: LogOptions) {
  const client = new KafkaClient(options)
  const { logger = silent } = options
  const log: Log = {
    writer: () => client.writer(),
    transactionalWriter: (transactionalId, fence) => client.transactionalWriter(transactionalId, fence),
    reader: (wanted) => new KafkaGroupReader(client, wanted),
    admin: async () => logAdminOf(await client.admin()),
  }
  return {
    ...log,
    /**
     * Creates missing topics and checks existing ones. Resolves with the number of partitions, taken from `jobs` if it exists.
     * Rejects with DuelogError `unsafe-topic`, which names topic, setting, value found and value needed.
     */
    ensureTopics: (wanted: TopicsWanted) => ensureTopics(client, wanted, logger),
    /** What ensureTopics would create, and what would have to change first. Nothing is written. */
    planTopics: (wanted: TopicsWanted) => planTopics(client, wanted),
    /** Creates missing topics and raises unsafe settings. Resolves with the state found before. Refused topics are left as they are. */
    changeTopics: (wanted: TopicsWanted) => changeTopics(client, wanted),
    /** The ACLs that principals need and have. Nothing is written. */
    planAcls: (plan: AclPlan) => planAcls(client, plan),
    /** Creates those that are missing. Resolves with the state found before. */
    changeAcls: (plan: AclPlan, how: { deleteSurplus: boolean }) => changeAcls(client, plan, how),
    /** Creates the missing ones of these topics with the brokers' default settings. Resolves with their names. */
    async makeMissing(wanted: readonly string[], size: { partitions: number; replication: number }): Promise<string[]> {
      const existing = new Set(await listTopics(client))
      const missing = wanted.filter((topic) => !existing.has(topic))
      await makeTopics(client, missing, size)
      return missing
    },
    /** Reads topics up to their current ends. Rejects with any error of `onRecord`. */
    readToEnd: (wanted: BoundedRead): Promise<Span[]> => client.readToEnd(wanted),
    /** Removes the members of a dead instance from these groups. Resolves with their number. */
    removeDeparted: (instance: string, groupIds: readonly string[]) => removeDeparted(client, instance, groupIds),
    /** Names of all topics of the cluster that this principal may see. */
    topics: () => listTopics(client),
    /** Reads parts of partitions by time. Opens its connections at the first use. */
    ranges: (): RangeReader => client.ranges(),
    /** The user topics that may be written to. Nothing is known about them before its start. */
    targetTopics: (wanted: TargetTopicsOptions) => new CheckedTopics(client, logger, wanted),
    /** Reports whether brokers are unreachable: one failed, and none has answered since. Called at once if they are. Returns its unsubscribe function. */
    onAway: (listener: (isAway: boolean) => void) => client.onAway(listener),
    /** When a broker last sent anything to this process, by `performance.now()`; 0: none ever did. */
    brokersHeardAtMs: () => client.heardAtMs,
  }
}

/** Whether it has the form in which workers sign their reports. */
const isInstance = (clientId: string): boolean => /^[^@:\s]+@/.test(clientId) && instanceParts(clientId) !== undefined

export function logAdminOf(admin: BrokerAdmin): LogAdmin {
  const committedOf: LogAdmin['committedOf'] = (groupId, topics) => admin.committed(groupId, topics)
  return {
    offsets: (topic) => admin.offsets(topic),
    offsetsOf: (topics) => admin.offsetsOf(topics),
    highWatermarks: (topic) => admin.highWatermarks(topic),
    clusterId: () => admin.clusterId(),
    committed: async (groupId, topic) => (await committedOf(groupId, [topic])).get(topic) ?? [],
    committedOf,
    groupMembers: (groupId) => membersOf(admin, groupId),
    groups: async (prefix) => (await admin.groups()).filter((groupId) => groupId.startsWith(prefix)),
    close: () => admin.close(),
  }
}

async function membersOf(admin: BrokerAdmin, groupId: string): Promise<GroupMember[]> {
  const members = await admin.members(groupId)
  return members.map(({ memberId, clientId, userData, assigned, isJoining }) => {
    const note = readUserData(memberId, userData)
    // A worker in another language has no user data, but its client id may name its instance.
    const instance = note.instance === memberId && isInstance(clientId) ? clientId : note.instance
    return { memberId, instance, userData: note.userData, assigned, isJoining }
  })
}

/**
 * A broker that has just started loads its groups one partition at a time. It refuses requests meanwhile, for about 100 ms.
 * Exponential backoff would sleep past the end of this phase. About 5 s in total.
 */
const loadingRetry = { initialRetryTime: 60, maxRetryTime: 200, multiplier: 1.2, factor: 0.2, retries: 30 }

/**
 * Removes the members of an instance from their groups, when its process is known to be dead. The broker notices a death only when the
 * session expires. Until then nobody else gets the partitions of such a member. Resolves with the number of members that were removed.
 */
export async function removeDeparted(client: KafkaClient, instance: string, groupIds: readonly string[]): Promise<number> {
  const admin = await client.admin(loadingRetry)
  try {
    const found = await Promise.allSettled(
      groupIds.map(async (groupId) => (await membersOf(admin, groupId)).map((member) => ({ ...member, groupId }))),
    )
    // A group that cannot be read does not keep the others waiting.
    const members = found.flatMap((group) => (group.status === 'fulfilled' ? group.value : []))
    const departed = members.filter((member) => member.instance === instance)
    const refused = found.find(({ status }) => status === 'rejected')
    if (departed.length === 0 && refused?.status === 'rejected') throw refused.reason
    if (departed.length > 0) await admin.remove(departed.map(({ groupId, memberId }) => ({ groupId, memberId })))
    return departed.length
  } finally {
    await admin.close()
  }
}
