/** Jobs: create, replace and delete one, write many in one request, read one and why it fired or did not, and lists. */
import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { FinishedRun, JobDefinition, JobStatus } from '../../../../schemas/index.ts'
import { definitionWarnings } from '../../../../streams/definitions/index.ts'
import type { Reason } from '../../../../streams/jobs/index.ts'
import { partitionOf } from '../../../../streams/topics/index.ts'
import { DuelogError } from '../../../ground/errors/index.ts'
import type { Logger } from '../../../ground/logging/index.ts'
import { type AuditAction, definitionChanges, recordOutcome } from '../audit-trail/index.ts'
import type { ApiContext } from '../context/index.ts'
import type { Role } from '../guards/index.ts'
import {
  askerOf,
  checkedId,
  conditionOf,
  definitionOf,
  etagOf,
  type JsonReader,
  jobToJson,
  keyedJobId,
  parseIfMatch,
  runsOf,
  timeOf,
  type Version,
  whileAsked,
  whyToJson,
} from '../http/index.ts'
import {
  type BatchCounts,
  batchAnswer,
  chainText,
  cyclesInForce,
  cycleWarning,
  followersOf,
  jobNotFound,
  keyOf,
  listJobs,
  missingWarning,
  runTimeout,
  type Written,
} from '../jobs/index.ts'
import { ReadConsistency, serviceReasonsOf } from '../owners/index.ts'
import {
  batchSchema,
  cycleJobsMax,
  deleteJobSchema,
  getJobSchema,
  listJobsSchema,
  postJobSchema,
  putJobSchema,
  whySchema,
} from '../schemas/index.ts'

interface OneJob {
  Params: { id: string }
  Querystring: { wait?: 'applied' | 'ended'; timeoutMs: number }
}

interface Answer {
  id: string
  version: Version & { unjudged?: boolean }
  /** If nothing is waited for, or it has come. */
  status: number
  warnings?: string[]
}

export function jobRoutes(instance: FastifyInstance, context: ApiContext): void {
  const { writes, owners, partitions, reading } = context
  const write = (audit: AuditAction) => ({ role: 'operator', audit }) as const

  /** Warnings about a limit that other partitions do not share, a cycle that the definition closes, and followers that do not exist. */
  const warningsOf = async (id: string, definition: JobDefinition): Promise<{ warnings?: string[] }> => {
    const warnings = definitionWarnings(id, definition, partitions)
    // Without followers no owner is asked.
    if (followersOf(definition).length > 0) {
      const cycles = cyclesInForce({ owners, partitions }, cycleJobsMax)
      cycles.set(id, definition)
      const { path } = await cycles.through(id)
      if (path !== undefined) warnings.push(cycleWarning(path))
      const missing = await cycles.missing(id)
      if (missing.length > 0) warnings.push(missingWarning(missing))
    }
    return warnings.length === 0 ? {} : { warnings }
  }

  instance.put<OneJob>('/v1/jobs/:id', { config: write('PUT'), schema: putJobSchema }, async (request, reply) => {
    const id = checkedId(request.params.id)
    const definition = await reading.run(() => definitionOf(request.body, id), askerOf(request, reply))
    const condition = conditionOf(request.headers)
    const { before, ...version } = await writes.put(id, definition, condition)
    request.audited = { changes: definitionChanges(before, definition) }
    // Without a condition nobody looks whether the job was there.
    const status = condition === 'none' ? 201 : 200
    return answerWritten(context, request, reply, { id, version, status, ...(await warningsOf(id, definition)) })
  })

  instance.post<Omit<OneJob, 'Params'>>(
    '/v1/jobs',
    { config: write('CREATE'), schema: postJobSchema },
    async (request, reply) => {
      const key = keyOf(request)
      const made = randomUUID()
      const definition = await reading.run(() => definitionOf(request.body, made), askerOf(request, reply))
      const id = key === undefined ? made : keyedJobId(request.actor, key, definition)
      request.audited = { jobId: id }
      const written = key === undefined ? await writes.create(id, definition) : await writes.createOnce(id, definition)
      const { created = true, ...version } = written as Written & { created?: boolean }
      if (created) request.audited.changes = definitionChanges(undefined, definition)
      void reply.header('location', `/v1/jobs/${id}`)
      return answerWritten(context, request, reply, {
        ...{ id, version, status: created ? 201 : 200 },
        ...(await warningsOf(id, definition)),
      })
    },
  )

  instance.delete<OneJob>('/v1/jobs/:id', { config: write('DELETE'), schema: deleteJobSchema }, async (request, reply) => {
    const id = checkedId(request.params.id)
    const { before, ...version } = await writes.delete(id, parseIfMatch(request.headers['if-match']))
    request.audited = { changes: definitionChanges(before, undefined) }
    return answerWritten(context, request, reply, { id, version, status: 204 })
  })
}

