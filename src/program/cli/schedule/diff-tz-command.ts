/**
 * `duelog schedule diff-tz`: shows which jobs move when a running Duelog gets the time zone rules of the Node that runs this command. Run
 * it with the Node of the planned upgrade against the current cluster. For each time zone of jobs it finds from when on the rules differ:
 * the API is asked for the noons of the next years in that zone, which every version supports.
 */
import type { JobDefinition } from '../../../../schemas/index.ts'
import { definitionFromJson } from '../../../../streams/definitions/index.ts'
import { followsZone, nextByRules, occurrences } from '../../../../streams/schedules/index.ts'
import { type Api, type Job, pagesOf } from '../../../ground/answers/index.ts'
import { zoneRulesVersion } from '../../../ground/process/index.ts'
import { scheduleText } from '../jobs/index.ts'
import { pageMax, type RemoteFlags, remoteCommand, type Shell } from '../remote/index.ts'
import {
  exactTime,
  exitCodes,
  hasReader,
  integer,
  numberText,
  severalLines,
  type TimeText,
  tableText,
  writeAsJson,
} from '../terminal/index.ts'

const rowsDefault = 100
const rowsMax = 1_000_000
const minuteMs = 60_000

/** Days compared from now: nearly three years. */
const noons = 1_000
/** Maximum of zones. The time zone database has about 600 names, including aliases. */
const zonesMax = 2_000

interface DiffFlags extends RemoteFlags {
  limit: number
}

export const diffTzCommand = remoteCommand({
  name: 'diff-tz',
  description:
    'Show which jobs would fire at other times under the time zone rules of the Node that runs this command. The exit code is 1 if there are any.',
  examples: [
    'schedule diff-tz',
    'schedule diff-tz --json > moves.ndjson',
    'schedule diff-tz --url https://duelog.example --limit 1000',
  ],
  options: [integer('--limit <n>', 'maximum number of jobs to show; all are counted', rowsDefault, 1, rowsMax)],
  run: (shell, flags: DiffFlags) => diff(shell, flags.limit),
})

async function diff(shell: Shell, limit: number): Promise<void> {
  const { api, json, paint, terminal, time } = shell
  const theirs = await rulesOf(shell)
  const zones = new ZoneDifferences(api)
  const totals = { jobs: 0, moved: 0, later: 0 }
  const rows: string[][] = []
  let shown = 0
  const take = async (job: Job): Promise<void> => {
    const move = moveOf(job)
    if (move === undefined) return
    totals.jobs++
    const since = await zones.since(move.timezone)
    const moves = move.to !== move.from
    if (!moves && since === null) return
    if (moves) totals.moved++
    else totals.later++
    zones.count(move.timezone, moves)
    if (shown === limit) return
    shown++
    if (json) writeAsJson(terminal.stdout, lineOf(job, move, since))
    else rows.push(rowOf(job, move, since, time))
  }
  for await (const { jobs } of pagesOf((cursor) => api.listJobs({ limit: pageMax, cursor }))) {
    for (const job of jobs) await take(job)
    if (!(await hasReader(terminal.stdout))) break
  }
  const found = totals.moved + totals.later
  if (!json) {
    if (rows.length > 0) {
      terminal.stdout.write(tableText(['ID', 'SCHEDULE', 'NEXT', 'BY NEW RULES', 'BY', 'RULES DIFFER FROM'], rows, paint))
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
    to: isoOf(to),
    byMs: to === null ? null : to - from,
    rulesDifferFrom: since === null ? null : isoOf(since),
  }
}

function rowOf(job: Job, { from, to }: JobMove, since: number | null, time: TimeText): string[] {
  const moved = to === from ? 'the same' : to === null ? 'never' : exactTime(to, time)
  const byMs = to === null || to === from ? '' : minutesText(to - from)
  return [job.id, scheduleText(job.definition), exactTime(from, time), moved, byMs, (isoOf(since) ?? '').slice(0, 10)]
}

const isoOf = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString())

function minutesText(ms: number): string {
  const minutes = Math.round(Math.abs(ms) / minuteMs)
  const text = `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`
  return `${ms < 0 ? '-' : '+'}${text}`
}

