/** Texts for times, numbers, schedules, targets, workers and changes, and text of others made safe to read. */
import { duration } from '../../../../streams/text/index.ts'
import type { AuditRecord, ExecutorProcesses, Job, Pool, Run, Schedule } from '../../../ground/answers/index.ts'

const number = new Intl.NumberFormat('en')
export const count = (value: number): string => number.format(value)
/** 1 run, 2 runs. */
export const counted = (value: number, thing: string): string => `${count(value)} ${thing}${value === 1 ? '' : 's'}`

/** 1 run waits, 2 runs wait. */
export const runsWait = (runs: number): string => `${counted(runs, 'run')} ${runs === 1 ? 'waits' : 'wait'}`

/** A duration, if it is known. */
export const ms = (value: number | null | undefined): string => (value == null ? '—' : duration(value))

/** A rate with about three significant digits. */
export function rate(value: number): string {
  if (value === 0) return '0'
  return value >= 100 ? count(Math.round(value)) : value >= 10 ? value.toFixed(1) : value.toFixed(2)
}

/** in 4 s, 3 min ago. */
export function relative(atMs: number, nowMs: number): string {
  const ms = atMs - nowMs
  if (Math.abs(ms) < 1_000) return 'now'
  const [first = ''] = /^\S+ \S+/.exec(duration(Math.floor(Math.abs(ms) / 1_000) * 1_000)) ?? []
  return ms > 0 ? `in ${first}` : `${first} ago`
}

const axisUnits = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const

/** A duration in one unit, which fits beside an axis: 16.7 min. */
export function axisDuration(ms: number): string {
  const [unit, unitMs] = axisUnits.find(([, size]) => ms >= size) ?? ['ms', 1]
  const value = ms / unitMs
  return `${Number.isInteger(value) || value >= 100 ? Math.round(value) : value.toFixed(1)} ${unit}`
}

export const viewerZone = Intl.DateTimeFormat().resolvedOptions().timeZone

/** Saturday 21 Nov 2026 at 10:05:00 reads `21 Nov 10:05:00`; the year is added when it is not the current one. */
export function instant(atMs: number, zone = viewerZone, nowMs = Date.now()): string {
  const parts = (ms: number) =>
    Object.fromEntries(
      format(zone)
        .formatToParts(ms)
        .map(({ type, value }) => [type, value]),
    )
  const { day, month, year, hour, minute, second } = parts(atMs)
  return `${day} ${month}${year === parts(nowMs).year ? '' : ` ${year}`} ${hour}:${minute}:${second}`
}

