/** Texts for times, numbers, schedules and targets. */
import { duration } from '../../../streams/text/index.ts'
import type { Job, Run, Schedule, Target } from '../../answers/index.ts'
import { visible } from './visible.ts'

const number = new Intl.NumberFormat('en')
export const count = (value: number): string => number.format(value)
/** 1 run, 2 runs. */
export const counted = (value: number, thing: string): string => `${count(value)} ${thing}${value === 1 ? '' : 's'}`

/** 1 run waits, 2 runs wait. */
export const runsWait = (runs: number): string => `${counted(runs, 'run')} ${runs === 1 ? 'waits' : 'wait'}`

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

/** What the job runs, in one line. */
export function targetWords({ handler, topic, http }: Target): string {
  if (handler != null) return handler
  if (topic != null) return `topic ${topic.name}`
  if (http != null) return `${http.method ?? 'POST'} ${http.url}`
  return ''
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
  // A server of an earlier version does not send the key.
  if (limitKey == null) return waitsFor === 'RATE' ? 'for its rate limit' : 'for a slot of its concurrency key'
  return waitsFor === 'RATE' ? `for the rate limit ${visible(limitKey)}` : `for a slot of ${visible(limitKey)}`
}

/** Start of the last attempt after its due time, in ms. Undefined if it has not started, or if its due time is unknown. */
export function lateMsOf(run: Run): number | undefined {
  const { startedAt, dueAt, scheduledFor, attempts } = run
  // An earlier version kept no due time; that of a first attempt is the nominal one.
  const due = dueAt ?? (attempts === 1 ? scheduledFor : undefined)
  return startedAt === null || due === undefined || !(isStarted(run) || !isActive(run))
    ? undefined
    : Math.max(0, Date.parse(startedAt) - Date.parse(due))
}

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
