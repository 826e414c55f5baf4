/**
 * A client that an existing generator makes from the API description can use every path, and every answer matches the
 * description.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { generateSource } from 'oazapfts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Operation, Operations } from '../../src/ground/ports/operations.ts'
import type { HistoryQueries, KnownPause, PauseControl } from '../../src/ground/ports/roles.ts'
import type { OpenApiDocument } from '../../src/server/api/openapi/document.ts'
import { endedRun } from '../history/runs.ts'
import { atNoon, createSystem, execution, finishedRun, type MemorySystem, memoryCodec } from './system-in-memory.ts'

type Call = (...given: unknown[]) => Promise<{ status: number; data: unknown; headers: Headers }>

const id = 'reports/2030 ü'
const ndjson = { headers: { 'Content-Type': 'application/x-ndjson' } }
/** Of the only worker in memory. */
const worker = 'w@h:1:b'
/** Each operation with its arguments and the expected status, in an order that works. */
const calls: [operation: string, given: unknown[], status: number][] = [
  ['putJob', [id, atNoon, { wait: 'applied' }], 200],
  ['putJob', [id, { ...atNoon, priority: 'HIGH' }, { ifMatch: '*' }], 200],
  ['createJob', [atNoon, {}], 201],
  ['writeJobs', [`${JSON.stringify({ id: 'line', ...atNoon })}\n`, {}, ndjson], 200],
  [
    'planJobs',
    [
      {
        jobs: [
          { id, ...atNoon },
          { id: 'new', schedule: { cron: '@daily' }, target: { handler: 'noop' } },
        ],
      },
    ],
    200,
  ],
  ['getJob', [id], 200],
  ['getJob', ['nowhere'], 404],
  ['listJobs', [{ status: 'ACTIVE', limit: 10, dueBefore: '2032-01-01T00:00:00Z' }], 200],
  ['explainJob', [id], 200],
  ['triggerJob', [id, { payload: { now: true } }], 202],
  ['pauseJob', [id], 200],
  ['resumeJob', [id, {}], 200],
  ['backfillJob', [id, { from: '2029-01-01T00:00:00Z', to: '2029-02-01T00:00:00Z' }], 200],
  ['countBackfill', [id, { from: '2029-01-01T00:00:00Z', to: '2029-02-01T00:00:00Z' }], 200],
  ['cancelBackfill', [id], 200],
  ['skipNext', [id, { at: '2031-01-01T00:00:00Z' }], 200],
  ['listActiveRuns', [{ state: 'RUNNING' }], 200],
  ['listRuns', [id], 200],
  ['getRun', [id, 1], 200],
  ['cancelRun', [id, 1], 200],
  ['cancelJob', [id], 200],
  ['listDeadLetters', [{ limit: 5 }], 200],
  ['getDeadLetter', ['dead', 3], 200],
  ['redriveRun', ['dead', 3], 202],
  ['previewSchedule', [{ schedule: { everyMs: 1_000 }, count: 3 }], 200],
  ['getForecast', [{ horizonMs: 60_000, buckets: 6 }], 200],
  ['listDueJobs', [{ from: '2030-01-01T00:00:00Z', limit: 5 }], 200],
  ['retryRun', ['dead', 3], 404],
  ['listWorkers', [], 200],
  ['pauseWorker', [worker], 200],
  ['drainWorker', [worker], 200],
  ['resumeWorker', [worker], 200],
  ['listPools', [], 200],
  ['pausePool', ['default'], 200],
  ['drainPool', ['default'], 200],
  ['resumePool', ['default'], 200],
  ['listLimits', [], 200],
  ['listPartitions', [], 200],
  ['getProof', [], 200],
  ['acknowledgeFaults', [{ upTo: '2030-01-01T00:00:00Z', reason: 'planned' }], 200],
  ['getSeries', [{ range: 'hour' }], 200],
  ['getSession', [], 200],
  ['awaitRun', ['dead', { runNo: 3, timeoutMs: 1_000 }], 200],
  ['getRunLogs', ['dead', 3, { limit: 5 }], 200],
  ['createOperation', [{ action: 'PAUSE', filter: { tag: 'eu' } }, {}], 202],
  ['countOperation', [{ action: 'PAUSE', filter: { tag: 'eu' } }], 200],
  ['listOperations', [{ active: true }], 200],
  ['getOperation', ['op-1'], 200],
  ['cancelOperation', ['op-1', {}], 202],
  ['listHistory', [{ outcome: 'DEAD', limit: 5 }], 200],
  ['countHistory', [{ bucketMs: 3_600_000 }], 200],
  ['listHandlers', [{}], 200],
  ['getSettings', [], 200],
  ['listAudit', [{ limit: 2 }], 200],
  ['deleteJob', [id, { ifMatch: '*' }], 204],
  ['getMetrics', [], 200],
  ['getLiveness', [], 200],
  ['getReadiness', [], 200],
  ['getOpenApi', [], 200],
]

