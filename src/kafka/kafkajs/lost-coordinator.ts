/**
 * Keeps group members working through the loss of a broker. kafkajs waits for each heartbeat before it fetches again. It sends
 * the next one to the same broker as often as its retries allow, even to one that has long stopped being the coordinator, and
 * then leaves the group. A fetch that fails, or finds that a partition has a new leader, ends the fetches from all brokers and
 * rejoins the group. Here instead:
 *
 *   heartbeat  runs beside the fetches; a lost coordinator is looked up again, and the membership continues: the next coordinator knows it
 *   fetch      what fails at one broker is tried again with fresh metadata, and fetches from others go on
 *
 * Answers of the group itself, such as a rebalance, are handled as usual. kafkajs has no hook for any of this, so methods of its
 * groups are replaced, only for groups that run in our scope.
 */
import { createRequire } from 'node:module'
import { setTimeout as wait } from 'node:timers/promises'
import { replacedFor } from './overrides.ts'

interface Group {
  groupId: string
  memberId: string | null
  generationId: number | null
  coordinator: unknown
  /** Absent before the first join. */
  offsetManager: { coordinator: unknown } | null
  cluster: {
    findGroupCoordinator(of: { groupId: string }): Promise<unknown>
    refreshMetadata(): Promise<void>
  }
  connect(): Promise<void>
  heartbeat(options: object): Promise<void>
  recoverFromFetch(error: unknown): Promise<void>
}

/** What a member does besides its fetches. */
interface Member {
  beating?: Promise<void> | undefined
  /** The refusal of the last heartbeat, until it is handled. */
  refusal?: { error: unknown; generationId: number | null } | undefined
  onLoss?: Hearer | undefined
}

type Hearer = (error: unknown) => void

/** Between two tries while a broker is lost. */
const retryMs = 250

const inScope = replacedFor<{ onLoss: Hearer | undefined }>(install)

/**
 * Runs a consumer whose group survives the loss of brokers. `onLoss` is called for each fetch that a lost broker left without
 * records.
 */
export const withLostCoordinators = <Value>(run: () => Value, onLoss?: Hearer): Value => inScope({ onLoss }, run)

function install(current: () => { onLoss: Hearer | undefined } | undefined): void {
  const { prototype } = createRequire(import.meta.url)('kafkajs/src/consumer/consumerGroup.js') as { prototype: Group }
  const members = new WeakMap<Group, Member>()
  const { connect, heartbeat, recoverFromFetch } = prototype

  prototype.connect = function (this: Group): Promise<void> {
    const ours = current()
    if (ours !== undefined) members.set(this, { onLoss: ours.onLoss })
    return connect.call(this)
  }

  prototype.heartbeat = async function (this: Group, options: object): Promise<void> {
    const member = members.get(this)
    if (member === undefined) return heartbeat.call(this, options)
    const { refusal } = member
    member.refusal = undefined
    if (refusal !== undefined && refusal.generationId === this.generationId) throw refusal.error
    const { generationId } = this
    member.beating ??= heartbeat
      .call(this, options)
      .catch((error) => (isLoss(error) ? findCoordinator(this) : Promise.reject(error)))
      .catch((error) => {
        member.refusal = { error, generationId }
      })
      .finally(() => {
        member.beating = undefined
      })
  }

  prototype.recoverFromFetch = async function (this: Group, error: unknown): Promise<void> {
    const member = members.get(this)
    if (member === undefined) return recoverFromFetch.call(this, error)
    if (isLoss(error)) member.onLoss?.(error)
    if (isMoved(error)) await findCoordinator(this)
    else if (isLoss(error)) await this.cluster.refreshMetadata().catch(unlessLoss)
    else return recoverFromFetch.call(this, error)
    await wait(retryMs)
  }
}

/** The member keeps its id and generation: the new coordinator of the group has read both from its log. */
async function findCoordinator(group: Group): Promise<void> {
  const { groupId } = group
  try {
    const coordinator = await group.cluster.findGroupCoordinator({ groupId })
    group.coordinator = coordinator
    if (group.offsetManager !== null) group.offsetManager.coordinator = coordinator
  } catch (error) {
    unlessLoss(error)
    await wait(retryMs)
  }
}

function unlessLoss(error: unknown): void {
  if (!isLoss(error)) throw error
}

interface Fault {
  name?: string
  type?: string
  cause?: unknown
}

const lossNames = new Set([
  'KafkaJSConnectionError',
  'KafkaJSConnectionClosedError',
  'KafkaJSRequestTimeoutError',
  'KafkaJSBrokerNotFound',
  'KafkaJSLockTimeout',
  'KafkaJSGroupCoordinatorNotFound',
])
/** Answers of a broker that is not the coordinator, or not yet: it has not executed the request. */
export const movedTypes: ReadonlySet<string> = new Set([
  'NOT_COORDINATOR_FOR_GROUP',
  'GROUP_COORDINATOR_NOT_AVAILABLE',
  'GROUP_LOAD_IN_PROGRESS',
])
const staleTypes = new Set(['LEADER_NOT_AVAILABLE', 'NOT_LEADER_FOR_PARTITION', 'FENCED_LEADER_EPOCH', 'UNKNOWN_LEADER_EPOCH'])

/** The group has another coordinator, or will have one in a moment. */
const isMoved = (error: unknown): boolean => some(error, ({ type = '' }) => movedTypes.has(type))

/** Not an answer of the group or of a partition: the responsible broker has changed, or is missing. */
function isLoss(error: unknown): boolean {
  return some(error, ({ name = '', type = '' }) => lossNames.has(name) || movedTypes.has(type) || staleTypes.has(type))
}

/** The type of the error or of its cause: kafkajs wraps errors that it gives up on. */
function some(error: unknown, is: (fault: Fault) => boolean): boolean {
  for (let fault = error as Fault | undefined, depth = 0; fault && depth < 8; fault = fault.cause as Fault | undefined, depth++)
    if (is(fault)) return true
  return false
}
