/** Commands to one run. */
import type { FastifyInstance } from 'fastify'
import { stateWords } from '../../../streams/text/index.ts'
import { DuelogError } from '../../errors/index.ts'
import type { JobView } from '../../ports/index.ts'
import type { AuditAction } from '../audit-trail/index.ts'
import type { ApiContext } from '../context/index.ts'
import { runIdOf } from '../http/index.ts'
import { Commands, keyOf, type RunWait } from '../jobs/index.ts'
import { cancelRunSchema, redriveRunSchema, retryRunSchema } from '../schemas/index.ts'
import { notKept } from './dead-letter-routes.ts'

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
      if (!isActive(job)) {
        const left = hasLeft(job, runNo)
        if (left !== undefined) throw left
        // It may be a repeat of an executed command: only the owner knows.
        if (key === undefined) throw notActive(jobId, runNo)
      }
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

/** An untracked run that the workers have cannot be cancelled. */
function hasLeft({ id, definition, runNo: lastRunNo }: JobView, runNo: number): DuelogError | undefined {
  if (definition?.trackRuns !== false || runNo < 1 || runNo > lastRunNo) return undefined
  const text = `Run ${runIdOf(id, runNo)} was handed to the workers and cannot be cancelled, because trackRuns of the job is false.`
  return new DuelogError('not-tracked', `${text} POST /v1/jobs/{id}/cancel prevents further runs.`)
}

const notActive = (jobId: string, runNo: number): DuelogError =>
  new DuelogError('not-found', `There is no active run ${runIdOf(jobId, runNo)}, or it is older than the runs that are kept.`)