function summaryOf({ jobs, moved, later }: Record<'jobs' | 'moved' | 'later', number>, theirs: string): string {
  const rules = `Rules of the cluster: ${theirs}; of this Node: ${zoneRulesVersion}.`
  if (moved + later === 0)
    return `${rules} None of ${numberText(jobs)} ${jobs === 1 ? 'job in a time zone' : 'jobs in time zones'} moves.`
  return `${rules} Of ${numberText(jobs)} ${jobs === 1 ? 'job in a time zone' : 'jobs in time zones'} ${numberText(moved)} ${moved === 1 ? 'moves at its' : 'move at their'} next time, ${numberText(later)} may move after it.`
}

/** Rule versions that the owners of partitions use. */
async function rulesOf({ api }: Shell): Promise<string> {
  const { partitions } = await api.listPartitions()
  const found = new Set(partitions.flatMap(({ zoneRules }) => (zoneRules ? [zoneRules] : [])))
  return found.size === 0 ? 'unknown' : [...found].sort().join(', ')
}

interface JobMove {
  timezone: string
  /** The current next time. */
  from: number
  /** The next time by the rules of this process; null for never. */
  to: number | null
}

/** Where the next time of a job moves, from the API's data about it. Undefined for a job without a next time or without a time zone. */
function moveOf(job: Job): JobMove | undefined {
  const spec = specOf(job.definition)
  if (spec === undefined || job.nextFireAt === null || job.place === undefined || !followsZone(spec)) return undefined
  const from = Date.parse(job.nextFireAt)
  const { timezone } = spec.schedule
  const { anchorAt, decidedFor } = job.place
  const place = {
    anchorAt: Date.parse(anchorAt),
    nextFireAt: from,
    decidedFor: decidedFor === null ? null : { at: Date.parse(decidedFor.at), offsetMs: decidedFor.offsetMs },
  }
  return { timezone, from, to: nextByRules(spec, place, 0).nextFireAt }
}

/** Only the schedule: other fields of the definition may be redacted for the caller. */
function specOf(definition: Job['definition']): JobDefinition | undefined {
  if (definition === null) return undefined
  const { schedule, startAt, endAt } = definition
  const window = { ...(startAt !== undefined && { startAt }), ...(endAt !== undefined && { endAt }) }
  const read = definitionFromJson({ id: 'job', schedule, ...window, target: { handler: 'noop' } })
  return read.ok ? read.definition : undefined
}

interface Difference {
  since: number | null
  moved: number
  later: number
}

class ZoneDifferences {
  readonly #api: Pick<Api, 'previewSchedule'>
  readonly #found = new Map<string, Difference>()

  constructor(api: Pick<Api, 'previewSchedule'>) {
    this.#api = api
  }

  /** Epoch ms of the first noon that differs between the rules; null when none does. */
  async since(timezone: string): Promise<number | null> {
    const known = this.#found.get(timezone)
    if (known !== undefined) return known.since
    const since = await this.#compare(timezone)
    if (this.#found.size < zonesMax) this.#found.set(timezone, { since, moved: 0, later: 0 })
    return since
  }

  count(timezone: string, moves: boolean): void {
    const found = this.#found.get(timezone)
    if (found === undefined) return
    if (moves) found.moved++
    else found.later++
  }

  /** One line for each zone with jobs that move. */
  text(): string {
    let text = ''
    for (const [timezone, { since, moved, later }] of this.#found) {
      if (moved + later === 0) continue
      const when = since === null ? '' : `, rules differ from ${new Date(since).toISOString().slice(0, 10)}`
      text += `${timezone}: ${numberText(moved)} ${moved === 1 ? 'moves at its' : 'move at their'} next time, ${numberText(later)} may move later${when}\n`
    }
    return text
  }

  async #compare(timezone: string): Promise<number | null> {
    const schedule = { cron: '0 12 * * *', timezone }
    const { fires } = await this.#api.previewSchedule({ body: { schedule, count: noons } })
    const [first] = fires
    const read = definitionFromJson({ id: 'noon', schedule, target: { handler: 'noop' } })
    if (first === undefined || !read.ok) return null
    const from = first.atMs - 86_400_000
    // One set of rules may have one noon more before the first noon of the other.
    const ours = new Set(occurrences(read.definition, from, { from: from + 1, max: noons + 2 }))
    return fires.find(({ atMs }) => !ours.has(atMs))?.atMs ?? null
  }
}
