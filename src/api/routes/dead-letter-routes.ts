/** Dead runs: lists of them, and the redrive of all that a filter matches if they are few. */
import type { FastifyInstance } from 'fastify'
import { partitionOf } from '../../../streams/topics/index.ts'
import { DuelogError } from '../../errors/index.ts'
import { type DeadRun, executionToJson, type JobQueries } from '../../ports/index.ts'
import type { ApiContext } from '../context/index.ts'
import type { Role } from '../guards/index.ts'
import {
  checkedId,
  deadRunToJson,
  finishedRunToJson,
  runIdOf,
  runsFor,
  runsOf,
  shownTo,
  timeOf,
  whileAsked,
} from '../http/index.ts'
import { BulkRedrive, deadJobs, listDeadRuns, listJobs, runsWith } from '../jobs/index.ts'
import { ReadConsistency } from '../owners/index.ts'
import { deadLetterSchema, deadLettersSchema, listLimitMax, redriveManySchema, redriveMax } from '../schemas/index.ts'

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

export function deadLetterRoutes(instance: FastifyInstance, { owners, partitions, writes, lists, clock }: ApiContext): void {
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
        runs: page.runs.flatMap((run) => deadRunJson(run, request.role)),
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
      if (execution === undefined) throw notKept(jobId, runNo)
      const ended = runs?.finished.find((finished) => finished.runNo === runNo)
      const run = ended === undefined ? deadRunToJson(execution) : finishedRunToJson(jobId, ended, true)
      const given = executionToJson(execution)
      const shown = runsFor(request.role, given)
      return { run: shown(run), execution: shownTo(request.role, given) }
    },
  )

  instance.post<{ Body: (DeadFilter & { max: number }) | null | undefined }>(
    '/v1/dead-letters/redrive',
    { config: { role: 'operator', audit: 'REDRIVE_MANY' }, schema: redriveManySchema },
    async (request, reply) => {
      const { max = redriveMax, ...filter } = request.body ?? {}
      const redrive = new BulkRedrive({ writes, owners }, request.actor)
      const reading = new ReadConsistency(owners)
      const more = await whileAsked(request, reply, async (asker) => {
        const pageAfter = (cursor: string | undefined): ReturnType<typeof listJobs> => {
          const wanted = { filter: { ...filter, dead: true }, limit: listLimitMax, cursor, asker }
          return lists.run(() => listJobs(reading, partitions, wanted, clock), asker)
        }
        let more = false
        for (const job of await deadJobs(pageAfter, filter)) more = (await redrive.of(job, max - redrive.asked)) || more
        return more
      })
      const { runIds, left } = await redrive.outcome()
      request.audited = { done: runIds.length, filter }
      return reply.code(202).send({ runIds, left, more })
    },
  )
}

function deadRunJson({ place, job, run, input }: DeadRun, role: Role | null) {
  if (run !== null) return runsOf(role, place.jobId, job).finished(run)
  return input === null ? [] : deadRunToJson(input)
}

export function notKept(jobId: string, runNo: number): DuelogError {
  const text = `There is no dead run ${runIdOf(jobId, runNo)}: it was redriven or discarded, or there was no room to keep it.`
  return new DuelogError('not-found', text)
}
