/**
 * `duelog schedule diff-tz`: shows which jobs move when a running Duelog gets the time zone rules of the Node that runs this command. Run
 * it with the Node of the planned upgrade against the current cluster, of this version of Duelog or an earlier one.
 */
import type { Command } from 'commander'
import type { Job } from '../../answers/index.ts'
import { zoneRulesVersion } from '../../process/index.ts'
import { scheduleText } from '../jobs/index.ts'
import { type CommandFrame, pagesOf, type RemoteFlags, remoteCommand, remotely, type Shell } from '../remote/index.ts'
import {
  exactTime,
  exitCodes,
  hasReader,
  integer,
  numberText,
  painterOf,
  severalLines,
  type TimeText,
  tableText,
  writeAsJson,
} from '../terminal/index.ts'
import { type JobMove, moveOf } from './job-move.ts'
import { ZoneDifferences } from './zone-differences.ts'

const rowsDefault = 100
const rowsMax = 1_000_000
const minuteMs = 60_000

interface DiffFlags extends RemoteFlags {
  limit: number
}

export function diffTzCommand(frame: CommandFrame): Command {
  return remoteCommand(
    'diff-tz',
    'Show which jobs would fire at other times under the time zone rules of the Node that runs this command. The exit code is 1 if there are any.',
    ['schedule diff-tz', 'schedule diff-tz --json > moves.ndjson', 'schedule diff-tz --url https://duelog.example --limit 1000'],
  )
    .addOption(integer('--limit <n>', 'maximum number of jobs to show; all are counted', rowsDefault, 1, rowsMax))
    .action((flags: DiffFlags) => remotely(frame, flags, (shell) => diff(shell, flags.limit)))
}

async function diff(shell: Shell, limit: number): Promise<void> {
  const { api, json, terminal, time } = shell
  const theirs = await rulesOf(shell)
  const zones = new ZoneDifferences(api)
  const totals = { jobs: 0, moved: 0, later: 0, unclear: 0 }
  const rows: string[][] = []
  let shown = 0
  const take = async (job: Job): Promise<void> => {
    const move = moveOf(job)
    if (move === undefined) return
    totals.jobs++
    const since = await zones.since(move.timezone)
    if (move.to === undefined) totals.unclear++
    if (move.to === undefined ? since === null : move.to === move.from && since === null) return
    const moves = move.to !== undefined && move.to !== move.from
    if (moves) totals.moved++
    else totals.later++
    zones.count(move.timezone, moves)
    if (shown === limit) return
    shown++
    if (json) writeAsJson(terminal.stdout, lineOf(job, move, since))
    else rows.push(rowOf(job, move, since, time))
  }
  const page: Job[] = []
  const goOn = async (): Promise<boolean> => {
    for (const job of page.splice(0)) await take(job)
    return hasReader(terminal.stdout)
  }
  await pagesOf<Job>(api, '/v1/jobs', {}, 'jobs', Number.MAX_SAFE_INTEGER, (job) => page.push(job), goOn)
  const found = totals.moved + totals.later
  if (!json) {
    if (rows.length > 0) {
      terminal.stdout.write(
        tableText(
          ['ID', 'SCHEDULE', 'NEXT', 'BY NEW RULES', 'BY', 'RULES DIFFER FROM'],
          rows,
          painterOf(terminal.stdout, terminal.env),
        ),
      )
    }
    terminal.stdout.write(severalLines(`${zones.text()}${summaryOf(totals, theirs)}\n`))
  }
  if (found > shown) terminal.stderr.write(`${numberText(found - shown)} more are not shown; see --limit.\n`)
  if (found > 0) shell.exit(exitCodes.failed.code)
}

function lineOf(job: Job, { from, to, timezone }: JobMove, since: number | null): object {
  return {
    id: job.id,
    timezone,
    from: isoOf(from),
    to: to === undefined ? null : isoOf(to),
    byMs: to === undefined || to === null ? null : to - from,
    rulesDifferFrom: since === null ? null : isoOf(since),
  }
}

function rowOf(job: Job, { from, to }: JobMove, since: number | null, time: TimeText): string[] {
  const moved = to === undefined ? 'unknown' : to === from ? 'the same' : to === null ? 'never' : exactTime(to, time)
  const byMs = to === undefined || to === null || to === from ? '' : minutesText(to - from)
  return [job.id, scheduleText(job.definition), exactTime(from, time), moved, byMs, (isoOf(since) ?? '').slice(0, 10)]
}

const isoOf = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString())

function minutesText(ms: number): string {
  const minutes = Math.round(Math.abs(ms) / minuteMs)
  const text = `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`
  return `${ms < 0 ? '-' : '+'}${text}`
}

function summaryOf(
  { jobs, moved, later, unclear }: Record<'jobs' | 'moved' | 'later' | 'unclear', number>,
  theirs: string,
): string {
  const rules = `Rules of the cluster: ${theirs}; of this Node: ${zoneRulesVersion}.`
  const known =
    unclear === 0 ? '' : ` For ${numberText(unclear)} it is unknown, because this cluster reports too little about them.`
  if (moved + later === 0)
    return `${rules} None of ${numberText(jobs)} ${jobs === 1 ? 'job in a time zone' : 'jobs in time zones'} moves.${known}`
  return `${rules} Of ${numberText(jobs)} ${jobs === 1 ? 'job in a time zone' : 'jobs in time zones'} ${numberText(moved)} ${moved === 1 ? 'moves at its' : 'move at their'} next time, ${numberText(later)} may move after it.${known}`
}

/** Rule versions that the owners of partitions use. Earlier versions of Duelog do not report them. */
async function rulesOf({ api }: Shell): Promise<string> {
  const { partitions } = await api.get<{ partitions: { zoneRules?: string | null }[] }>('/v1/partitions')
  const found = new Set(partitions.flatMap(({ zoneRules }) => (zoneRules ? [zoneRules] : [])))
  return found.size === 0 ? 'unknown' : [...found].sort().join(', ')
}
