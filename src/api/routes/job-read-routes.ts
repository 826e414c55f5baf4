/** Reads of jobs: one, why it fired or did not, and lists. */
import type { FastifyInstance } from 'fastify'
import type { FinishedRun, JobStatus } from '../../../schemas/index.ts'
import type { Reason } from '../../../streams/jobs/index.ts'
import { partitionOf } from '../../../streams/topics/index.ts'
import type { ApiContext } from '../context/index.ts'
import type { Role } from '../guards/index.ts'
import { checkedId, etagOf, jobToJson, runsOf, timeOf, whileAsked, whyToJson } from '../http/index.ts'
import { chainText, cyclesInForce, jobNotFound, listJobs, missingWarning } from '../jobs/index.ts'
import { ReadConsistency, serviceReasonsOf } from '../owners/index.ts'
import { cycleJobsMax, getJobSchema, listJobsSchema, whySchema } from '../schemas/index.ts'

interface ListQuery {
  status?: JobStatus
  tag?: string
  handler?: string
  dueBefore?: string
  idPrefix?: string
  idContains?: string
  active?: boolean
  limit: number
  cursor?: string
  stale?: boolean
}
interface StaleRead {
  Params: { id: string }
  Querystring: { stale?: boolean }
}

export function jobReadRoutes(instance: FastifyInstance, context: ApiContext): void {
  const { owners, partitions, writes, lists, clock } = context
  const read = { role: 'viewer' } as const

  instance.get<StaleRead>('/v1/jobs/:id', { config: read, schema: getJobSchema }, async (request, reply) => {
    const id = checkedId(request.params.id)
    const reading = new ReadConsistency(owners, request.query.stale)
    const job = await writes.current(id, reading)
    // No write may be based on a stale read.
    const isStale = reading.mark(reply)
    if (job === undefined) throw jobNotFound(id)
    if (!isStale) void reply.header('etag', etagOf(job))
    return jobToJson(job, request.role, clock.nowMs())
  })

  instance.get<StaleRead>('/v1/jobs/:id/why', { config: read, schema: whySchema }, async (request, reply) => {
    const id = checkedId(request.params.id)
    const reading = new ReadConsistency(owners, request.query.stale)
    const why = await writes.why(id, reading)
    const waits = why?.reasons.some(({ code }) => code === 'active' || code === 'handler-missing') === true
    const job = waits ? await writes.current(id, reading) : undefined
    reading.mark(reply)
    if (why === undefined) throw jobNotFound(id)
    const ofWorkers = job === undefined ? [] : await serviceReasonsOf(job, context)
    const cycles = cyclesInForce({ owners, partitions }, cycleJobsMax)
    const missing = await cycles.missing(id)
    const ofFollowers = missing.length === 0 ? [] : [{ code: 'no-follower', text: missingWarning(missing), at: null }]
    const isChain = why.reasons.some(({ code }) => code.startsWith('chain-'))
    const cycle = isChain ? chainText(await cycles.through(id)) : ''
    const reasons = (await withErrors(id, why.reasons, reading, request.role)).map((reason) =>
      reason.code.startsWith('chain-') ? { ...reason, text: `${reason.text} ${cycle}` } : reason,
    )
    return whyToJson(id, { ...why, reasons: [...ofWorkers, ...ofFollowers, ...reasons] })
  })

  instance.get<{ Querystring: ListQuery }>('/v1/jobs', { config: read, schema: listJobsSchema }, async (request, reply) => {
    const { limit, cursor, dueBefore, stale, ...filter } = request.query
    const due = dueBefore === undefined ? {} : { dueBefore: timeOf('dueBefore', dueBefore) }
    const reading = new ReadConsistency(owners, stale)
    const wanted = { filter: { ...filter, ...due }, limit, cursor }
    const { page, jobs } = await whileAsked(request, reply, (asker) =>
      lists.run(async () => {
        const page = await listJobs(reading, partitions, { ...wanted, asker }, clock)
        return { page, jobs: page.jobs.map((job) => jobToJson(job, request.role, clock.nowMs())) }
      }, asker),
    )
    return { jobs, searched: page.searched, cursor: page.cursor ?? null, ...(reading.mark(reply) && { stale: reading.stale }) }
  })

  /** The reasons with the last error of each dead run that is still kept, as the caller may see it. */
  async function withErrors(id: string, reasons: Reason[], reading: ReadConsistency, role: Role | null): Promise<Reason[]> {
    if (reasons.every(({ deadRunNo }) => deadRunNo === undefined)) return reasons
    const partition = partitionOf(id, partitions)
    const [runs, job] = await Promise.all([
      reading.find(partition, (jobs) => jobs.runs(partition, id)),
      reading.find(partition, (jobs) => jobs.job(partition, id)),
    ])
    const shown = runsOf(role, id, job)
    return reasons.map((reason) => {
      const run = runs?.finished.find(({ runNo }) => runNo === reason.deadRunNo)
      const error = run === undefined ? undefined : (shown.finished(run).errors as FinishedRun['errors']).at(-1)
      return error === undefined
        ? reason
        : { ...reason, text: `${reason.text} Its last error was ${error.type}: ${error.message}` }
    })
  }
}
