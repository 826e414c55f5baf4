/**
 * The calls of a client over HTTP that ask one thing of the API each: what programs pass is checked, and what is not there is undefined.
 * Jobs become JSON here, alone or as lines of a batch.
 */

import { jsonOfValue } from '../../../streams/definitions/index.ts'
import { JsonText, writeJson } from '../../../streams/text/index.ts'
import { type Api, type Given, type Instant, type JobDefinition, pagesOf, type Schedule } from '../../ground/answers/index.ts'
import { DuelogError, messageOf } from '../../ground/errors/index.ts'
import { checkedCommand, checkedFilter, checkedId, checkedName, checkedRunNo, checkedSkip } from './call-checks.ts'
import type { Client } from './client.ts'
import type { Job } from './job.ts'

/** Items of one request for a list. */
export const pageSize = 500

/** Reads of jobs and runs, and of what is planned. */
export const readCalls = (api: Api) =>
  ({
    get: async (id) => found(api.getJob({ id: checkedId(id) })),
    async *list(options) {
      const { dueBefore, ...filter } = checkedFilter(options)
      yield* itemsOf(
        (page) => api.listJobs({ ...filter, dueBefore: timeText(dueBefore), ...page }),
        ({ jobs }) => jobs,
      )
    },
    runs: async (id) => (await api.listRuns({ id: checkedId(id) })).runs,
    run: async (id, runNo) => found(api.getRun(runOf('run', id, runNo))),
    why: async (id) => api.explainJob({ id: checkedId(id) }),
    activeRuns: (filter) =>
      itemsOf(
        (page) => api.listActiveRuns({ ...(filter as Given<'listActiveRuns'>), ...page }),
        ({ runs }) => runs,
      ),
    history: (filter) =>
      itemsOf(
        (page) => api.listHistory({ ...withTexts(filter), ...page }),
        ({ runs }) => runs,
      ),
    historyCounts: async (filter) => api.countHistory(withTexts(filter)),
    handlers: async (range) => api.listHandlers(withTexts(range)),
    deadLetters: (filter) =>
      itemsOf(
        (page) => api.listDeadLetters({ ...filter, ...page }),
        ({ runs }) => runs,
      ),
    deadLetter: async (id, runNo) => found(api.getDeadLetter(runOf('deadLetter', id, runNo))),
    countBackfill: async (id, range) => api.countBackfill({ id: checkedId(id), body: range }),
    preview: async (schedule, options) =>
      (await api.previewSchedule({ body: { schedule: schedule as Schedule, ...options } })).fires,
    plan: async (jobs: readonly object[], options?: object) =>
      api.planJobs({ body: { jobs: jobs.map((job) => withJsonPayload(job) as JobDefinition), ...options } }),
    forecast: async (range) => api.getForecast(withTexts(range)),
    dueJobs: async (range) => api.listDueJobs({ ...range, from: String(range.from) }),
  }) satisfies Partial<Client>

/** Commands to jobs, runs and operations, but for those that make a run. */
export const commandCalls = (api: Api) =>
  ({
    pause: async (id, options) => api.pauseJob({ id: checkedId(id), ...checkedCommand('pause', options) }),
    resume: async (id, options) => api.resumeJob({ id: checkedId(id), ...checkedCommand('resume', options) }),
    cancel: async (id, options) => api.cancelJob({ id: checkedId(id), ...checkedCommand('cancel', options) }),
    skipNext: async (id, options) => {
      const { at, ...command } = checkedSkip(options)
      return api.skipNext({ id: checkedId(id), ...command, body: withJsonPayload({ at }) })
    },
    backfill: async (id, range, options) =>
      api.backfillJob({ id: checkedId(id), ...checkedCommand('backfill', options), body: withJsonPayload(range) }),
    cancelBackfill: async (id, options) =>
      api.cancelBackfill({ id: checkedId(id), ...checkedCommand('cancelBackfill', options) }),
    cancelRun: async (id, runNo, options) =>
      api.cancelRun({ ...runOf('cancelRun', id, runNo), ...checkedCommand('cancelRun', options) }),
    retryRun: async (id, runNo, options) =>
      api.retryRun({ ...runOf('retryRun', id, runNo), ...checkedCommand('retryRun', options) }),
    operate: async (request, options) =>
      api.createOperation({ ...checkedCommand('operate', options), body: withJsonPayload(request) }),
    countOperation: async (request) => (await api.countOperation({ body: request })).count,
    operation: async (id) => found(api.getOperation({ id: checkedName('operation', id) })),
    operations: async (filter) => (await api.listOperations(filter)).operations,
    cancelOperation: async (id) => api.cancelOperation({ id: checkedName('cancelOperation', id) }),
  }) satisfies Partial<Client>

