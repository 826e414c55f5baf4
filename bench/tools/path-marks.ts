/**
 * Notes when each job passes the requests to Kafka, in a process that is started with NODE_OPTIONS=--import=<this file>. Nothing of
 * the program knows about it. Times are of the machine's steady clock, which all its processes share.
 */
import { subscribe } from 'node:diagnostics_channel'
import { createRequire } from 'node:module'
import { jobIdOfKey, prefix } from '../../streams/state/keys.ts'

/** Published with a job id when its handler starts (child.ts). */
export const startChannel = 'duelog-bench:start'

/** Times of one job in one process, in ms. */
export interface Marks {
  /** The fetch request was sent whose answer has the definition. */
  definitionAsked?: number
  definitionFetched?: number
  /** The first request of the transaction that dispatches the job was sent. */
  transactionBegun?: number
  partitionsAdded?: number
  produceSent?: number
  produced?: number
  endSent?: number
  ended?: number
  /** How often the coordinator refused to add partitions, because the previous transaction was ending. */
  refusals?: number
  executionAsked?: number
  executionFetched?: number
  started?: number
  /** The last report of the run: sent by the worker, acknowledged by the broker, fetched by the owner. */
  reportSent?: number
  reportAcknowledged?: number
  reportFetched?: number
  /** The last transaction that logs the state of the job: its first request was sent, and its end was acknowledged. */
  stateBegun?: number
  stateLogged?: number
}

export const steadyMs = (): number => Number(process.hrtime.bigint()) / 1e6

/** An answer to our own fetch (src/log/kafka/client/fetch.ts). */
interface Fetched {
  fetched: { topic: string; records: { key: Buffer | null }[] }[]
}
interface Connections {
  send(request: { request: { apiName: string } }): Promise<Fetched>
}
interface Produced {
  transactionalId?: string
  topicData: { topic: string; partitions: { messages: { key: Buffer | string | null }[] }[] }[]
}
type Send<Request, Answer> = (request: Request) => Promise<Answer>
interface Broker {
  produce: Send<Produced, unknown>
  addPartitionsToTxn: Send<{ transactionalId: string }, unknown>
  endTxn: Send<{ transactionalId: string }, unknown>
}

const marks = new Map<string, Marks>()
interface Transaction {
  marks: Marks
  /** Jobs that it dispatches, and jobs whose state it logs. */
  jobs: string[]
  states: string[]
}
/** The open transaction of each id. */
const transactions = new Map<string, Transaction>()

function marksOf(id: string): Marks {
  let found = marks.get(id)
  if (found === undefined) {
    found = {}
    marks.set(id, found)
  }
  return found
}

function transactionOf(id: string): Transaction {
  let found = transactions.get(id)
  if (found === undefined) {
    found = { marks: {}, jobs: [], states: [] }
    transactions.set(id, found)
  }
  return found
}

/** Whether it is the topic of that name, or one of its pools, with any prefix. */
const isTopic = (topic: string, name: string): boolean => topic.endsWith(`.${name}`) || topic.includes(`.${name}.`)

function fetched(answer: Fetched, asked: number): void {
  const now = steadyMs()
  for (const { topic, records } of answer.fetched) {
    const isDefinition = isTopic(topic, 'jobs')
    const isReport = isTopic(topic, 'execution-events')
    if (!isDefinition && !isReport && !isTopic(topic, 'executions')) continue
    for (const { key } of records) {
      if (key === null) continue
      const of = marksOf(key.toString())
      if (isReport) of.reportFetched = now
      else if (isDefinition) Object.assign(of, { definitionAsked: asked, definitionFetched: now })
      else Object.assign(of, { executionAsked: asked, executionFetched: now })
    }
  }
}

/** A write without a transaction: notes the reports in it. */
async function reported(request: Produced, usual: Broker['produce']): Promise<unknown> {
  const sent = steadyMs()
  const answer = await usual(request)
  const acknowledged = steadyMs()
  for (const { topic, partitions } of request.topicData)
    if (isTopic(topic, 'execution-events'))
      for (const { messages } of partitions)
        for (const { key } of messages)
          Object.assign(marksOf(String(key)), { reportSent: sent, reportAcknowledged: acknowledged })
  return answer
}

/** Replaces a method of kafkajs's broker by one that also takes notes. */
function watched<Name extends keyof Broker>(name: Name, watch: (usual: Broker[Name]) => Broker[Name]): void {
  const { prototype } = createRequire(import.meta.url)('kafkajs/src/broker/index.js') as { prototype: Broker }
  const usual = prototype[name]
  prototype[name] = function (this: Broker, ...args: Parameters<Broker[Name]>) {
    return (watch(usual.bind(this) as Broker[Name]) as (...of: unknown[]) => unknown)(...args)
  } as Broker[Name]
}

function watchAll(): void {
  const { prototype } = createRequire(import.meta.url)('kafkajs/src/network/connectionPool.js') as { prototype: Connections }
  const { send } = prototype
  prototype.send = async function (this: Connections, request) {
    const asked = steadyMs()
    const answer = await send.call(this, request)
    if (request.request.apiName === 'Fetch') fetched(answer, asked)
    return answer
  }
  watched('addPartitionsToTxn', (usual) => async (request) => {
    const { marks: of } = transactionOf(request.transactionalId)
    of.transactionBegun ??= steadyMs()
    try {
      const answer = await usual(request)
      of.partitionsAdded = steadyMs()
      return answer
    } catch (error) {
      of.refusals = (of.refusals ?? 0) + 1
      throw error
    }
  })
  watched('produce', (usual) => async (request) => {
    if (!request.transactionalId) return reported(request, usual)
    const transaction = transactionOf(request.transactionalId)
    transaction.marks.produceSent = steadyMs()
    for (const { topic, partitions } of request.topicData)
      if (isTopic(topic, 'executions'))
        for (const { messages } of partitions) for (const { key } of messages) transaction.jobs.push(String(key))
      else if (isTopic(topic, 'job-state'))
        for (const { messages } of partitions)
          for (const { key } of messages) if (key?.[0] === prefix.state) transaction.states.push(jobIdOfKey(key as Buffer))
    const answer = await usual(request)
    transaction.marks.produced = steadyMs()
    return answer
  })
  watched('endTxn', (usual) => async (request) => {
    const transaction = transactionOf(request.transactionalId)
    transaction.marks.endSent = steadyMs()
    const answer = await usual(request)
    transaction.marks.ended = steadyMs()
    transactions.delete(request.transactionalId)
    for (const job of transaction.jobs) Object.assign(marksOf(job), transaction.marks)
    const { transactionBegun, ended } = transaction.marks
    for (const job of transaction.states) Object.assign(marksOf(job), { stateBegun: transactionBegun, stateLogged: ended })
    return answer
  })
}

// Imported by a case, it only gives it the names.
if (process.send !== undefined && process.env.BENCH_PATH_MARKS === '1') {
  watchAll()
  subscribe(startChannel, (jobId) => {
    marksOf(jobId as string).started ??= steadyMs()
  })
  process.on('message', (message) => {
    if (message === 'marks') process.send?.({ kind: 'marks', marks: Object.fromEntries(marks) })
  })
}