/** Waits if requested; the status is 202 if the wait ends first. */
async function answerWritten(
  { writes, runEnds }: ApiContext,
  request: FastifyRequest<Omit<OneJob, 'Params'>>,
  reply: FastifyReply,
  { id, version: { unjudged, ...version }, status, ...more }: Answer,
): Promise<FastifyReply> {
  const { wait, timeoutMs } = request.query
  // A condition that the owner has not judged yet is waited for as well.
  const waits = wait === 'applied' || unjudged === true
  const applied = waits && !unjudged && (await writes.applied(version.partition, { jobs: version.offset }))
  void reply.header('etag', etagOf(version))
  const answer = { id, etag: etagOf(version), partition: version.partition, offset: version.offset, applied, ...more }
  if (wait === 'ended') {
    const { ended, ...end } = await runEnds.wait(request, reply, version.partition, id, { specOffset: version.offset }, timeoutMs)
    if (!ended) return reply.code(202).send({ ...answer, ...runTimeout(timeoutMs) })
    return reply.code(status).send({ ...answer, applied: true, run: end.run, ...(end.reason !== null && { reason: end.reason }) })
  }
  if (waits && !applied) return reply.code(202).send({ ...answer, ...(await writes.timeoutOf([version.partition])) })
  if (status === 204) return reply.code(204).send()
  if (!applied) return reply.code(status).send(answer)
  const { warnings = [], ...state } = await writes.statusInForce(id, version)
  const all = [...(more.warnings ?? []), ...warnings]
  return reply.code(status).send({ ...answer, ...state, ...(all.length > 0 && { warnings: all }) })
}

export const ndjsonType = 'application/x-ndjson'

/** Register it in its own scope, because this scope accepts no other media type. */
export function batchRoutes(instance: FastifyInstance, { writes, audit, reading }: ApiContext, read: JsonReader): void {
  instance.removeAllContentTypeParsers()
  instance.addContentTypeParser(ndjsonType, (_request, body, done) => done(null, body))

  instance.post<{ Body: IncomingMessage | undefined; Querystring: { wait?: 'applied' } }>(
    '/v1/jobs/batch',
    { config: { role: 'operator', audit: 'BATCH', streams: true }, schema: batchSchema },
    async (request, reply) => {
      const encoding = request.headers['content-encoding']
      if (encoding !== undefined && encoding !== 'identity') {
        throw new DuelogError(
          'unsupported-media-type',
          `The content encoding ${encoding} is not accepted; send the lines uncompressed.`,
        )
      }
      if (request.body === undefined) {
        throw new DuelogError('unsupported-media-type', `Send the definitions as the body, with Content-Type: ${ndjsonType}.`)
      }
      const logger: Pick<Logger, 'error'> = request.log
      const onFault = (error: unknown): void =>
        logger.error({ event: 'batch-lines-not-written', err: error }, 'Lines of a batch were not written.')
      const onEnd = (counts: BatchCounts): Promise<void> => {
        request.audited = counts
        return recordOutcome(audit, request, reply, 'DONE')
      }
      void reply.type(ndjsonType)
      const { caller } = askerOf(request, reply)
      const wait = request.query.wait === 'applied'
      return reply.send(batchAnswer(request.body, { writes, read, reading, caller, wait, onFault, onEnd }))
    },
  )
}

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
