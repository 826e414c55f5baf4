/** Runs: the active runs of all jobs; for one job its active and last ended runs, and the wait for the end of one; dead runs. */
import type { FastifyInstance } from 'fastify'
import type { Execution, RunStatus } from '../../../../schemas/index.ts'
import { partitionOf } from '../../../../streams/topics/index.ts'
import { DuelogError } from '../../../ground/errors/index.ts'
import type { Asker, AwaitedRun, JobQueries, JobView } from '../../../ground/ports/index.ts'
import type { ApiContext } from '../context/index.ts'
import type { Role } from '../guards/index.ts'
import {
  activeRunToJson,
  checkedId,
  executionToJson,
  finishedRunToJson,
  runIdOf,
  runsFor,
  runsOf,
  shownTo,
  timeOf,
  whileAsked,
} from '../http/index.ts'
import { jobNotFound, listDeadRuns, listJobs, runsWith } from '../jobs/index.ts'
import { ReadConsistency } from '../owners/index.ts'
import {
  awaitRunSchema,
  deadLetterSchema,
  deadLettersSchema,
  getRunSchema,
  listActiveRunsSchema,
  listRunsSchema,
} from '../schemas/index.ts'

type Runs = NonNullable<Awaited<ReturnType<JobQueries['runs']>>>

interface StaleQuery {
  stale?: boolean
}
interface ActiveQuery extends StaleQuery {
  state?: RunStatus
  tag?: string
  handler?: string
  limit: number
  cursor?: string
}

export function runRoutes(instance: FastifyInstance, { owners, partitions, lists, clock }: ApiContext): void {
  const config = { role: 'viewer' } as const
  instance.get<{ Querystring: ActiveQuery }>('/v1/runs', { config, schema: listActiveRunsSchema }, async (request, reply) => {
    const { state, limit, cursor, stale, ...filter } = request.query
    const wanted = { ...filter, active: true, ...(state !== undefined && { runStatus: state }) }
    const reading = new ReadConsistency(owners, stale)
    const list = (asker: Asker) => listJobs(reading, partitions, { filter: wanted, limit, cursor, asker }, clock)
    const page = await whileAsked(request, reply, (asker) => lists.run(() => list(asker), asker))
    const runs = page.jobs.flatMap((job) => {
      const shown = runsOf(request.role, job.id, job)
      const wished = job.active.filter(({ status }) => state === undefined || status === state)
      return wished.map(shown.active)
    })
    return { runs, cursor: page.cursor ?? null, ...(reading.mark(reply) && { stale: reading.stale }) }
  })

  instance.get<{ Params: { id: string }; Querystring: StaleQuery }>(
    '/v1/jobs/:id/runs',
    { config, schema: listRunsSchema },
    async (request, reply) => {
      const { id } = request.params
      const { query } = request
      const partition = partitionOf(checkedId(id), partitions)
      const reading = new ReadConsistency(owners, query.stale)
      // The definition has the target, and the values to hide from a viewer.
      const [runs, job] = await Promise.all([
        reading.find(partition, (jobs) => jobs.runs(partition, id)),
        reading.find(partition, (jobs) => jobs.job(partition, id)),
      ])
      reading.mark(reply)
      if (runs === undefined) throw jobNotFound(id)
      const shown = runsOf(request.role, id, job)
      return { runs: [...runs.active.map(shown.active), ...runs.finished.map(shown.finished)] }
    },
  )

  instance.get<{ Params: { jobId: string; runNo: number }; Querystring: StaleQuery & { input: boolean } }>(
    '/v1/runs/:jobId/:runNo',
    { config, schema: getRunSchema },
    async ({ params: { jobId, runNo }, query, role }, reply) => {
      const partition = partitionOf(checkedId(jobId), partitions)
      const reading = new ReadConsistency(owners, query.stale)
      const read = async (jobs: JobQueries) => {
        const [job, runs] = await Promise.all([jobs.job(partition, jobId), runsWith(jobs, partition, jobId, runNo)])
        const execution = query.input ? await jobs.runInput(partition, jobId, runNo) : undefined
        return { job, runs, execution }
      }
      const found = await reading.find(partition, read, ({ runs }) => hasRun(runs, runNo))
      reading.mark(reply)
      if (found?.runs === undefined || found.job === undefined) throw jobNotFound(jobId)
      const detail = runDetailOf(role, { ...found, job: found.job, runs: found.runs }, runNo)
      if (detail !== undefined) return { ...detail, ...(query.input && { input: inputToJson(role, found.execution) }) }
      throw new DuelogError('not-found', `There is no run ${runIdOf(jobId, runNo)}, or it is older than the runs that are kept.`)
    },
  )
}

const hasRun = (runs: Runs | undefined, runNo: number): boolean =>
  [...(runs?.active ?? []), ...(runs?.finished ?? [])].some((run) => run.runNo === runNo)

const inputToJson = (role: Role | null, execution: Execution | undefined) =>
  execution === undefined ? null : shownTo(role, executionToJson(execution))

interface FoundRun {
  job: JobView
  runs: Runs
  execution: Execution | undefined
}

