/** Runs in commands: the ID as typed, and the texts that show a run. */
import { writeJson } from '../../../streams/text/index.ts'
import type { Run } from '../../answers/index.ts'
import { DuelogError } from '../../errors/index.ts'
import { path } from '../remote/index.ts'
import { type Cell, type Paint, statusCell, type TimeText } from '../terminal/index.ts'

/** API path of a run ID as typed by the user. Throws `bad-usage` for an invalid one. */
export function routeOf(name: string): string {
  const { jobId, runNo } = partsOf(name)
  return path`/v1/runs/${jobId}/${runNo}`
}

/** API path of the lines of a run. */
export function logsRouteOf(name: string): string {
  const { jobId, runNo } = partsOf(name)
  return path`/v1/jobs/${jobId}/runs/${runNo}/logs`
}

/** A job ID may contain slashes. */
function partsOf(name: string): { jobId: string; runNo: string } {
  const [, jobId, runNo] = /^(.+)\/(\d{1,16})$/s.exec(name) ?? []
  if (jobId === undefined || runNo === undefined) {
    throw new DuelogError(
      'bad-usage',
      `${JSON.stringify(name)} is not a run ID. A run ID is the job ID, a slash and a number, such as report-7/12.`,
    )
  }
  return { jobId, runNo }
}

export function runPairs(run: Run, paint: Paint, time: TimeText): [string, Cell][] {
  const pairs: [string, Cell | null | undefined][] = [
    ['run', run.runId],
    ['status', statusCell(run.status, paint)],
    ['scheduled for', time(run.scheduledFor, true)],
    ['trigger', run.trigger],
    ['attempts', String(run.attempts)],
    ['started', time(run.startedAt, true)],
    ['finished', time(run.finishedAt, true)],
    ['worker', run.worker],
    ['progress', progressText(run)],
    ['waits for', waitText(run)],
    ['result', run.result == null ? '' : writeJson(run.result)],
    ...run.errors.map(({ attempt, at, type, message }): [string, string] => [
      `attempt ${attempt}`,
      `${time(at, true)} ${type}: ${message}`,
    ]),
  ]
  return pairs.flatMap(([name, value]): [string, Cell][] => (value == null || value === '' ? [] : [[name, value]]))
}

const progressText = ({ progress, message }: Run): string =>
  progress == null ? '' : `${Math.round(progress * 100)} % ${message ?? ''}`

/** What a run waits for, such as `pool paused` or `slot of eu`. */
const waitText = ({ waitsFor, limitKey }: Run): string =>
  waitsFor == null ? '' : `${waitsFor.toLowerCase().replace('_', ' ')}${limitKey == null ? '' : ` of ${limitKey}`}`

export const runHead = [
  'RUN',
  'STATUS',
  'SCHEDULED FOR',
  'ATTEMPTS',
  'STARTED',
  'FINISHED',
  'HANDLER',
  'POOL',
  'WORKER',
  'PROGRESS',
  'WAITS FOR',
  'LAST ERROR',
]

export function runRow(run: Run, paint: Paint, time: TimeText): Cell[] {
  const error = run.errors.at(-1)
  const errorText = error === undefined ? '' : `${error.type}: ${error.message}`
  return [
    run.runId,
    statusCell(run.status, paint),
    time(run.scheduledFor),
    String(run.attempts),
    time(run.startedAt),
    time(run.finishedAt),
    run.handler ?? '',
    run.pool ?? '',
    run.worker ?? '',
    progressText(run),
    waitText(run),
    errorText,
  ]
}
