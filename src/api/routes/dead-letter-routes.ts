/** Dead runs: lists of them, and the redrive of all that a filter matches if they are few. */
import type { FastifyInstance } from 'fastify'
import { partitionOf } from '../../../streams/topics/index.ts'
import { DuelogError } from '../../errors/index.ts'
import type { JobQueries, JobView } from '../../ports/index.ts'
import type { ApiContext } from '../context/index.ts'
import type { Role } from '../guards/index.ts'
import {
  checkedId,
  deadRunToJson,
  executionToJson,
  finishedRunToJson,
  runIdOf,
  runsFor,
  runsOf,
  shownTo,
  whileAsked,
} from '../http/index.ts'
import { BulkRedrive, cursorAfter, deadJobs, listJobs } from '../jobs/index.ts'
import { ReadConsistency } from '../owners/index.ts'
import {
  deadLetterJobsAtOnce,
  deadLetterSchema,
  deadLettersSchema,
  listBytesMax,
  listLimitMax,
  redriveManySchema,
  redriveMax,
} from '../schemas/index.ts'

interface DeadFilter {
  tag?: string
  handler?: string
}

export function deadLetterRoutes(instance: FastifyInstance, { owners, partitions, writes, lists }: ApiContext): void {
  instance.get<{ Querystring: DeadFilter & { limit: number; cursor?: string; stale?: boolean } }>(
    '/v1/dead-letters',
    { config: { role: 'viewer' }, schema: deadLettersSchema },
    async (request, reply) => {
      const { limit, cursor, stale, ...filter } = request.query
      const reading = new ReadConsistency(owners, stale)
      const wanted = { filter: { ...filter, dead: true }, limit, cursor }
      const page = await whileAsked(request, reply, (asker) =>
        lists.run(() => listDeadRuns(reading, partitions, { ...wanted, asker }, request.role), asker),
      )
      return { ...page, ...(reading.mark(reply) && { stale: reading.stale }) }
    },
  )

  instance.get<{ Params: { jobId: string; runNo: number } }>(
    '/v1/dead-letters/:jobId/:runNo',
    { config: { role: 'viewer' }, schema: deadLetterSchema },
    async (request) => {
      const { jobId, runNo } = request.params
      const partition = partitionOf(checkedId(jobId), partitions)
      const question = (owner: JobQueries) => Promise.all([owner.runs(partition, jobId), owner.deadRun(partition, jobId, runNo)])
      const isThere = ([, execution]: Awaited<ReturnType<typeof question>>): boolean => execution !== undefined
      const [runs, execution] = (await new ReadConsistency(owners).find(partition, question, isThere)) ?? []
      if (execution === undefined) {
        const detail = `There is no dead run ${runIdOf(jobId, runNo)}: it was redriven, or it is older than the last ten of its job.`
        throw new DuelogError('not-found', detail)
      }
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
          return lists.run(() => listJobs(reading, partitions, wanted), asker)
        }
        let more = false
        for (const job of await deadJobs(pageAfter, filter)) more = (await redrive.of(job, max - redrive.asked)) || more
        return more
      })
      const { runIds, left } = await redrive.outcome()
      request.audited = { done: runIds.length }
      return reply.code(202).send({ runIds, left, more })
    },
  )
}

/** The dead runs of one page of jobs, cut after the job with which they reach the size limit of a page. */
async function listDeadRuns(
  reading: ReadConsistency,
  partitions: number,
  wanted: Parameters<typeof listJobs>[2],
  role: Role | null,
) {
  const page = await listJobs(reading, partitions, wanted)
  const runs: ShownRun[] = []
  let size = 0
  for (let at = 0; at < page.jobs.length; at += deadLetterJobsAtOnce) {
    wanted.asker?.signal?.throwIfAborted()
    const some = page.jobs.slice(at, at + deadLetterJobsAtOnce)
    const more = (await Promise.all(some.map((job) => deadRunsOf(reading, job, role)))).flat()
    runs.push(...more)
    for (const { errors } of more) for (const { message } of errors) size += String(message).length
    const last = page.jobs[at + deadLetterJobsAtOnce - 1]
    if (size > listBytesMax && last !== undefined && last !== page.jobs.at(-1)) return { runs, cursor: cursorAfter(last.id) }
  }
  return { runs, cursor: page.cursor ?? null }
}

type ShownRun = Record<string, unknown> & { errors: readonly Record<string, unknown>[] }

/** Newest first. */
async function deadRunsOf(reading: ReadConsistency, job: JobView, role: Role | null): Promise<ShownRun[]> {
  const { partition, id, deadRuns } = job
  const shown = runsOf(role, id, job)
  const runs = await reading.ask(partition, (jobs) => jobs.runs(partition, id))
  const ended = new Map(runs?.finished.map((run) => [run.runNo, run]))
  const found: ShownRun[] = []
  for (const runNo of deadRuns.toReversed()) {
    const run = ended.get(runNo)
    // More runs have ended since than are kept. Inputs may be large, so they are read one at a time.
    const execution = run === undefined ? await reading.ask(partition, (jobs) => jobs.deadRun(partition, id, runNo)) : undefined
    if (run !== undefined) found.push(shown.finished(run) as ShownRun)
    else if (execution !== undefined) found.push(deadRunToJson(execution) as ShownRun)
  }
  return found
}
