/** Runs and jobs in commands: the ID of a run as typed, and the texts that show schedules, targets and runs. */
import { targetWords } from '../../../../streams/targets/index.ts'
import { writeJson } from '../../../../streams/text/index.ts'
import type { JobDefinition, Run } from '../../../ground/answers/index.ts'
import { DuelogError } from '../../../ground/errors/index.ts'
import type { List, Shell } from '../remote/index.ts'
import { type Cell, statusCell } from '../terminal/index.ts'

/** A run ID as typed by the user. A job ID may contain slashes. Throws `bad-usage` for an invalid one. */
export function runOf(name: string): { jobId: string; runNo: number } {
  const [, jobId, runNo] = /^(.+)\/(\d{1,16})$/s.exec(name) ?? []
  if (jobId === undefined || runNo === undefined) {
    throw new DuelogError(
      'bad-usage',
      `${JSON.stringify(name)} is not a run ID. A run ID is the job ID, a slash and a number, such as report-7/12.`,
    )
  }
  return { jobId, runNo: Number(runNo) }
}

export function runPairs(run: Run, { paint, time }: Shell): [string, Cell][] {
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

export const runColumns: List<Run>['columns'] = [
  ['RUN', ({ runId }) => runId],
  ['STATUS', ({ status }, { paint }) => statusCell(status, paint)],
  ['SCHEDULED FOR', ({ scheduledFor }, { time }) => time(scheduledFor)],
  ['ATTEMPTS', ({ attempts }) => String(attempts)],
  ['STARTED', ({ startedAt }, { time }) => time(startedAt)],
  ['FINISHED', ({ finishedAt }, { time }) => time(finishedAt)],
  ['HANDLER', ({ handler }) => handler ?? ''],
  ['POOL', ({ pool }) => pool ?? ''],
  ['WORKER', ({ worker }) => worker ?? ''],
  ['PROGRESS', progressText],
  ['WAITS FOR', waitText],
  [
    'LAST ERROR',
    ({ errors }) => {
      const error = errors.at(-1)
      return error === undefined ? '' : `${error.type}: ${error.message}`
    },
  ],
]

/** `cron 0 9 * * * Europe/Paris`, `every 5000 ms`, … */
export function scheduleText(definition: JobDefinition | null): string {
  const { at, delayMs, everyMs, cron, rrule, timezone } = definition?.schedule ?? {}
  const zone = typeof timezone === 'string' && timezone !== 'UTC' ? ` ${timezone}` : ''
  if (typeof cron === 'string') return `cron ${cron}${zone}`
  if (typeof rrule === 'string') return `rrule ${rrule}${zone}`
  if (typeof everyMs === 'number') return `every ${everyMs} ms`
  if (typeof delayMs === 'number') return `once after ${delayMs} ms`
  return at === undefined || at === null ? '' : `once at ${at}`
}

export function targetText(definition: JobDefinition | null): string {
  const { target } = definition ?? {}
  const of = target?.pool !== undefined && target.pool !== 'default' ? ` in ${target.pool}` : ''
  return target === undefined ? '' : `${targetWords(target)}${of}`
}
