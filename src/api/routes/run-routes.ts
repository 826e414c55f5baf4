/** Runs: the active runs of all jobs; for one job its active and last ended runs. */
import type { FastifyInstance } from 'fastify'
import type { Execution, RunStatus } from '../../../schemas/index.ts'
import { partitionOf } from '../../../streams/topics/index.ts'
import { DuelogError } from '../../errors/index.ts'
import { type Asker, executionToJson, type JobQueries, type JobView } from '../../ports/index.ts'
import type { ApiContext } from '../context/index.ts'
import type { Role } from '../guards/index.ts'
import {
  activeRunToJson,
  checkedId,
  deadRunToJson,
  finishedRunToJson,
  runIdOf,
  runsFor,
  runsOf,
  shownTo,
  whileAsked,
} from '../http/index.ts'
import { jobNotFound, listJobs, runsWith } from '../jobs/index.ts'
import { ReadConsistency } from '../owners/index.ts'
import { getRunSchema, listActiveRunsSchema, listRunsSchema } from '../schemas/index.ts'

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
        const execution = query.input || isOnlyDead(job, runs, runNo) ? await inputOf(jobs, partition, jobId, runNo) : undefined
        return { job, runs, execution }
      }
      const found = await reading.find(partition, read, ({ runs, execution }) => execution !== undefined || hasRun(runs, runNo))
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

/** Only the input of this dead run is left, because it died under an earlier version. */
const isOnlyDead = (job: JobView | undefined, runs: Runs | undefined, runNo: number): boolean =>
  job?.deadRuns.includes(runNo) === true && !hasRun(runs, runNo)

/** An owner of an earlier version does not know the question. */
async function inputOf(jobs: JobQueries, partition: number, id: string, runNo: number): Promise<Execution | undefined> {
  try {
    return await jobs.runInput(partition, id, runNo)
  } catch (error) {
    if (error instanceof DuelogError && error.code === 'not-found') return undefined
    throw error
  }
}

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
    (finished && (given === undefined ? shown.finished(finished) : given(finishedRunToJson(id, finished, true)))) ??
    (execution && deadRuns.includes(runNo) ? given?.(deadRunToJson(execution)) : undefined)
  if (run === undefined) return undefined
  const { onSuccess = [], onFailure = [] } = definition ?? {}
  return { ...run, redrivable: deadRuns.includes(runNo), lastRunNo: job.runNo, onSuccess, onFailure }
}
