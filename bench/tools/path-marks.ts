/**
 * Notes when each job passes the requests to Kafka, in a process that is started with NODE_OPTIONS=--import=<this file>. Nothing of
 * the program knows about it. Times are of the machine's steady clock, which all its processes share.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe } from 'node:diagnostics_channel'
import { createRequire } from 'node:module'
import { BatchProducer } from '../../src/log/kafka/client/produce.ts'
import { FencedWriter } from '../../src/log/kafka/client/transactional-writer.ts'
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
  produceSent?: number
  produced?: number
  endSent?: number
  ended?: number
  /** Answers that refused something for a moment, mostly because the previous transaction was ending. */
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

/** An answer to one of our own requests (src/log/kafka/client). */
interface Answer {
  fetched: { topic: string; records: { key: Buffer | null }[] }[]
  error?: string
  answers: { error: string | undefined }[]
}
interface Connections {
  send(request: { request: { apiName: string } }): Promise<Answer>
}

const marks = new Map<string, Marks>()
/** The marks of the transaction that the running code is in. */
const transactions = new AsyncLocalStorage<Marks>()

function marksOf(id: string): Marks {
  let found = marks.get(id)
  if (found === undefined) {
    found = {}
    marks.set(id, found)
  }
  return found
}

/** Whether it is the topic of that name, or one of its pools, with any prefix. */
const isTopic = (topic: string, name: string): boolean => topic.endsWith(`.${name}`) || topic.includes(`.${name}.`)

function fetched(answer: Answer, asked: number): void {
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

function noted(name: string, of: Marks, answer: Answer, sent: number): void {
  const now = steadyMs()
  if (name === 'EndTxn') Object.assign(of, { endSent: of.endSent ?? sent, ended: now })
  if (name === 'Produce') Object.assign(of, { produceSent: of.produceSent ?? sent, produced: now })
  if (answer.error !== undefined || answer.answers?.some(({ error }) => error !== undefined)) of.refusals = (of.refusals ?? 0) + 1
}

function watchAll(): void {
  const { prototype } = createRequire(import.meta.url)('kafkajs/src/network/connectionPool.js') as { prototype: Connections }
  const { send } = prototype
  prototype.send = async function (this: Connections, request) {
    const { apiName } = request.request
    const sent = steadyMs()
    const transaction = transactions.getStore()
    if (transaction !== undefined) transaction.transactionBegun ??= sent
    const answer = await send.call(this, request)
    if (apiName === 'Fetch') fetched(answer, sent)
    if (transaction !== undefined) noted(apiName, transaction, answer, sent)
    return answer
  }
  const { commit } = FencedWriter.prototype
  FencedWriter.prototype.commit = async function (this: FencedWriter, records, group) {
    const transaction: Marks = {}
    const offsets = await transactions.run(transaction, () => commit.call(this, records, group))
    const { transactionBegun, ended } = transaction
    for (const { topic, key } of records)
      if (isTopic(topic, 'executions')) Object.assign(marksOf(String(key)), transaction)
      else if (isTopic(topic, 'job-state') && key?.[0] === prefix.state)
        Object.assign(marksOf(jobIdOfKey(key as Buffer)), { stateBegun: transactionBegun, stateLogged: ended })
    return offsets
  }
  const { produce } = BatchProducer.prototype
  BatchProducer.prototype.produce = async function (this: BatchProducer, rounds, endMs) {
    const reportSent = steadyMs()
    const offsets = await produce.call(this, rounds, endMs)
    const reports = rounds.flat().filter(({ topic }) => isTopic(topic, 'execution-events'))
    for (const { key } of reports.flatMap(({ records }) => records))
      Object.assign(marksOf(String(key)), { reportSent, reportAcknowledged: steadyMs() })
    return offsets
  }
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
