/** Runs: the active ones of all jobs; of one job the active ones and the last that ended. */
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { RunStatus } from '../../schemas/generated.ts'
import { partitionOf } from '../../streams/topics.ts'
import { DuelogError } from '../errors.ts'
import type { ApiContext } from './context.ts'
import { checkedId } from './definition-body.ts'
import { listJobs } from './job-list.ts'
import { jobNotFound } from './job-writes.ts'
import { getRunSchema, listActiveRunsSchema, listRunsSchema } from './schemas/runs.ts'
import { Reading } from './stale.ts'
import { activeRunToJson, finishedRunToJson, runIdOf } from './views.ts'

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

export function runRoutes(instance: FastifyInstance, { owners, partitions }: ApiContext): void {
  const config = { role: 'viewer' } as const
  const runsOf = async (id: string, stale: boolean | undefined, reply: FastifyReply) => {
    const partition = partitionOf(checkedId(id), partitions)
    const reading = new Reading(owners, stale)
    const runs = await reading.ask(partition, (jobs) => jobs.runs(partition, id))
    reading.mark(reply)
    if (runs === undefined) throw jobNotFound(id)
    return runs
  }

  instance.get<{ Querystring: ActiveQuery }>('/v1/runs', { config, schema: listActiveRunsSchema }, async (request, reply) => {
    const { state, limit, cursor, stale, ...filter } = request.query
    const wanted = { ...filter, active: true, ...(state !== undefined && { runStatus: state }) }
    const reading = new Reading(owners, stale)
    const page = await listJobs(reading, partitions, { filter: wanted, limit, cursor })
    const runs = page.jobs.flatMap(({ id, active }) =>
      active.filter(({ status }) => state === undefined || status === state).map((run) => activeRunToJson(id, run)),
    )
    return { runs, cursor: page.cursor ?? null, ...(reading.mark(reply) && { stale: reading.stale }) }
  })

  instance.get<{ Params: { id: string }; Querystring: StaleQuery }>(
    '/v1/jobs/:id/runs',
    { config, schema: listRunsSchema },
    async (request, reply) => {
      const { id } = request.params
      const { active, finished } = await runsOf(id, request.query.stale, reply)
      return {
        runs: [...active.map((run) => activeRunToJson(id, run)), ...finished.map((run) => finishedRunToJson(id, run))],
      }
    },
  )

  instance.get<{ Params: { jobId: string; runNo: number }; Querystring: StaleQuery }>(
    '/v1/runs/:jobId/:runNo',
    { config, schema: getRunSchema },
    async (request, reply) => {
      const { jobId, runNo } = request.params
      const { active, finished } = await runsOf(jobId, request.query.stale, reply)
      const running = active.find((run) => run.runNo === runNo)
      if (running !== undefined) return activeRunToJson(jobId, running)
      const ended = finished.find((run) => run.runNo === runNo)
      if (ended !== undefined) return finishedRunToJson(jobId, ended)
      throw new DuelogError(
        'not-found',
        `There is no run ${runIdOf(jobId, runNo)}, or it is older than the last ones that are kept.`,
      )
    },
  )
}