/** One run with its stack. If its input is known, that says what to hide from a viewer. */
function runDetailOf(role: Role | null, { job, runs, execution }: FoundRun, runNo: number) {
  const { id, deadRuns, definition } = job
  const isIt = (run: { runNo: number }): boolean => run.runNo === runNo
  const shown = runsOf(role, id, job, true)
  const given = execution && runsFor(role, executionToJson(execution))
  const [active, finished] = [runs.active.find(isIt), runs.finished.find(isIt)]
  const run =
    (active && (given === undefined ? shown.active(active) : given(activeRunToJson(id, active, true)))) ??
    (finished && (given === undefined ? shown.finished(finished) : given(finishedRunToJson(id, finished, true))))
  if (run === undefined) return undefined
  const { onSuccess = [], onFailure = [] } = definition ?? {}
  return { ...run, redrivable: deadRuns.includes(runNo), lastRunNo: job.runNo, onSuccess, onFailure }
}

interface AwaitQuery {
  runNo?: number
  commandId?: string
  etag?: string
  timeoutMs: number
}

/** Throws `bad-request` unless exactly one of them is given, and for an ETag of another partition, which is that of another job. */
function awaitedOf({ runNo, commandId, etag }: Omit<AwaitQuery, 'timeoutMs'>, partition: number): AwaitedRun {
  const given = [runNo, commandId, etag].filter((value) => value !== undefined)
  if (given.length !== 1) throw new DuelogError('bad-request', 'Give exactly one of runNo, commandId and etag.')
  if (runNo !== undefined) return { runNo }
  if (commandId !== undefined) return { commandId }
  const [, place, offset] = /^"?(\d+)\.(\d+)"?$/.exec(etag ?? '') ?? []
  if (Number(place) === partition) return { specOffset: Number(offset) }
  throw new DuelogError('bad-request', `The ETag ${etag} is not of this job: its partition is ${partition}.`)
}

export function runEndRoutes(instance: FastifyInstance, { partitions, runEnds }: ApiContext): void {
  instance.get<{ Params: { id: string }; Querystring: AwaitQuery }>(
    '/v1/jobs/:id/result',
    { config: { role: 'viewer' }, schema: awaitRunSchema },
    async (request, reply) => {
      const id = checkedId(request.params.id)
      const { timeoutMs, ...awaited } = request.query
      const partition = partitionOf(id, partitions)
      return runEnds.wait(request, reply, partition, id, awaitedOf(awaited, partition), timeoutMs)
    },
  )
}

interface DeadFilter {
  tag?: string
  handler?: string
}
interface ListQuery extends DeadFilter {
  idPrefix?: string
  from?: string
  to?: string
  errorType?: string
  errorKind?: string
  limit: number
  cursor?: string
  stale?: boolean
}

export function deadLetterRoutes(instance: FastifyInstance, { owners, partitions, lists }: ApiContext): void {
  instance.get<{ Querystring: ListQuery }>(
    '/v1/dead-letters',
    { config: { role: 'viewer' }, schema: deadLettersSchema },
    async (request, reply) => {
      const { limit, cursor, stale, from, to, ...rest } = request.query
      const reading = new ReadConsistency(owners, stale)
      const filter = {
        ...rest,
        ...(from !== undefined && { diedFrom: timeOf('from', from) }),
        ...(to !== undefined && { diedTo: timeOf('to', to) }),
      }
      const wanted = { filter, limit, cursor, harmlessOnly: request.role === 'viewer' }
      const page = await whileAsked(request, reply, (asker) =>
        lists.run(() => listDeadRuns(reading, partitions, { ...wanted, asker }), asker),
      )
      return {
        runs: page.runs.map(({ place, job, run }) => runsOf(request.role, place.jobId, job).finished(run)),
        ...{
          cursor: page.cursor,
          total: page.total,
          dropped: page.dropped,
          kinds: page.kinds.map(({ newestAt: _, ...kind }) => kind),
        },
        ...(reading.mark(reply) && { stale: reading.stale }),
      }
    },
  )

  instance.get<{ Params: { jobId: string; runNo: number } }>(
    '/v1/dead-letters/:jobId/:runNo',
    { config: { role: 'viewer' }, schema: deadLetterSchema },
    async (request) => {
      const { jobId, runNo } = request.params
      const partition = partitionOf(checkedId(jobId), partitions)
      const question = (owner: JobQueries) =>
        Promise.all([runsWith(owner, partition, jobId, runNo), owner.deadRun(partition, jobId, runNo)])
      const isThere = ([, execution]: Awaited<ReturnType<typeof question>>): boolean => execution !== undefined
      const [runs, execution] = (await new ReadConsistency(owners).find(partition, question, isThere)) ?? []
      const run = runs?.finished.find((finished) => finished.runNo === runNo)
      if (execution === undefined || run === undefined) throw notKept(jobId, runNo)
      const given = executionToJson(execution)
      const shown = runsFor(request.role, given)
      return { run: shown(finishedRunToJson(jobId, run, true)), execution: shownTo(request.role, given) }
    },
  )
}

export function notKept(jobId: string, runNo: number): DuelogError {
  const text = `There is no dead run ${runIdOf(jobId, runNo)}: it was redriven or discarded, or there was no room to keep it.`
  return new DuelogError('not-found', text)
}
