/**
 * A member whose coordinator or partition leader is lost. It runs through the groups of kafkajs itself, with scripted brokers.
 */
import { createRequire } from 'node:module'
import { beforeEach, expect, test, vi } from 'vitest'
import { withLostCoordinators } from '../../../src/kafka/kafkajs/lost-coordinator.ts'

interface Broker {
  heartbeat: ReturnType<typeof vi.fn<(request: object) => Promise<void>>>
}
interface Group {
  coordinator: Broker
  offsetManager: { coordinator: Broker }
  memberId: string
  generationId: number
  connect(): Promise<void>
  heartbeat(options: { interval: number }): Promise<void>
  recoverFromFetch(error: unknown): Promise<void>
  joinAndSync: ReturnType<typeof vi.fn>
}
type GroupConstructor = new (options: object) => Group

const ConsumerGroup = createRequire(import.meta.url)('kafkajs/src/consumer/consumerGroup.js') as GroupConstructor
const logger = { debug() {}, info() {}, warn() {}, error() {}, namespace: () => logger }
const fault = (name: string, type = ''): Error => Object.assign(new Error(name), { name, type })
const refusal = (type: string): Error => fault('KafkaJSProtocolError', type)
const lost = fault('KafkaJSConnectionError')
const due = { interval: Number.NEGATIVE_INFINITY }

const cluster = {
  connect: async () => {},
  refreshMetadataIfNecessary: async () => {},
  refreshMetadata: vi.fn(async () => {}),
  findGroupCoordinator: vi.fn<() => Promise<Broker>>(),
}
const broker = (answer: () => Promise<void> = async () => {}): Broker => ({ heartbeat: vi.fn(answer) })

beforeEach(() => {
  vi.clearAllMocks()
})

/** A group in its state after a join. `isOurs`: it runs in our scope. */
async function member(coordinator: Broker, isOurs = true): Promise<Group> {
  const options = { cluster, logger, groupId: 'g', topics: [], assigners: [], instrumentationEmitter: { emit() {} } }
  const group = new ConsumerGroup({ ...options, sessionTimeout: 10_000, rebalanceTimeout: 10_000, topicConfigurations: {} })
  await (isOurs ? withLostCoordinators(() => group.connect()) : group.connect())
  return Object.assign(group, {
    coordinator,
    offsetManager: { coordinator },
    memberId: 'm',
    generationId: 7,
    joinAndSync: vi.fn(),
  })
}

test('an unanswered heartbeat delays nothing, and no second one is sent meanwhile', async () => {
  const silent = broker(() => new Promise<never>(() => {}))
  const group = await member(silent)
  await group.heartbeat(due)
  await group.heartbeat(due)
  expect(silent.heartbeat).toHaveBeenCalledTimes(1)
})

test.each([
  ['its connection is lost', lost],
  ['it did not answer in time', fault('KafkaJSRequestTimeoutError')],
  ['another broker is the coordinator by now', refusal('NOT_COORDINATOR_FOR_GROUP')],
  ['kafkajs has given up', Object.assign(fault('KafkaJSNumberOfRetriesExceeded'), { cause: lost })],
])('if %s the coordinator is looked up again, and the same member continues with the next', async (_, error) => {
  const next = broker()
  cluster.findGroupCoordinator.mockResolvedValueOnce(next)
  const group = await member(broker(() => Promise.reject(error)))
  await group.heartbeat(due)
  await vi.waitFor(async () => {
    await group.heartbeat(due)
    expect(next.heartbeat).toHaveBeenCalledWith({ groupId: 'g', memberId: 'm', groupGenerationId: 7 })
  })
  expect(group.offsetManager.coordinator).toBe(next)
  expect(group.joinAndSync).not.toHaveBeenCalled()
})

test.each([
  ['a leader that has moved', refusal('NOT_LEADER_FOR_PARTITION'), 1],
  ['a broker that is lost', lost, 1],
  ['what the brokers say of the reader itself', refusal('TOPIC_AUTHORIZATION_FAILED'), 0],
])('a listener is notified of %s', async (_, error, times) => {
  const group = await member(broker(), false)
  const onLoss = vi.fn()
  await withLostCoordinators(() => group.connect(), onLoss)
  await group.recoverFromFetch(error).catch(() => {})
  expect(onLoss).toHaveBeenCalledTimes(times)
})

test('while no broker can be reached the member continues to look, and no error ends its fetches', async () => {
  cluster.findGroupCoordinator.mockRejectedValue(lost)
  const group = await member(broker(() => Promise.reject(lost)))
  await vi.waitFor(async () => {
    await group.heartbeat(due)
    expect(cluster.findGroupCoordinator.mock.calls.length).toBeGreaterThan(1)
  })
})

test('an answer of the group is acted on at the next heartbeat, unless the member has rejoined meanwhile', async () => {
  const rebalancing = refusal('REBALANCE_IN_PROGRESS')
  const group = await member(broker(() => Promise.reject(rebalancing)))
  await group.heartbeat(due)
  await expect(vi.waitUntil(() => group.heartbeat(due).then(() => false))).rejects.toBe(rebalancing)

  const another = await member(broker(() => Promise.reject(rebalancing)))
  await another.heartbeat(due)
  await new Promise(setImmediate)
  another.generationId++
  another.coordinator = broker()
  await another.heartbeat(due)
  expect(cluster.findGroupCoordinator).not.toHaveBeenCalled()
})

test.each([
  ['a broker that is lost', lost],
  ['a partition that has another leader', refusal('NOT_LEADER_FOR_PARTITION')],
])('a fetch that fails for %s is retried with new metadata, without a rejoin', async (_, error) => {
  const group = await member(broker())
  await group.recoverFromFetch(error)
  expect(cluster.refreshMetadata).toHaveBeenCalled()
  expect(group.joinAndSync).not.toHaveBeenCalled()
})

test('also if metadata cannot be read either', async () => {
  cluster.refreshMetadata.mockRejectedValueOnce(lost)
  await (await member(broker())).recoverFromFetch(lost)
})

test('kafkajs handles other errors of a fetch, and every consumer of other code', async () => {
  const group = await member(broker())
  const authorization = refusal('TOPIC_AUTHORIZATION_FAILED')
  await expect(group.recoverFromFetch(authorization)).rejects.toBe(authorization)

  const foreign = await member(
    broker(() => Promise.reject(lost)),
    false,
  )
  await expect(foreign.heartbeat(due)).rejects.toBe(lost)
  await expect(foreign.recoverFromFetch(lost)).rejects.toBe(lost)
})
