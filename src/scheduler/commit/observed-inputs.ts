/** Facts of an applied input for metrics and observers. */
import type { ActiveRun } from '../../../schemas/index.ts'
import type { AttemptId, Input, Job } from '../../../streams/state/index.ts'

/** Start lateness of the handler in ms if the input is the first report of it; never below 0. */
export function startLatenessMs(before: Job, input: Input): number | undefined {
  if (input.kind !== 'event') return undefined
  const { type, startedAt, at, runNo, attempt, specOffset } = input.event
  if (type !== 'STARTED' && startedAt === null) return undefined
  const run = before.state?.active.find((candidate) => candidate.runNo === runNo)
  if (run?.status !== 'DISPATCHED' || run.attempt !== attempt || run.specOffset !== specOffset) return undefined
  return Math.max(0, (startedAt ?? at) - run.dueAt)
}

/** Whether the attempt is in-flight: it was dispatched and has not ended. */
export function isUnderWay({ state }: Job, { runNo, attempt, specOffset }: AttemptId): boolean {
  const run = state?.active.find((candidate) => candidate.runNo === runNo)
  return (run?.status === 'DISPATCHED' || run?.status === 'RUNNING') && run.attempt === attempt && run.specOffset === specOffset
}

/** Number of runs whose attempt failed and will be retried. */
export function retriesIn(before: readonly ActiveRun[], after: readonly ActiveRun[]): number {
  let retries = 0
  for (const run of after) {
    const earlier = before.find(({ runNo }) => runNo === run.runNo)
    if (earlier !== undefined && run.attempt > earlier.attempt && run.errors.at(-1) !== earlier.errors.at(-1)) retries++
  }
  return retries
}
