/** The requests of a transaction to its coordinator. They run through the cluster of kafkajs itself, with scripted brokers. */
import { createRequire } from 'node:module'
import { expect, test } from 'vitest'
import { type Doubts, TransactionRequests } from '../../../src/log/kafka/client/transaction-requests.ts'

interface Coordinator {
  initProducerId(request: object): Promise<unknown>
  addPartitionsToTxn(request: object): Promise<unknown>
  endTxn(request: object): Promise<unknown>
}
type Find = (question: { groupId: string; coordinatorType: number }) => Promise<Coordinator>

const { prototype } = createRequire(import.meta.url)('kafkajs/src/cluster/index.js') as {
  prototype: { findGroupCoordinator: Find }
}
const refusal = (type: string): Error => Object.assign(new Error(type), { type })
const lost = (): Error => Object.assign(new Error('the connection is closed'), { name: 'KafkaJSConnectionClosedError' })

/** A cluster whose brokers answer each request with `answer`, or throw; `said`: all their requests. */
function cluster(answer: (request: string, topics: string[]) => unknown = () => undefined) {
  const said: string[] = []
  let coordinator = 1
  const broker = (nodeId: number) => {
    const asked = (name: string) => async (request: { topics?: { topic: string; partitions: number[] }[] }) => {
      const topics = (request.topics ?? []).map(({ topic, partitions }) => `${topic}/${partitions.join(',')}`)
      said.push([`${nodeId} ${name}`, ...topics].join(' '))
      return answer(name, topics)
    }
    return { nodeId, initProducerId: asked('init'), addPartitionsToTxn: asked('add'), endTxn: asked('end') }
  }
  const fake = Object.assign(Object.create(prototype) as { findGroupCoordinator: Find }, {
    retrier: (run: (bail: (error: Error) => void) => unknown) =>
      run((error) => {
        throw error
      }),
    findGroupCoordinatorMetadata: async () => {
      said.push(`find ${coordinator}`)
      return { coordinator: { nodeId: coordinator } }
    },
    findBroker: async ({ nodeId }: { nodeId: number }) => broker(nodeId),
    addMultipleTargetTopics: async ([topic = '']: string[]) => void said.push(`learn ${topic}`),
    findLeaderForPartitions: () => ({ 7: [0] }),
  })
  const move = (to: number): void => {
    coordinator = to
  }
  return { said, move, find: (coordinatorType = 1) => fake.findGroupCoordinator({ groupId: 'id', coordinatorType }) }
}

const places = new Map([
  ['out', [0, 3]],
  ['state', [1]],
])
const topic = (name: string, ...partitions: number[]) => ({ topics: [{ topic: name, partitions }] })

test('a transaction finds its coordinator once, and adds all its partitions with the first', async () => {
  const { said, find } = cluster()
  const requests = new TransactionRequests(1_000)
  await requests.run(async () => {
    for (const round of [1, 2]) {
      requests.begin(places)
      await Promise.all([(await find()).addPartitionsToTxn(topic('out', 0)), (await find()).addPartitionsToTxn(topic('out', 3))])
      await (await find()).addPartitionsToTxn(topic('state', 1))
      await (await find()).endTxn({})
      expect(said.splice(0)).toEqual([...(round === 1 ? ['find 1'] : []), '1 add out/0,3 state/1', '1 end'])
    }
  })
})

test('a temporary refusal is retried at the same coordinator; a moved coordinator is looked up again', async () => {
  const refusals = ['CONCURRENT_TRANSACTIONS', 'NOT_COORDINATOR_FOR_GROUP', 'GROUP_LOAD_IN_PROGRESS']
  for (const request of ['initProducerId', 'endTxn', 'addPartitionsToTxn'] as const) {
    const left = [...refusals]
    const { said, move, find } = cluster(() => {
      const type = left.shift()
      if (type !== undefined) throw refusal(type)
      return 'done'
    })
    const requests = new TransactionRequests(5_000)
    const name = { initProducerId: 'init', endTxn: 'end', addPartitionsToTxn: 'add state/1' }[request]
    await requests.run(async () => {
      requests.begin(new Map([['state', [1]]]))
      const coordinator = await find()
      move(2)
      expect(await coordinator[request](request === 'addPartitionsToTxn' ? topic('state', 1) : {})).toBe('done')
    })
    expect(said).toEqual(['find 1', `1 ${name}`, `1 ${name}`, 'find 2', `2 ${name}`, 'find 2', `2 ${name}`])
  }
})

