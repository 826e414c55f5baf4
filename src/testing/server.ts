/** The HTTP API of a test system: the product's own over the simulated log. Requests reach it without a socket, and their answers take no virtual time. */
import { Readable } from 'node:stream'
import { topicPlans } from '../../streams/topics/index.ts'
import { DuelogError } from '../ground/errors/index.ts'
import type { Fetch } from '../ground/network/index.ts'
import type { RangeReader } from '../ground/ports/index.ts'
import { PauseBook } from '../log/pauses/index.ts'
import { codecs, metrics, names, type Processes } from './processes.ts'
import type { MemoryLog } from './simulation/index.ts'

export interface ServerParts {
  processes: Processes
  log: MemoryLog
  pools: readonly string[]
  /** Topics of users that jobs may write to. Undefined: all. */
  topics: readonly string[] | undefined
}

export interface Server {
  pauses: PauseBook
  fetch: Fetch
}

export async function openServer({ processes, log: memory, pools, topics }: ServerParts): Promise<Server> {
  const [{ createApi, createAuditTrail, operationLimits }, { createOperations }, { memoryHistory }] = await loaded()
  const { machine, log, instance } = processes.machine('api')
  const { clock } = machine
  const { logger, owner: owners } = processes
  const { partitions } = memory
  const [writer, admin, ranges] = [await log.writer(), await log.admin(), rangesOf(memory)]
  const shared = { log, admin, codecs: codecs(), names, partitions, owners, instance, clock, metrics: metrics(), logger, writer }
  const pauses = new PauseBook({ ...shared, codec: codecs().pause })
  const operations = createOperations({ ...shared, limits: operationLimits }, writer)
  // Its sweeps take steps, so it starts with the first operation.
  const create = operations.create.bind(operations)
  let start = (): void => {
    start = () => {}
    operations.start()
  }
  operations.create = (...given) => {
    start()
    return create(...given)
  }
  const plans = topicPlans(names, pools)
  const { instance: server } = createApi({
    ...{ ...shared, operations, pauses, topics: plans, inProcess: true, ratePerSecond: 0 },
    trail: createAuditTrail({ ...shared, codec: codecs().audit }),
    history: memoryHistory({ ...shared, codec: codecs().endedRun, ranges }),
    runLogs: { ranges, codec: codecs().runLog },
    existingTopics: topics && (async () => [...topics, ...plans.map(({ topic }) => topic)]),
    health: () => ({ live: true, ready: true, reasons: [] }),
  })
  await server.ready()
  let requests = 0
  return {
    pauses,
    async fetch(url, { method = 'GET', headers, body, signal } = {}) {
      const { pathname, search } = new URL(url)
      // Ids that the API would draw at random: a seed repeats them.
      const key = method === 'POST' && { 'idempotency-key': `test-${++requests}` }
      const {
        statusCode: status,
        rawPayload,
        headers: answered,
      } = await server.inject({
        ...{ method: method as 'GET', url: `${pathname}${search}`, headers: { ...key, ...headers } },
        // A text would be passed on by setImmediate, which fake timers of a test framework replace.
        payload: Readable.from(typeof body === 'string' ? [Buffer.from(body)] : (body ?? [])),
        ...(signal && { signal }),
      })
      const pairs = Object.entries(answered).map(([name, value]): [string, string] => [name, String(value)])
      return new Response(status === 204 ? null : new Uint8Array(rawPayload), { status, headers: pairs })
    },
  }
}

/** At the first use: unit tests with fakeRun need none of it. Rejects with `bad-config`. */
async function loaded() {
  try {
    return await Promise.all([
      import('../server/api/index.ts'),
      import('../server/operations/index.ts'),
      import('../server/history/index.ts'),
    ])
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ERR_MODULE_NOT_FOUND') throw error
    const text = 'testSystem needs the packages fastify and ajv; install them with `npm install --save-dev fastify ajv`.'
    throw new DuelogError('bad-config', text, { cause: error })
  }
}

/** Reads committed records. */
function rangesOf(log: MemoryLog): RangeReader {
  return {
    async range({ topic, partition }, fromMs, toMs = Number.POSITIVE_INFINITY) {
      const { entries, next } = log.at(topic, partition)
      const since = (ms: number): number => entries.find(({ at }) => at >= ms)?.offset ?? next
      return { from: since(fromMs), to: since(toMs) }
    },
    read: async ({ topic, partition, offset }, bytesMax) =>
      log.at(topic, partition).read(offset, Number.POSITIVE_INFINITY, bytesMax),
    close: async () => {},
  }
}
