/** Commands to one job or one run. Each answers when the owner has applied it, so that its effect can be reported. */
import type { FastifyInstance } from 'fastify'
import { readPayload } from '../../../../streams/definitions/index.ts'
import { isoTime, notAllowed, type Problem, stateWords } from '../../../../streams/text/index.ts'
import { DuelogError } from '../../../ground/errors/index.ts'
import type { JobView } from '../../../ground/ports/index.ts'
import type { AuditAction } from '../audit-trail/index.ts'
import type { ApiContext } from '../context/index.ts'
import { askerOf, RequestError, runIdOf, timeOf } from '../http/index.ts'
import { Commands, keyOf, type RunWait } from '../jobs/index.ts'
import {
  backfillCountMax,
  backfillSchema,
  cancelBackfillSchema,
  cancelJobSchema,
  cancelRunSchema,
  clientAheadMsMax,
  countBackfillSchema,
  pauseSchema,
  redriveRunSchema,
  resumeSchema,
  retryRunSchema,
  skipSchema,
  triggerSchema,
} from '../schemas/index.ts'
import { notKept } from './run-routes.ts'

interface Command {
  Params: { id: string }
  Body: { payload?: unknown; payloadBase64?: string } | null | undefined
}
interface Backfill {
  Params: { id: string }
  Body: { from: string | number; to: string | number }
}

const simple = [
  ['PAUSE', pauseSchema],
  ['RESUME', resumeSchema],
  ['CANCEL', cancelJobSchema],
] as const

export function commandRoutes(instance: FastifyInstance, context: ApiContext): void {
  const config = (audit: AuditAction) => ({ role: 'operator', audit }) as const
  const commands = new Commands(context)

  instance.post<Command & { Querystring: RunWait }>(
    '/v1/jobs/:id/trigger',
    { config: config('TRIGGER'), schema: triggerSchema },
    async (request, reply) => {
      const job = await commands.existing(request.params.id)
      const payload = payloadOf(request.body, job)
      return commands.makeRun(request, reply, job.id, 'TRIGGER', { payload, actor: request.actor })
    },
  )

  for (const [type, schema] of simple) {
    instance.post<Command>(`/v1/jobs/:id/${type.toLowerCase()}`, { config: config(type), schema }, async (request, reply) => {
      const job = await commands.existing(request.params.id)
      return commands.carryOut(job.id, type, { actor: request.actor }, reply, keyOf(request))
    })
  }

  instance.post<{ Params: { id: string }; Body: { at?: string | number } | null | undefined }>(
    '/v1/jobs/:id/skip',
    { config: config('SKIP'), schema: skipSchema },
    async (request, reply) => {
      const { id, nextFireAt } = await commands.existing(request.params.id)
      const given = request.body?.at
      const from = given === undefined ? nextFireAt : timeOf('at', given)
      if (from === null) throw new DuelogError('command-refused', `Job ${JSON.stringify(id)} has no next occurrence.`)
      return commands.carryOut(id, 'CANCEL_RUN', { from, actor: request.actor }, reply, keyOf(request))
    },
  )

  instance.post<Backfill>(
    '/v1/jobs/:id/backfill',
    { config: config('BACKFILL'), schema: backfillSchema },
    async (request, reply) => {
      const job = await commands.existing(request.params.id)
      const range = pastRange(request.body, context.clock.nowMs())
      return commands.carryOut(job.id, 'BACKFILL', { ...range, actor: request.actor }, reply, keyOf(request))
    },
  )

  instance.post<Backfill>(
    '/v1/jobs/:id/backfill/count',
    { config: { role: 'viewer' }, schema: countBackfillSchema },
    async (request, reply) => {
      const { definition, anchorAt } = await commands.existing(request.params.id)
      if (definition === undefined)
        throw new DuelogError('command-refused', 'The definition of the job cannot be read. Define it again.')
      const range = { ...pastRange(request.body, context.clock.nowMs()), max: backfillCountMax }
      const count = await context.calculator.run('countBackfill', () => [definition, anchorAt, range], askerOf(request, reply))
      const { first, last, ...counted } = count
      return { ...counted, first: timeOrNull(first), last: timeOrNull(last) }
    },
  )

  instance.post<Command>(
    '/v1/jobs/:id/backfill/cancel',
    { config: config('CANCEL_BACKFILL'), schema: cancelBackfillSchema },
    async (request, reply) => {
      const job = await commands.existing(request.params.id)
      const key = keyOf(request)
      return commands.carryOut(job.id, 'BACKFILL', { discard: true, actor: request.actor }, reply, key && `end ${key}`)
    },
  )
}