test('the writer that sent an unanswered end does not send it again', async () => {
  const { said, find } = cluster(() => {
    throw lost()
  })
  const requests = new TransactionRequests(5_000)
  await expect(requests.run(async () => (await find()).endTxn({}))).rejects.toThrow('closed')
  expect(said).toEqual(['find 1', '1 end'])
})

const commit = { transactionalId: 'id', producerId: '1', producerEpoch: 5, transactionResult: true }

/**
 * The requests to the coordinators, in order. The first writer gets an answer to its commit; the next two writers of its id
 * fence.
 */
async function askedOfThree(answers: (Error | 'done')[], end: object = commit, limitMs = 5_000) {
  const { said, find } = cluster((request) => {
    const answer = request === 'end' ? (answers.shift() ?? 'done') : 'done'
    if (answer !== 'done') throw answer
    return answer
  })
  const doubts: Doubts = new Set()
  const ask = async (work: (coordinator: Coordinator) => Promise<unknown>): Promise<string> => {
    const requests = new TransactionRequests(limitMs, {}, doubts)
    await requests
      .run(async () => work(await find()))
      .catch((error) => said.push(error.name === 'Error' ? error.type : error.name))
    const asked = said.splice(0).filter((each) => !each.startsWith('find'))
    return asked.map((each) => each.replace('1 ', '')).join(' ')
  }
  const first = await ask((coordinator) => coordinator.endTxn(end))
  const fence = (coordinator: Coordinator) => coordinator.initProducerId({ transactionalId: 'id' })
  return [first, await ask(fence), await ask(fence)]
}

test('the next writer of the id sends an unanswered commit again, before the fence', async () => {
  const closed = 'KafkaJSConnectionClosedError'
  expect(await askedOfThree(['done'])).toEqual(['end', 'init', 'init'])
  expect(await askedOfThree([lost(), 'done'])).toEqual([`end ${closed}`, 'end init', 'init'])
  // A writer that gets no answer either does not fence, because the fence would abort the rest of a transaction that may be
  // partly committed.
  expect(await askedOfThree([lost(), lost(), 'done'])).toEqual([`end ${closed}`, `end ${closed}`, 'end init'])
  // Another writer has fenced, or the coordinator has aborted the transaction.
  for (const type of ['INVALID_PRODUCER_EPOCH', 'INVALID_TXN_STATE', 'INVALID_PRODUCER_ID_MAPPING'])
    expect(await askedOfThree([lost(), refusal(type)])).toEqual([`end ${closed}`, 'end init', 'init'])
})

test('a coordinator with a temporary error may have logged the commit, and so may one with a failure', async () => {
  const unavailable = refusal('GROUP_COORDINATOR_NOT_AVAILABLE')
  expect(await askedOfThree([unavailable, 'done'], commit, 0)).toEqual([`end ${unavailable.message}`, 'end init', 'init'])
  expect(await askedOfThree([unavailable, unavailable], commit, 0)).toEqual([
    `end ${unavailable.message}`,
    `end ${unavailable.message}`,
    'end init',
  ])
  const failed = refusal('UNKNOWN')
  expect(await askedOfThree([failed, failed, 'done'])).toEqual(['end UNKNOWN', 'end end init', 'init'])
  // The request may fail in this way forever. The fence waits no longer than a transaction may take.
  expect(await askedOfThree([failed, failed], commit, 0)).toEqual(['end UNKNOWN', 'end init', 'init'])
})

test('a final refusal, and an abort, leave nothing to repeat', async () => {
  expect(await askedOfThree([refusal('INVALID_PRODUCER_EPOCH')])).toEqual(['end INVALID_PRODUCER_EPOCH', 'init', 'init'])
  const abort = { ...commit, transactionResult: false }
  expect(await askedOfThree([lost()], abort)).toEqual(['end KafkaJSConnectionClosedError', 'init', 'init'])
})

