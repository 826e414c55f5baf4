/**
 * Removes members from their groups when their process is known to be dead. The broker notices a death only when the session
 * expires. Until then nobody else gets the partitions of such a member.
 */
import type { Kafka, RetryOptions } from 'kafkajs'
import { faultOn } from '../brokers/index.ts'
import { type Cluster, ownCluster } from '../kafkajs/index.ts'
import { KafkaAdmin } from './admin.ts'

/**
 * A broker that has just started loads its groups one partition at a time. It refuses requests meanwhile, for about 100 ms.
 * Exponential backoff would sleep past the end of this phase. About 5 s in total.
 */
const loadingRetry: RetryOptions = { initialRetryTime: 60, maxRetryTime: 200, multiplier: 1.2, factor: 0.2, retries: 30 }

/** Resolves with the number of members of this instance that were removed. */
export async function removeDeparted(kafka: Kafka, instance: string, groupIds: readonly string[]): Promise<number> {
  const admin = await KafkaAdmin.open(kafka, loadingRetry)
  let cluster: Cluster | undefined
  try {
    const found = await Promise.all(
      groupIds.map(async (groupId) => {
        const members = await admin.groupMembers(groupId)
        return members.filter((member) => member.instance === instance).map(({ memberId }) => ({ groupId, memberId }))
      }),
    )
    const departed = found.flat()
    if (departed.length === 0) return 0
    cluster = ownCluster(kafka)
    await cluster.connect()
    await Promise.all(departed.map((member) => leave(cluster as Cluster, member)))
    return departed.length
  } catch (thrown) {
    throw faultOn(kafka, thrown, `Taking ${instance} out of its groups`)
  } finally {
    await Promise.all([admin.close(), cluster?.disconnect().catch(() => {})])
  }
}

async function leave(cluster: Cluster, member: { groupId: string; memberId: string }): Promise<void> {
  const coordinator = await cluster.findGroupCoordinator(member)
  await coordinator.leaveGroup(member)
}
