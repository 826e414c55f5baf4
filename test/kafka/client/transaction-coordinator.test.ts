/** What a transactional writer asks its coordinator, of both versions, with brokers of the test. */
import { expect, test } from 'vitest'
import type { FenceOptions } from '../../../src/ground/ports/index.ts'
import { type Doubts, TransactionCoordinator } from '../../../src/log/kafka/client/transaction-coordinator.ts'
import { type ErrorName, lost, type Reply, type Said, type Script, scriptedCluster } from './scripted-cluster.ts'

const producer = { transactionalId: 'id', producerId: 7n, producerEpoch: 4, isV2: true }
const places = [
  { topic: 'out', partition: 0 },
  { topic: 'state', partition: 1 },
  { topic: 'out', partition: 3 },
]
const soon = (): number => performance.now() + 5_000

interface Options {
  doubts?: Doubts
  timeoutMs?: number
  nowMs?: () => number
}
function coordinatorOf(script: Script = {}, { doubts = new Set(), timeoutMs = 5_000, nowMs }: Options = {}) {
  const brokers = scriptedCluster(script)
  const closing = new AbortController()
  const options = { transactionalId: 'id', timeoutMs, doubts, signal: closing.signal, ...(nowMs && { nowMs }) }
  return { ...brokers, closing, coordinator: new TransactionCoordinator(brokers.cluster, options) }
}
/** Replies one after the other; then all is done. */
const inTurn = (replies: (Reply | Error)[], name?: string) => {
  const left = [...replies]
  return async (said: Said): Promise<Reply> => {
    const reply = name === undefined || said.name === name ? left.shift() : undefined
    if (reply instanceof Error) throw reply
    return reply
  }
}
const asks = {
  fence: (coordinator: TransactionCoordinator) => coordinator.fence(),
  add: (coordinator: TransactionCoordinator) => coordinator.addPartitions(producer, places, soon()),
  commit: (coordinator: TransactionCoordinator) => coordinator.commit(producer, soon()),
}

test('the fence asks once for the version that is switched on, and each transaction of version 2 has the next epoch', async () => {
  const { coordinator, heard, said } = coordinatorOf({ version: 2 })
  const first = await coordinator.fence()
  expect(first).toEqual(producer)
  const second = await coordinator.commit(first, soon())
  expect(second).toEqual({ ...producer, producerEpoch: 5 })
  await coordinator.commit(second, soon())
  expect(heard.map(({ name, version, epoch }) => [name, version, epoch])).toEqual([
    ['features', 3, -1],
    ['init', 1, -1],
    ['end', 5, 4],
    ['end', 5, 5],
  ])
  expect(said.filter((each) => each.startsWith('find'))).toEqual(['find transaction'])
})

test.each([0, 1])('with transactions of version %i, all transactions have the epoch of the fence', async (version) => {
  const { coordinator, heard } = coordinatorOf({ version })
  const fenced = await coordinator.fence()
  expect(fenced).toEqual({ ...producer, isV2: false })
  await coordinator.addPartitions(fenced, places, soon())
  expect(await coordinator.commit(fenced, soon())).toEqual(fenced)
  expect(heard.slice(2).map(({ name, version: asked, epoch }) => [name, asked, epoch])).toEqual([
    ['add', 1, 4],
    ['end', 1, 4],
  ])
  expect(heard[2]?.places).toEqual(['out/0', 'out/3', 'state/1'])
})

test.each(['fence', 'add', 'commit'] as const)(
  '%s: a temporary refusal is retried there; a moved coordinator is looked up',
  async (ask) => {
    const refusals: ErrorName[] = ['CONCURRENT_TRANSACTIONS', 'NOT_COORDINATOR_FOR_GROUP', 'GROUP_LOAD_IN_PROGRESS']
    const name = { fence: 'init', add: 'add', commit: 'end' }[ask]
    const { coordinator, said, move } = coordinatorOf({
      answer: async (told) => {
        move(2)
        return inOrder(told)
      },
    })
    const inOrder = inTurn(refusals, name)
    await asks[ask](coordinator)
    const asked = said.filter((each) => !each.includes('features')).map((each) => each.split(' ').slice(0, 2).join(' '))
    expect(asked).toEqual([
      'find transaction',
      `1 ${name}`,
      `1 ${name}`,
      'find transaction',
      `2 ${name}`,
      'find transaction',
      `2 ${name}`,
    ])
  },
)