const timeOrNull = (at: number | null) => (at === null ? null : isoTime(at))

/** A time that the client calls now may be a little ahead of the server. */
function pastRange(body: Backfill['Body'], now: number): { from: number; to: number } {
  const [from, to] = [timeOf('from', body.from), timeOf('to', body.to)]
  if (to <= from) throw new RequestError('bad-request', [notAllowed('to', body.to, 'a time after from')])
  if (to > now + clientAheadMsMax)
    throw new RequestError('bad-request', [
      notAllowed('to', body.to, 'a time that is not in the future; later occurrences fire by themselves'),
    ])
  return { from, to: Math.min(to, now) }
}

/** The payload is read like the job's own, so that its media type stays true. */
function payloadOf(body: Command['Body'], job: JobView): Buffer | null {
  const problems: Problem[] = []
  const { payload } = readPayload({ ...body, contentType: job.definition?.contentType ?? undefined }, problems)
  if (problems.length > 0) throw new RequestError('bad-request', problems)
  return payload as Buffer | null
}

interface OneRun {
  Params: { jobId: string; runNo: number }
}

export function runCommandRoutes(instance: FastifyInstance, context: ApiContext): void {
  const config = (audit: AuditAction) => ({ role: 'operator', audit }) as const
  const commands = new Commands(context)

  instance.post<OneRun>(
    '/v1/runs/:jobId/:runNo/cancel',
    { config: config('CANCEL_RUN'), schema: cancelRunSchema },
    async (request, reply) => {
      const { jobId, runNo } = request.params
      const isActive = ({ active }: JobView): boolean => active.some((run) => run.runNo === runNo)
      const job = await commands.existing(jobId, isActive)
      const key = keyOf(request)
      // With a key it may be a repeat of an executed command: only the owner knows.
      if (key === undefined && !isActive(job)) throw notActive(jobId, runNo)
      return commands.carryOut(job.id, 'CANCEL_RUN', { runNo, actor: request.actor }, reply, key)
    },
  )

  instance.post<OneRun>(
    '/v1/runs/:jobId/:runNo/retry',
    { config: config('RETRY_RUN'), schema: retryRunSchema },
    async (request, reply) => {
      const { jobId, runNo } = request.params
      const stateIn = ({ active }: JobView) => active.find((run) => run.runNo === runNo)?.status
      const job = await commands.existing(jobId, (found) => stateIn(found) === 'RETRY_WAIT')
      const key = keyOf(request)
      const state = stateIn(job)
      if (key === undefined && state === undefined) throw notActive(jobId, runNo)
      if (key === undefined && state !== 'RETRY_WAIT') {
        const text = `Run ${runIdOf(jobId, runNo)} ${stateWords(state ?? '')} and does not wait for a retry.`
        throw new DuelogError('command-refused', text)
      }
      return commands.carryOut(job.id, 'REDRIVE', { runNo, actor: request.actor }, reply, key)
    },
  )

  instance.post<OneRun & { Querystring: RunWait }>(
    '/v1/runs/:jobId/:runNo/redrive',
    { config: config('REDRIVE'), schema: redriveRunSchema },
    async (request, reply) => {
      const { jobId, runNo } = request.params
      const isDead = ({ deadRuns }: JobView): boolean => deadRuns.includes(runNo)
      const job = await commands.existing(jobId, isDead)
      const key = keyOf(request)
      if (key === undefined && !isDead(job)) throw notKept(jobId, runNo)
      return commands.makeRun(request, reply, job.id, 'REDRIVE', { runNo, actor: request.actor })
    },
  )
}

const notActive = (jobId: string, runNo: number): DuelogError =>
  new DuelogError('not-found', `There is no active run ${runIdOf(jobId, runNo)}, or it is older than the runs that are kept.`)