const formats = new Map<string, Intl.DateTimeFormat>()
function format(zone: string): Intl.DateTimeFormat {
  const cached = formats.get(zone)
  if (cached !== undefined) return cached
  const created = new Intl.DateTimeFormat('en-GB', {
    ...{ timeZone: zone, day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit', second: '2-digit' },
    hourCycle: 'h23',
  })
  formats.set(zone, created)
  return created
}

/** When the job fires, in one line. */
export function scheduleWords(schedule: Schedule): string {
  if (schedule.cron != null) return schedule.cron
  if (schedule.everyMs != null) return `every ${duration(schedule.everyMs)}`
  if (schedule.rrule != null) return schedule.rrule.replace(/^RRULE:/, '').replaceAll('\n', ' ')
  if (schedule.delayMs != null) return `once, ${duration(schedule.delayMs)} after it was accepted`
  return 'once'
}

export const activeStatuses = ['DISPATCHED', 'RUNNING', 'RETRY_WAIT', 'WAITING'] as const satisfies readonly Run['status'][]

export const isActive = ({ status }: Run): boolean => activeStatuses.some((active) => active === status)

/** Whether its current attempt has started. */
export const isStarted = ({ status, startedAt }: Run): boolean =>
  startedAt !== null && status !== 'RETRY_WAIT' && status !== 'WAITING' && status !== 'DISPATCHED'

/** How many of its attempts failed, with what is no longer kept: `4 of 5 attempts failed`. A run may succeed or wait after failures. */
export function failuresText(run: Run): string {
  const { errors, status } = run
  const made = run.attempts
  // The last attempt failed if the run is dead or waits for another one; else it is under way, succeeded or was stopped.
  const isLastFailed = status === 'DEAD' || (isActive(run) && !isStarted(run)) || errors.at(-1)?.attempt === made
  const failed = Math.max(errors.length, isLastFailed ? made : made - 1)
  const kept = failed > errors.length ? `, the last ${errors.length} errors are kept` : ''
  return made === 1 ? '1 error' : `${failed} of ${made} attempts failed${kept}`
}

/** What a run that is not running waits for, in a few words. */
export function waitWords({ status, waitsFor, limitKey }: Run): string | undefined {
  if (status === 'RETRY_WAIT') return 'for its next attempt'
  if (status === 'DISPATCHED') return 'for a worker'
  if (status !== 'WAITING') return undefined
  if (waitsFor === 'HANDLER') return 'for a worker that has its handler'
  if (waitsFor === 'POOL_PAUSED') return 'until its pool is resumed'
  if (limitKey == null) return waitsFor === 'RATE' ? 'for its rate limit' : 'for a slot of its concurrency key'
  return waitsFor === 'RATE' ? `for the rate limit ${visible(limitKey)}` : `for a slot of ${visible(limitKey)}`
}

/** Start after the due time, in ms. Undefined if it has not started, or if a time is unknown. */
export const lateBetween = (dueAt: string | null | undefined, startedAt: string | null): number | undefined =>
  dueAt == null || startedAt === null ? undefined : Math.max(0, Date.parse(startedAt) - Date.parse(dueAt))

/** Start of the last attempt after its due time, in ms. Undefined if it has not started, or if its due time is unknown. */
export const lateMsOf = (run: Run): number | undefined =>
  isStarted(run) || !isActive(run) ? lateBetween(run.dueAt, run.startedAt) : undefined

const triggers: Record<Run['trigger'], string> = {
  ...{ SCHEDULE: 'schedule', MANUAL: 'manual trigger', REDRIVE: 'redrive of a dead run' },
  ...{ BACKFILL: 'backfill', FOLLOW_UP: 'follow-up of another run' },
}
export const triggerWords = (trigger: Run['trigger']): string => triggers[trigger]

/** A code of the server that says why, as words: `max-concurrent-runs`. Other texts stay as they are. */
export const reasonWords = (reason: string): string =>
  reason === 'attempts'
    ? 'no attempts left'
    : reason.replace(/^(skipped: )?[a-z]+(-[a-z]+)+$/, (code) => code.replaceAll('-', ' '))

/** A job that a command ended is COMPLETED too; its reason tells it from one that has fired for the last time. */
export const jobState = ({ status, reason }: Pick<Job, 'status' | 'reason'>): string =>
  status === 'COMPLETED' && reason === 'cancelled' ? 'CANCELLED' : status

export const statusWord = (status: string): string => status.toLowerCase().replaceAll('_', ' ')

/** The filter of a bulk change, as the audit trail has it: `where tag=eu idPrefix=eu/`. */
export function filterWords(filter: string): string {
  try {
    const parts = Object.entries(JSON.parse(filter)).map(([name, value]) => `${name}=${visible(String(value))}`)
    return parts.length === 0 ? 'of all' : `where ${parts.join(' ')}`
  } catch {
    // Any client may write to the topic.
    return visible(filter)
  }
}

/** Controls, soft hyphen, zero-width space, line separators, and all that change the direction of text. Joiners stay, because scripts and emoji need them. */
const unseen =
  /[\p{Cc}\p{Cs}\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu
const lineBreaks = /[\n\t]/

/** `U+202E` becomes `⟨202E⟩`. With `lines`, line breaks and tabs stay. */
export const visible = (text: string, lines = false): string =>
  text.replace(unseen, (character) => {
    if (lines && lineBreaks.test(character)) return character
    return `⟨${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`
  })

/** How many workers the load of a pool needs, and why. Undefined: it could not be measured. */
export function wantedWords({ wanted, state }: Pick<Pool, 'wanted' | 'state'>): string | undefined {
  if (wanted === null) return undefined
  const { workers, reason, backlog, forecast, lateMs } = wanted
  const why: Record<typeof reason, string> = {
    // Runs that wait until somebody resumes it need no workers.
    idle: state === 'ACTIVE' ? 'nothing runs or waits' : `it is ${statusWord(state)}`,
    running: 'for the handlers that run',
    backlog: runsWait(backlog),
    forecast: `${counted(forecast, 'run')} ${forecast === 1 ? 'comes' : 'come'} due within 30 s`,
    arrivals: 'for the runs that come now',
    lateness: `runs have waited for ${duration(wholeSeconds(lateMs))}`,
    'owners-unknown': 'as many as now, because an owner does not answer',
  }
  return `${count(workers)} wanted: ${why[reason]}`
}

const wholeSeconds = (ms: number): number => Math.max(1_000, Math.round(ms / 1_000) * 1_000)

/** What in a pool needed the processes. A later version may have other reasons. */
const needs: Record<string, string> = {
  running: 'Running handlers',
  backlog: 'Waiting runs',
  forecast: 'Runs due within 30 s',
  arrivals: 'New runs',
  lateness: 'Late runs',
  'owners-unknown': 'Unknown runs',
}

export const limitsWords = ({ min, max }: ExecutorProcesses): string => (min === max ? 'fixed' : `${count(min)} to ${count(max)}`)

/** Why a parent keeps so many executor processes, and what happens next. `pools`: absent until they are known. */
export function processesWords(of: ExecutorProcesses, pools: readonly Pool[] | undefined): string {
  const { min, max, wanted, reason, reasonPool, coolDownMs } = of
  if (min === max) return 'Their number is fixed.'
  const kept = `for ${duration(coolDownMs)}`
  const where = reasonPool === null ? '' : ` of pool ${visible(reasonPool)}`
  const why =
    reason === 'start'
      ? 'As many as at the start.'
      : reason === 'cool-down'
        ? `Fewer were enough ${kept}.`
        : `${needs[reason] ?? visible(reason)}${where} needed ${wanted === max ? `${count(max)}, the most allowed` : count(wanted)}.`
  const now = (pools ?? []).filter(({ pool }) => of.pools.includes(pool))
  const isFewer = now.length > 0 && now.every((pool) => pool.wanted !== null && pool.wanted.workers < pool.workers)
  return wanted > min && isFewer ? `${why} Fewer are enough now; one ends when that holds ${kept}.` : why
}

export interface LastChange {
  /** The newest change by the API that was done. */
  record: AuditRecord | undefined
  /** The definition in force was written to the topic by a program, after all that the API has written. */
  byProducer: boolean
}

const definitions: ReadonlySet<string> = new Set(['PUT', 'CREATE', 'BATCH'])

/** `records`: of the job, newest first. */
export function lastChangeOf(records: readonly AuditRecord[], etag: string): LastChange {
  const done = records.filter(({ outcome }) => outcome === 'DONE')
  const written = done.find(({ action }) => definitions.has(action))
  return { record: done[0], byProducer: written?.version != null && isLater(etag, written.version) }
}

/** Versions are `<partition>.<offset>`. */
function isLater(etag: string, version: string): boolean {
  const [[partition, offset], [other, before]] = [etag.replaceAll('"', ''), version].map((text) => text.split('.')) as [
    string[],
    string[],
  ]
  return partition === other && Number(offset) > Number(before)
}
