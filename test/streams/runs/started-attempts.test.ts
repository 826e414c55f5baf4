/** The attempts that are shown are those that started; the number of an attempt also counts those that did not. */
import { expect, it } from 'vitest'
import { startedAttempts, startedAttemptsOf } from '../../../streams/runs/index.ts'
import { JobHistory } from './history.ts'

const run = (): JobHistory => new JobHistory().define({ retry: { maxAttempts: 3 }, startDeadlineMs: 5_000 }).until(1_000)
const shown = ({ state: { active, lastRun } }: JobHistory): number => {
  const [current] = active
  return current === undefined ? startedAttemptsOf(lastRun ?? expect.fail()) : startedAttempts(current)
}

it.each<[string, (job: JobHistory) => JobHistory, number, number]>([
  ['dispatched', (job) => job, 0, 1],
  ['running', (job) => job.report('STARTED'), 1, 1],
  ['that succeeded', (job) => job.report('SUCCEEDED'), 1, 1],
  ['that waits for a retry', (job) => job.report('STARTED').fail('Error', { retryAfterMs: 60_000 }), 1, 2],
  ['given back before its start', (job) => job.report('RELEASED'), 0, 2],
  ['given back while it ran', (job) => job.report('STARTED').report('RELEASED'), 1, 2],
  ['given back, then running', (job) => job.report('RELEASED').report('STARTED', { attempt: 2 }), 1, 2],
  ['given back, then ended', (job) => job.report('RELEASED').report('SUCCEEDED', { attempt: 2 }), 1, 2],
  ['that expired', (job) => job.until(20_000), 0, 1],
  ['cancelled before its start', (job) => job.command('CANCEL_RUN', { runNo: 1 }), 0, 1],
  ['cancelled while it ran', (job) => job.report('STARTED').command('CANCEL_RUN', { runNo: 1 }), 1, 1],
])('a run %s', (_, act, started, number) => {
  const job = act(run())
  expect(shown(job)).toBe(started)
  expect(job.state.active[0]?.attempt ?? job.state.lastRun?.attempts).toBe(number)
  const ended = job.decisions.flatMap(({ endedRuns }) => endedRuns)
  expect(ended.map(({ attempts }) => attempts)).toEqual(job.state.active.length === 0 ? [started] : [])
})
