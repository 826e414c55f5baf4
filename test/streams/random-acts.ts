/** The acts of operators and workers on a job, valid or not, at any time. */
import type { Cause, JobCommand } from '../../schemas/generated.ts'
import type { Chance } from '../../src/testing/simulation/chance.ts'
import type { JobHistory } from './runs/history.ts'

const randomCause: Cause = {
  ...{ jobId: 'source', runNo: 1, life: '0-0', outcome: 'DEAD', scheduledFor: 0, finishedAt: 0 },
  ...{ errorType: 'Error', errorMessage: null, result: Buffer.from('1') },
}

export function randomCommand(job: JobHistory, chance: Chance): JobCommand['type'] {
  const type = chance.pick(['TRIGGER', 'PAUSE', 'RESUME', 'RESUME', 'CANCEL', 'CANCEL_RUN', 'REDRIVE', 'BACKFILL'] as const)
  const { runNo = 1, deadRuns = [] } = job.job.state ?? {}
  const near = (): number | null => chance.pick([job.now - chance.int(-2_000, 8_000), job.now, null, -9e18, 9e18])
  job.command(type, {
    ...(type === 'TRIGGER' && chance.happens(0.5) && { payload: Buffer.from('t') }),
    ...(type === 'TRIGGER' &&
      chance.happens(0.3) && {
        trigger: 'FOLLOW_UP' as const,
        ...(chance.happens(0.3) && { commandId: 'again' }),
        ...(chance.happens(0.5) && { cause: randomCause }),
      }),
    ...((type === 'CANCEL_RUN' || type === 'REDRIVE') && {
      runNo: chance.pick([chance.int(1, Math.max(1, runNo)), deadRuns[0] ?? null, null]),
    }),
    ...(type === 'CANCEL_RUN' && chance.happens(0.3) && { runNo: null, from: job.job.state?.nextFireAt ?? near() }),
    ...(type === 'BACKFILL' && (chance.happens(0.2) ? { discard: true } : { from: near(), to: near() })),
  })
  return type
}

/** A report of some attempt, sent at some time; the attempt may have ended long before. */
export function randomReport(job: JobHistory, chance: Chance): void {
  const execution = job.sent.at(-chance.int(1, Math.min(6, job.sent.length)))
  if (execution === undefined) return
  const { runNo, attempt, specOffset } = execution
  const type = chance.pick(['STARTED', 'STARTED', 'SUCCEEDED', 'FAILED', 'FAILED', 'RELEASED', 'RETRY_DUE'] as const)
  const of = { runNo, attempt, specOffset }
  if (type !== 'FAILED') job.report(type, of)
  else {
    const retryAfterMs = chance.pick([null, 0, 500, -5, 1e300])
    job.fail(chance.happens(0.3) ? 'handler-missing' : 'Error', { retryable: chance.happens(0.8), retryAfterMs }, of)
  }
}