test('the error of added partitions is that of the one that was refused', async () => {
  const reply: Reply = {
    'out/0': 'OPERATION_NOT_ATTEMPTED',
    'out/3': 'TOPIC_AUTHORIZATION_FAILED',
    'state/1': 'OPERATION_NOT_ATTEMPTED',
  }
  const { coordinator } = coordinatorOf({ answer: () => reply })
  await expect(coordinator.addPartitions(producer, places, soon())).rejects.toMatchObject({ type: 'TOPIC_AUTHORIZATION_FAILED' })
})

test('offsets go to the coordinator of the group; only version 1 has the transaction prepared for it', async () => {
  const group = { groupId: 'intake', positions: [{ topic: 'in', partition: 2, offset: 77 }] }
  for (const isV2 of [true, false]) {
    const { coordinator, said, heard } = coordinatorOf()
    await coordinator.commitOffsets({ ...producer, isV2 }, group, soon())
    const before = isV2 ? [] : ['find transaction', '1 addOffsets']
    expect(said).toEqual([...before, 'find group', '1 offsets in/2 at 77'])
    expect(heard.at(-1)).toMatchObject({ version: isV2 ? 5 : 1, transactionalId: 'id', producerId: 7n, epoch: 4 })
  }
})

test('an unanswered commit is sent again by the same writer in version 2, and not in version 1', async () => {
  const [doubts, replies] = [new Set(), ['end', 'end', 'end']] as [Doubts, string[]]
  const v2 = coordinatorOf({ answer: inTurn([lost(), 'CONCURRENT_TRANSACTIONS', 'UNKNOWN']) }, { doubts })
  expect(await v2.coordinator.commit(producer, soon())).toEqual({ ...producer, producerEpoch: 5 })
  expect(v2.heard.map(({ name, epoch }) => `${name} ${epoch}`)).toEqual([...replies, 'end'].map((name) => `${name} 4`))
  expect(doubts.size).toBe(0)
  const v1 = coordinatorOf({ answer: inTurn([lost()]) }, { doubts })
  await expect(v1.coordinator.commit({ ...producer, isV2: false }, soon())).rejects.toThrow('closed')
  expect(v1.heard).toHaveLength(1)
  expect(doubts.size).toBe(1)
})

/** What the coordinators hear, in order: one writer commits with that time, the next two writers of its id fence. */
async function heardOfThree(replies: (Reply | Error)[], { isV2 = false, timeMs = 5_000 } = {}): Promise<string[]> {
  const doubts: Doubts = new Set()
  const answer = inTurn(replies, 'end')
  const ask = async (work: (coordinator: TransactionCoordinator) => Promise<unknown>): Promise<string> => {
    const { coordinator, heard } = coordinatorOf({ answer, version: isV2 ? 2 : 1 }, { doubts, timeoutMs: timeMs })
    const failure = await work(coordinator).then(
      () => [],
      (error) => [error.type ?? error.name],
    )
    return [...heard.map(({ name }) => name).filter((name) => name !== 'features'), ...failure].join(' ')
  }
  const first = await ask((coordinator) => coordinator.commit({ ...producer, isV2 }, performance.now() + timeMs))
  const fence = (coordinator: TransactionCoordinator) => coordinator.fence()
  return [first, await ask(fence), await ask(fence)]
}
const closed = 'KafkaJSConnectionClosedError'

test('the next writer of the id sends an unanswered commit again, before the fence', async () => {
  expect(await heardOfThree([undefined])).toEqual(['end', 'init', 'init'])
  expect(await heardOfThree([lost(), undefined])).toEqual([`end ${closed}`, 'end init', 'init'])
  expect(await heardOfThree([lost(), lost(), undefined])).toEqual([`end ${closed}`, 'end end init', 'init'])
  // A writer that gets no answer either does not fence, because the fence would abort the rest of a transaction that may be partly
  // committed.
  expect(await heardOfThree([lost(), lost(), undefined], { timeMs: 0 })).toEqual([`end ${closed}`, `end ${closed}`, 'end init'])
  expect(await heardOfThree([lost(), lost(), undefined], { isV2: true, timeMs: 0 })).toEqual([
    `end ${closed}`,
    `end ${closed}`,
    'end init',
  ])
  // Another writer has fenced, or the coordinator has aborted the transaction.
  for (const type of ['INVALID_PRODUCER_EPOCH', 'INVALID_TXN_STATE', 'INVALID_PRODUCER_ID_MAPPING', 'PRODUCER_FENCED'] as const)
    expect(await heardOfThree([lost(), type])).toEqual([`end ${closed}`, 'end init', 'init'])
})