/** An operation that is under way. */
const operation: Operation = {
  id: 'op-1',
  createdAt: 5,
  cancel: undefined,
  request: {
    ...{ action: 'PAUSE', jobIds: null, runIds: null, tag: 'eu', handler: null, status: null, idPrefix: null },
    ...{
      idContains: null,
      runStatus: null,
      ...{ diedFrom: null, diedTo: null, errorType: null, errorKind: null },
      actor: null,
      payload: null,
      payloadIsJson: false,
    },
  },
  progress: {
    ...{
      status: 'RUNNING',
      total: 3,
      applied: 1,
      refused: 1,
      parts: [],
      startedAt: 6,
      effectiveAt: 7,
      endedAt: null,
      problem: null,
    },
    ...{ driver: 'w@h:1:b', reasons: [{ reason: 'It is COMPLETED.', code: 'completed', count: 1, example: 'a' }] },
  },
}
const operations: Operations = {
  create: async () => operation,
  count: async () => 3,
  get: async () => operation,
  list: async () => [operation],
  cancel: async () => operation,
}
const known: KnownPause[] = []
const pauses: PauseControl = {
  all: () => known,
  pause: async (pause) => void known.splice(0, known.length, { ...pause, at: 5 }),
  resume: async () => void known.splice(0, known.length),
}
const history: HistoryQueries = {
  page: async () => ({ runs: [endedRun({ errorType: 'T', errorMessage: 'm' })], next: null, searchedTo: null }),
  counts: async () => ({ buckets: [{ at: 0, outcomes: { DEAD: 1 } }], countedFrom: null }),
  handlers: async () => [{ handler: 'h', outcomes: { DEAD: 1 }, duration: { p50Ms: 1, p95Ms: 2 }, lateness: null }],
}

let system: MemorySystem
let document: OpenApiDocument
let folder: string
let client: Record<string, Call> & { defaults: { baseUrl: string } }

beforeAll(async () => {
  const ranges = { range: async () => ({ from: 0, to: 0 }), read: async () => expect.fail(), close: async () => {} }
  system = createSystem({ operations, history, pauses, runLogs: { ranges, codec: memoryCodec() } })
  const url = await system.api.listen('127.0.0.1', 0)
  document = (await system.api.instance.inject('/openapi.json')).json()
  // The folder is inside the project, so that the client finds its runtime.
  folder = await mkdtemp(join(fileURLToPath(new URL('../../node_modules', import.meta.url)), '.generated-client-'))
  await writeFile(join(folder, 'openapi.json'), JSON.stringify(document))
  const source = await generateSource(join(folder, 'openapi.json'))
  await writeFile(join(folder, 'client.mjs'), stripTypeScriptTypes(source))
  client = await import(/* @vite-ignore */ pathToFileURL(join(folder, 'client.mjs')).href)
  client.defaults.baseUrl = url
  system.add('dead', { deadRuns: [3], runNo: 3 })
  system.owner.executions.set('dead/3', execution('dead', 3, { payload: Buffer.from('{}'), contentType: 'application/json' }))
  system.owner.finished.set('dead', [{ ...finishedRun(3), status: 'DEAD' }])
})
afterAll(async () => {
  await system.api.stop()
  await rm(folder, { recursive: true, force: true })
})

describe('a generated client', () => {
  const answered = new Map<string, Awaited<ReturnType<Call>>[]>()

  it('reaches every path', async () => {
    for (const [operation, given, status] of calls) {
      const call = client[operation]
      expect(call, operation).toBeTypeOf('function')
      const answer = await (call as Call)(...given)
      expect([operation, answer.status, answer.status === status ? '' : answer.data]).toEqual([operation, status, ''])
      // The generator treats a single line as JSON.
      if (operation === 'writeJobs') answer.data = JSON.stringify(answer.data)
      answered.set(operation, [...(answered.get(operation) ?? []), answer])
    }
    const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods))
    // This client cannot use an answer without an end; dashboard.test.ts tests it.
    const ending = operations.filter(({ operationId }) => operationId !== 'listenEvents')
    expect([...answered.keys()].sort()).toEqual(ending.map(({ operationId }) => operationId).sort())
  })

  it('decodes the answers as described', () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false })
    ajv.addSchema(document, 'api')
    for (const [path, methods] of Object.entries(document.paths)) {
      for (const [method, { operationId }] of Object.entries(methods)) {
        for (const { status, data, headers } of answered.get(String(operationId)) ?? []) {
          const type = headers.get('content-type')?.split(';')[0]
          if (status === 204) continue
          const place = [path, method, 'responses', status < 400 ? String(status) : 'default', 'content', String(type), 'schema']
          const pointer = place.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')
          const fits = ajv.compile({ $ref: `api#/paths/${pointer}` })
          expect([operationId, fits(data) ? [] : fits.errors]).toEqual([operationId, []])
        }
      }
    }
  })
})
