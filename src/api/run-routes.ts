/** Runs of a job: the active ones and the last that ended. */
import type { FastifyInstance } from 'fastify'
import { partitionOf } from '../../streams/topics.ts'
import { DuelogError } from '../errors.ts'
import type { ApiContext } from './context.ts'
import { checkedId } from './definition-body.ts'
import { jobNotFound } from './job-writes.ts'
import { getRunSchema, listRunsSchema } from './schemas/runs.ts'
import { activeRunToJson, finishedRunToJson, runIdOf } from './views.ts'

export function runRoutes(instance: FastifyInstance, { owners, partitions }: ApiContext): void {
  const config = { role: 'viewer' } as const
  const runsOf = async (id: string) => {
    const partition = partitionOf(checkedId(id), partitions)
    const runs = await owners.ask(partition, (owner) => owner.runs(partition, id))
    if (runs === undefined) throw jobNotFound(id)
    return runs
  }

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
