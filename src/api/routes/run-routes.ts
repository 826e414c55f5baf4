/** Runs: the active runs of all jobs; for one job its active and last ended runs. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { RunStatus } from '../../../schemas/index.ts'
import { partitionOf } from '../../../streams/topics/index.ts'
import { DuelogError } from '../../errors/index.ts'
import type { Asker, JobQueries } from '../../ports/index.ts'
import type { ApiContext } from '../context/index.ts'
import { checkedId, runIdOf, runsOf, whileAsked } from '../http/index.ts'
import { jobNotFound, listJobs } from '../jobs/index.ts'
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

export function runRoutes(instance: FastifyInstance, { owners, partitions, lists }: ApiContext): void {
  const config = { role: 'viewer' } as const
  const read = async (
    id: string,
    { role, query }: FastifyRequest<{ Querystring: StaleQuery }>,
    reply: FastifyReply,
    has?: (runs: Runs) => boolean,
  ) => {
    const partition = partitionOf(checkedId(id), partitions)
    const reading = new ReadConsistency(owners, query.stale)
    // The values to hide from a viewer are in the definition.
    const [runs, job] = await Promise.all([
      reading.find(partition, (jobs) => jobs.runs(partition, id), has),
      role === 'viewer' ? reading.find(partition, (jobs) => jobs.job(partition, id)) : undefined,
    ])
    reading.mark(reply)
    if (runs === undefined) throw jobNotFound(id)
    return { ...runs, shown: runsOf(role, id, job) }
  }

  instance.get<{ Querystring: ActiveQuery }>('/v1/runs', { config, schema: listActiveRunsSchema }, async (request, reply) => {
    const { state, limit, cursor, stale, ...filter } = request.query
    const wanted = { ...filter, active: true, ...(state !== undefined && { runStatus: state }) }
    const reading = new ReadConsistency(owners, stale)
    const list = (asker: Asker) => listJobs(reading, partitions, { filter: wanted, limit, cursor, asker })
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
      const { active, finished, shown } = await read(id, request, reply)
      return { runs: [...active.map(shown.active), ...finished.map(shown.finished)] }
    },
  )

  instance.get<{ Params: { jobId: string; runNo: number }; Querystring: StaleQuery }>(
    '/v1/runs/:jobId/:runNo',
    { config, schema: getRunSchema },
    async (request, reply) => {
      const { jobId, runNo } = request.params
      const isIt = (run: { runNo: number }): boolean => run.runNo === runNo
      const has = (runs: Runs): boolean => runs.active.some(isIt) || runs.finished.some(isIt)
      const { active, finished, shown } = await read(jobId, request, reply, has)
      const running = active.find(isIt)
      if (running !== undefined) return shown.active(running)
      const ended = finished.find(isIt)
      if (ended !== undefined) return shown.finished(ended)
      throw new DuelogError('not-found', `There is no run ${runIdOf(jobId, runNo)}, or it is older than the runs that are kept.`)
    },
  )
}