test('an endless refusal is reported when the transaction times out', async () => {
  const { find } = cluster(() => {
    throw refusal('CONCURRENT_TRANSACTIONS')
  })
  const requests = new TransactionRequests(20)
  await expect(requests.run(async () => (await find()).endTxn({}))).rejects.toMatchObject({ type: 'CONCURRENT_TRANSACTIONS' })
})

test('if one partition is refused, each is added separately and fails for its own reason', async () => {
  const { said, find } = cluster((_, topics) => {
    if (topics.length > 1) throw refusal('OPERATION_NOT_ATTEMPTED')
    if (topics[0] === 'out/0') throw refusal('TOPIC_AUTHORIZATION_FAILED')
  })
  const requests = new TransactionRequests(1_000)
  await requests.run(async () => {
    requests.begin(places)
    await (await find()).addPartitionsToTxn(topic('state', 1))
    await expect((await find()).addPartitionsToTxn(topic('out', 0))).rejects.toThrow('TOPIC_AUTHORIZATION_FAILED')
  })
  expect(said.filter((each) => each.includes('add'))).toEqual(['1 add out/0,3 state/1', '1 add state/1', '1 add out/0'])
})

test('the fence is sent when it is permitted, with a connection to the first written partition', async () => {
  const { said, find } = cluster()
  const { promise: mayFence, resolve } = Promise.withResolvers<void>()
  const requests = new TransactionRequests(1_000, { mayFence: () => mayFence, first: { topic: 'state', partition: 0 } })
  const fenced = requests.run(async () => (await find()).initProducerId({}))
  await new Promise(setImmediate)
  expect(said).toEqual(['find 1', 'learn state'])
  resolve()
  await fenced
  expect(said.at(-1)).toBe('1 init')
  const refused = new TransactionRequests(1_000, { mayFence: () => Promise.reject(new Error('no member')) })
  await expect(refused.run(async () => (await find()).initProducerId({}))).rejects.toThrow('no member')
  expect(said.filter((each) => each === '1 init')).toHaveLength(1)
})

test('a temporarily refused fence is repeated only while it is still permitted', async () => {
  let [nowMs, asked] = [0, 0]
  const { said, find } = cluster(() => {
    nowMs += 200
    throw refusal('CONCURRENT_TRANSACTIONS')
  })
  const mayFence = async (): Promise<void> => {
    if (++asked === 3) throw new Error('no member any more')
  }
  const requests = new TransactionRequests(15_000, { mayFence }, new Set(), () => nowMs)
  await expect(requests.run(async () => (await find()).initProducerId({}))).rejects.toThrow('no member any more')
  // Two requests with each permission. By then the permission has expired.
  expect(said.filter((each) => each === '1 init')).toHaveLength(4)
})

test('a closed writer sends nothing more, and its repetitions end', async () => {
  const refused = Promise.withResolvers<void>()
  const doubts: Doubts = new Set()
  const { said, find } = cluster(() => {
    refused.resolve()
    throw refusal('CONCURRENT_TRANSACTIONS')
  })
  const requests = new TransactionRequests(15_000, {}, doubts)
  await requests.run(async () => {
    requests.begin(places)
    const coordinator = await find()
    const adding = coordinator.addPartitionsToTxn(topic('out', 0))
    await refused.promise
    requests.close()
    // An error that kafkajs does not retry.
    const closed = { message: 'the writer was closed', retriable: false }
    await expect(adding).rejects.toMatchObject(closed)
    const count = said.length
    await expect(coordinator.endTxn({ transactionResult: true })).rejects.toMatchObject(closed)
    await expect(find()).rejects.toMatchObject(closed)
    expect(said).toHaveLength(count)
  })
  // A fence does not repeat a commit that was never requested.
  expect(doubts.size).toBe(0)
})

test('requests of others, and coordinators of groups, are not changed', async () => {
  const { said, find } = cluster()
  await find()
  await new TransactionRequests(1_000).run(async () => {
    await find(0)
    await find(0)
  })
  await find()
  expect(said).toEqual(['find 1', 'find 1', 'find 1', 'find 1'])
})
