/** Runs: the active ones of all jobs; of one job the active ones and the last that ended. */
import type { FastifyInstance } from 'fastify'
import type { RunStatus } from '../../schemas/generated.ts'
import { partitionOf } from '../../streams/topics.ts'
import { DuelogError } from '../errors.ts'
import type { ApiContext } from './context.ts'
import { checkedId } from './definition-body.ts'
import { listJobs } from './job-list.ts'
import { jobNotFound } from './job-writes.ts'
import { getRunSchema, listActiveRunsSchema, listRunsSchema } from './schemas/runs.ts'
import { activeRunToJson, finishedRunToJson, runIdOf } from './views.ts'

interface ActiveQuery {
  state?: RunStatus
  tag?: string
  handler?: string
  limit: number
  cursor?: string
}

export function runRoutes(instance: FastifyInstance, { owners, partitions }: ApiContext): void {
  const config = { role: 'viewer' } as const
  const runsOf = async (id: string) => {
    const partition = partitionOf(checkedId(id), partitions)
    const runs = await owners.ask(partition, (owner) => owner.runs(partition, id))
    if (runs === undefined) throw jobNotFound(id)
    return runs
  }

  instance.get<{ Querystring: ActiveQuery }>('/v1/runs', { config, schema: listActiveRunsSchema }, async (request) => {
    const { state, limit, cursor, ...filter } = request.query
    const wanted = { ...filter, active: true, ...(state !== undefined && { runStatus: state }) }
    const page = await listJobs(owners, partitions, { filter: wanted, limit, cursor })
    const runs = page.jobs.flatMap(({ id, active }) =>
      active.filter(({ status }) => state === undefined || status === state).map((run) => activeRunToJson(id, run)),
    )
    return { runs, cursor: page.cursor ?? null }
  })

  instance.get<{ Params: { id: string } }>('/v1/jobs/:id/runs', { config, schema: listRunsSchema }, async (request) => {
    const { id } = request.params
    const { active, finished } = await runsOf(id)
    return { runs: [...active.map((run) => activeRunToJson(id, run)), ...finished.map((run) => finishedRunToJson(id, run))] }
  })

  instance.get<{ Params: { jobId: string; runNo: number } }>(
    '/v1/runs/:jobId/:runNo',
    { config, schema: getRunSchema },
    async (request) => {
      const { jobId, runNo } = request.params
      const { active, finished } = await runsOf(jobId)
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