test('a coordinator with a temporary error may have logged the commit, and so may one with a failure', async () => {
  const away = 'GROUP_COORDINATOR_NOT_AVAILABLE'
  expect(await heardOfThree([away, undefined], { timeMs: 0 })).toEqual([`end ${away}`, 'end init', 'init'])
  expect(await heardOfThree([away, away], { timeMs: 0 })).toEqual([`end ${away}`, `end ${away}`, 'end init'])
  expect(await heardOfThree(['UNKNOWN', 'UNKNOWN', undefined])).toEqual(['end UNKNOWN', 'end end init', 'init'])
  // The request may fail in this way forever. The fence waits no longer than a transaction may take.
  expect(await heardOfThree(['UNKNOWN', 'UNKNOWN'], { timeMs: 0 })).toEqual(['end UNKNOWN', 'end init', 'init'])
})

test('a final refusal, and an abort, leave nothing to repeat', async () => {
  expect(await heardOfThree(['INVALID_PRODUCER_EPOCH'])).toEqual(['end INVALID_PRODUCER_EPOCH', 'init', 'init'])
  const doubts: Doubts = new Set()
  const { coordinator } = coordinatorOf({ answer: inTurn([lost()]) }, { doubts })
  await expect(coordinator.abort(producer)).rejects.toThrow('closed')
  expect(doubts.size).toBe(0)
})

test('an endless refusal is reported when the transaction times out', async () => {
  const { coordinator } = coordinatorOf({ answer: () => 'CONCURRENT_TRANSACTIONS' })
  await expect(coordinator.commit(producer, performance.now() + 20)).rejects.toMatchObject({ type: 'CONCURRENT_TRANSACTIONS' })
})

test('the fence is sent when it is permitted, with a connection to the first written partition', async () => {
  const { coordinator, said } = coordinatorOf()
  const { promise: mayFence, resolve } = Promise.withResolvers<void>()
  const fenced = coordinator.fence({ mayFence: () => mayFence, first: { topic: 'state', partition: 0 } })
  await new Promise(setImmediate)
  expect(said).toEqual(['learn state', 'find transaction', '1 features'])
  resolve()
  await fenced
  expect(said.at(-1)).toBe('1 init')
  const refused = coordinatorOf()
  const mayNot = { mayFence: () => Promise.reject(lost()) }
  await expect(refused.coordinator.fence(mayNot)).rejects.toMatchObject({ reason: lost() })
  expect(refused.said.at(-1)).toBe('1 features')
})

test('a temporarily refused fence is repeated only while it is still permitted', async () => {
  let [nowMs, asked] = [0, 0]
  const answer = (): Reply => {
    nowMs += 200
    return 'CONCURRENT_TRANSACTIONS'
  }
  const mayFence: FenceOptions['mayFence'] = async () => {
    if (++asked === 3) throw lost()
  }
  const { coordinator, said } = coordinatorOf({ answer }, { timeoutMs: 15_000, nowMs: () => nowMs })
  await expect(coordinator.fence({ mayFence })).rejects.toMatchObject({ reason: lost() })
  // Two requests with each permission. By then the permission has expired.
  expect(said.filter((each) => each === '1 init')).toHaveLength(4)
})

test('a closed writer sends nothing more, and its repetitions end', async () => {
  const doubts: Doubts = new Set()
  const given = coordinatorOf(
    {
      answer: (): Reply => {
        given.closing.abort(new Error('closed meanwhile'))
        return 'CONCURRENT_TRANSACTIONS'
      },
    },
    { doubts },
  )
  const { coordinator, said } = given
  await expect(coordinator.addPartitions(producer, places, soon())).rejects.toMatchObject({ type: 'CONCURRENT_TRANSACTIONS' })
  const count = said.length
  await expect(coordinator.commit(producer, soon())).rejects.toThrow('closed meanwhile')
  expect(said).toHaveLength(count)
  // A fence does not repeat a commit that was never requested.
  expect(doubts.size).toBe(0)
})