/** Reads of the system, and pauses of pools and workers. */
export const systemCalls = (api: Api) =>
  ({
    workers: async () => (await api.listWorkers()).workers,
    pauseWorker: async (worker) => api.pauseWorker({ worker: checkedName('pauseWorker', worker) }),
    drainWorker: async (worker) => api.drainWorker({ worker: checkedName('drainWorker', worker) }),
    resumeWorker: async (worker) => api.resumeWorker({ worker: checkedName('resumeWorker', worker) }),
    pools: async () => (await api.listPools()).pools,
    pausePool: async (pool) => api.pausePool({ pool: checkedName('pausePool', pool) }),
    drainPool: async (pool) => api.drainPool({ pool: checkedName('drainPool', pool) }),
    resumePool: async (pool) => api.resumePool({ pool: checkedName('resumePool', pool) }),
    limits: async () => (await api.listLimits()).limits,
    partitions: async () => (await api.listPartitions()).partitions,
    series: async (range) => api.getSeries({ range: range ?? 'day' }),
    proof: async () => api.getProof(),
    audit: (filter) =>
      itemsOf(
        (page) => api.listAudit({ ...withTexts(filter), ...page }),
        ({ records }) => records,
      ),
  }) satisfies Partial<Client>

export function runOf(call: string, id: string, runNo: number): { jobId: string; runNo: number } {
  checkedRunNo(call, runNo)
  return { jobId: checkedId(id), runNo }
}

/** Undefined for `not-found`. */
const found = <Answer>(answer: Promise<Answer>): Promise<Answer | undefined> =>
  answer.catch((error: unknown) => {
    if (error instanceof DuelogError && error.code === 'not-found') return undefined
    throw error
  })

/** The items of a list, page by page while they are read. */
async function* itemsOf<Page extends { cursor: string | null }, Item>(
  read: (page: { limit: number; cursor: string | undefined }) => Promise<Page>,
  items: (page: Page) => Item[],
): AsyncGenerator<Item> {
  for await (const page of pagesOf((cursor) => read({ limit: pageSize, cursor }))) yield* items(page)
}

const timeText = (time: Instant | undefined): string | undefined => (time === undefined ? undefined : String(time))

/** The filter with its times as a query has them. */
export function withTexts<Filter extends { from?: Instant; to?: Instant }>(
  filter: Filter | undefined,
): Omit<Filter, 'from' | 'to'> & { from?: string; to?: string } {
  const { from, to, ...rest } = filter ?? ({} as Filter)
  return { ...rest, ...(from !== undefined && { from: String(from) }), ...(to !== undefined && { to: String(to) }) }
}

/** The job with its payload as the text that is sent. Throws DuelogError `bad-definition` for what JSON cannot hold as it is. */
export function withJsonPayload<Given extends object>(job: Given): Given {
  const { payload, id, ...fields }: { payload?: unknown; id?: unknown } = job ?? {}
  requireNumbers(fields, '', depthMax)
  if (payload === undefined || payload === null || payload instanceof JsonText) return job
  const text = jsonOfValue(payload)
  if (typeof text === 'string') return { ...job, payload: new JsonText(text) }
  const of = typeof id === 'string' ? ` of job ${JSON.stringify(id)}` : ''
  throw new DuelogError('bad-definition', `The payload${of} is not JSON; allowed: ${text.limit}.`)
}

/** Fields of a job are not deeper. */
const depthMax = 8

/** JSON would have null in place of NaN, Infinity and an invalid Date, and a field that is null is absent. */
function requireNumbers(value: unknown, place: string, depth: number): void {
  const wrong = value instanceof Date ? Number.isNaN(value.getTime()) : typeof value === 'number' && !Number.isFinite(value)
  if (wrong)
    throw new DuelogError(
      'bad-definition',
      `${place} is ${value instanceof Date ? 'an invalid Date' : value}; give a number or a valid time.`,
    )
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value) || depth === 0) return
  for (const [name, inner] of Object.entries(value)) requireNumbers(inner, place === '' ? name : `${place}.${name}`, depth - 1)
}

/** One line for each job. A job that JSON cannot hold becomes a line that the API refuses; `onUnwritable` gets its place and the reason. */
export async function* jobLines(
  jobs: Iterable<Job> | AsyncIterable<Job>,
  onUnwritable: (index: number, error: DuelogError) => void,
): AsyncGenerator<string> {
  let index = 0
  for await (const job of jobs) {
    yield lineOf(job, (error) => onUnwritable(index, error))
    index++
  }
}

function lineOf(job: Job, onUnwritable: (error: DuelogError) => void): string {
  try {
    return writeJson(withJsonPayload(job))
  } catch (error) {
    const reason =
      error instanceof DuelogError ? error : new DuelogError('bad-definition', `The job is not JSON: ${messageOf(error)}.`)
    onUnwritable(reason)
    return JSON.stringify({ id: typeof job?.id === 'string' ? job.id : undefined })
  }
}
