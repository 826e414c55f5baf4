/** Lines that a run has written. */
import type { FastifyInstance } from 'fastify'
import type { FinishedRun } from '../../../../schemas/index.ts'
import { partitionOf } from '../../../../streams/topics/index.ts'
import { DuelogError } from '../../../ground/errors/index.ts'
import type { ActiveRunView } from '../../../ground/ports/index.ts'
import type { ApiContext } from '../context/index.ts'
import { checkedId, runIdOf, runsOf, timeOf, whileAsked } from '../http/index.ts'
import { runsWith } from '../jobs/index.ts'
import { ReadConsistency } from '../owners/index.ts'
import { runLogAfterMs, runLogBeforeMs, runLogsSchema } from '../schemas/index.ts'

interface LogsRequest {
  Params: { id: string; runNo: number }
  Querystring: { limit: number; cursor?: string; from?: string; to?: string; stale?: boolean }
}

export function runLogRoutes(instance: FastifyInstance, { owners, partitions, runLogs }: ApiContext): void {
  instance.get<LogsRequest>(
    '/v1/jobs/:id/runs/:runNo/logs',
    { config: { role: 'viewer' }, schema: runLogsSchema },
    async (request, reply) => {
      const { limit, cursor, from, to, stale } = request.query
      const { runNo } = request.params
      const jobId = checkedId(request.params.id)
      const given = {
        from: from === undefined ? undefined : timeOf('from', from),
        to: to === undefined ? undefined : timeOf('to', to),
      }
      const partition = partitionOf(jobId, partitions)
      const reading = new ReadConsistency(owners, stale)
      const isIt = (run: { runNo: number }): boolean => run.runNo === runNo
      // The state of the run is read before the end of the topic: lines of a run that has ended are all there.
      const [runs, job] = await Promise.all([
        reading.find(
          partition,
          (jobs) => runsWith(jobs, partition, jobId, runNo),
          (found) => [...found.active, ...found.finished].some(isIt),
        ),
        request.role === 'viewer' ? reading.find(partition, (jobs) => jobs.job(partition, jobId)) : undefined,
      ])
      const run = runs?.active.find(isIt) ?? runs?.finished.find(isIt)
      reading.mark(reply)
      const fromMs = given.from ?? (run === undefined ? undefined : firstStartOf(run) - runLogBeforeMs)
      if (fromMs === undefined)
        throw new DuelogError(
          'not-found',
          `There is no run ${runIdOf(jobId, runNo)}, or it is older than the runs that are kept. Its lines may still be there: say by from when it started.`,
        )
      const endedAt = run !== undefined && 'finishedAt' in run ? run.finishedAt : undefined
      const toMs = given.to ?? (endedAt === undefined ? undefined : endedAt + runLogAfterMs)
      const isOpen = run !== undefined && endedAt === undefined
      const wanted = {
        jobId,
        runNo,
        life: run === undefined ? '' : (runs?.life ?? ''),
        partition,
        fromMs,
        toMs,
        isOpen,
        cursor,
        limit,
      }
      const page = await whileAsked(request, reply, (asker) => runLogs.page(wanted, asker))
      const shown = runsOf(request.role, jobId, job)
      return { ...page, lines: page.lines.map((line) => shown.line(run, line)) }
    },
  )
}

/** Epoch ms: no attempt of the run started before. */
function firstStartOf(run: ActiveRunView | FinishedRun): number {
  const attempts = 'finishedAt' in run ? run.attempts : run.attempt
  if (attempts <= 1 && run.startedAt !== null) return run.startedAt
  // The state does not keep the first start. Backfills and redrives have nominal times that are long past, so they take longer.
  return Math.min(run.scheduledFor, run.startedAt ?? run.scheduledFor)
}
