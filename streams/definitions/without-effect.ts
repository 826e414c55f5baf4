/**
 * The fields that have no effect beside others, such as priority with a topic as the target. Whoever reads a job in JSON refuses them
 * (ADR 0085). Owners do not: a record that is on the log stays valid. The table in docs/JOBS.md is made from this list.
 */
import { type JobDefinition, jobDefinitionSchema } from '../../schemas/index.ts'
import { cronRecurrence, namesEveryHour, rruleOf, zoneOf } from '../schedules/index.ts'
import { isByOwner } from '../targets/index.ts'
import { contradiction, type Problem, quoted } from '../text/index.ts'
import { shownPriority } from '../topics/index.ts'

export interface WithoutEffect {
  /** Paths of the fields, as in JSON. */
  fields: readonly string[]
  /** The condition, as the rest of a sentence: "has no effect …". */
  when: string
  why: string
  /** What to write instead, as a command. */
  instead: string
  holds(definition: JobDefinition): boolean
}

const leaveOut = 'leave it out'

const isOnce = ({ schedule }: JobDefinition): boolean => schedule.at !== null || schedule.delayMs !== null

/** At most one occurrence is missed: the only one, or the one after the end of the last run. */
const missesOne = (definition: JobDefinition): boolean => isOnce(definition) || definition.schedule.from === 'END'

const isCalendar = ({ schedule }: JobDefinition): boolean => schedule.cron !== null || schedule.rrule !== null

function runsEachHour({ schedule }: JobDefinition): boolean {
  if (schedule.cron !== null) return cronRecurrence(schedule.cron).everyHour
  return schedule.rrule !== null && namesEveryHour(rruleOf(schedule.rrule))
}

export const withoutEffect: readonly WithoutEffect[] = [
  {
    fields: ['priority', 'pinTo', 'retry', 'attemptTimeoutMs', 'leaseMs'],
    when: 'with target.topic',
    why: 'the owner writes the record itself, without a worker',
    instead: leaveOut,
    holds: ({ target }) => isByOwner(target),
  },
  {
    fields: ['contentType'],
    when: 'with target.topic without a payload',
    why: 'it says how the payload is read and shown, and the record does not hold it',
    instead: 'leave it out, or add it to headers',
    holds: ({ target, payload }) => target.topic !== null && payload === null,
  },
  {
    fields: ['retry.backoff', 'retry.maxAgeMs', 'retry.jitter'],
    when: 'with retry.maxAttempts 1',
    why: 'there is no second attempt',
    instead: 'leave it out, or allow 2 attempts or more',
    holds: ({ retry }) => retry.maxAttempts === 1,
  },
  {
    fields: ['catchUpMax'],
    when: 'with catchUp SKIP or LATEST',
    why: 'at most one missed occurrence runs',
    instead: 'leave it out, or write catchUp ALL',
    holds: ({ catchUp }) => catchUp !== 'ALL',
  },
  {
    fields: ['catchUpMax'],
    when: 'with schedule.at, schedule.delayMs and schedule.from END',
    why: 'at most one occurrence is missed',
    instead: leaveOut,
    holds: (definition) => definition.catchUp === 'ALL' && missesOne(definition),
  },
  {
    fields: ['misfireThresholdMs'],
    when: 'with schedule.at, schedule.delayMs and schedule.from END, and catchUp LATEST or ALL',
    why: 'at most one occurrence is missed, and it runs however late it is',
    instead: 'leave it out, or write catchUp SKIP',
    holds: (definition) => definition.catchUp !== 'SKIP' && missesOne(definition),
  },
  {
    fields: ['dedupKey'],
    when: 'with dedupWindowMs 0',
    why: 'nothing is dropped without a window',
    instead: 'write dedupWindowMs, such as 60000, or leave the key out',
    holds: ({ dedupWindowMs }) => dedupWindowMs === 0,
  },
  {
    fields: ['dedupWindowMs'],
    when: 'without dedupKey',
    why: 'only definitions with the same key are dropped',
    instead: 'write dedupKey, or leave the window out',
    holds: ({ dedupKey }) => dedupKey === null,
  },
  {
    fields: ['schedule.dstGap', 'schedule.dstOverlap'],
    when: 'with schedule.timezone UTC',
    why: 'UTC has no daylight saving',
    instead: 'write schedule.timezone, such as Europe/Paris, or leave it out',
    holds: (definition) => isCalendar(definition) && isUtc(definition.schedule.timezone),
  },
  {
    fields: ['schedule.dstGap', 'schedule.dstOverlap'],
    when: 'with a schedule that names every hour',
    why: 'it counts elapsed time, under any policy',
    instead: leaveOut,
    holds: (definition) => isCalendar(definition) && !isUtc(definition.schedule.timezone) && runsEachHour(definition),
  },
]

function isUtc(timezone: string): boolean {
  return zoneOf(timezone).kind === 'utc'
}

/** Adds a problem for each field that is set and has no effect. The definition is valid by all other rules. */
export function addWithoutEffectProblems(definition: JobDefinition, problems: Problem[]): void {
  for (const { fields, when, why, instead, holds } of withoutEffect) {
    const set = fields.filter((field) => isSet(definition, field))
    if (set.length === 0 || !holds(definition)) continue
    for (const field of set) {
      const value = valueAt(definition, field)
      const found = typeof value === 'object' ? 'is set' : `is ${quoted(value)}`
      const shown = typeof value === 'object' ? quoted(value) : value
      problems.push(contradiction(field, shown, instead, `${field} ${found}, which has no effect ${when}: ${why}; ${instead}.`))
    }
  }
}

/** Paths of the fields of a definition that are set and have no effect. */
export function fieldsWithoutEffect(definition: JobDefinition): string[] {
  return withoutEffect.flatMap(({ fields, holds }) => {
    const set = fields.filter((field) => isSet(definition, field))
    return set.length > 0 && holds(definition) ? set : []
  })
}

/** A value equal to the default asks for nothing: tools that write every field stay welcome. */
function isSet(definition: JobDefinition, path: string): boolean {
  return !isSame(valueAt(definition, path), defaults.get(path))
}

function valueAt(definition: JobDefinition, path: string): unknown {
  if (path === 'priority') return shownPriority(definition)
  let value: unknown = definition
  for (const name of path.split('.')) value = (value as Record<string, unknown>)[name]
  return value
}

const defaults = new Map(withoutEffect.flatMap(({ fields }) => fields.map((path) => [path, defaultOf(path)] as const)))

function defaultOf(path: string): unknown {
  let fields: readonly unknown[] = jobDefinitionSchema.fields
  let found: { type?: unknown; default?: unknown } | undefined
  for (const name of path.split('.')) {
    found = fields.find((field) => (field as { name: string }).name === name) as typeof found
    fields = (found?.type as { fields?: readonly unknown[] } | undefined)?.fields ?? []
  }
  return found?.default
}

/** Compares JSON values. The codec's records have a prototype of their own. */
export function isSame(value: unknown, other: unknown): boolean {
  if (typeof value !== 'object' || typeof other !== 'object' || value === null || other === null) return value === other
  const names = Object.keys(value)
  return (
    Array.isArray(value) === Array.isArray(other) &&
    names.length === Object.keys(other).length &&
    names.every((name) => isSame((value as Record<string, unknown>)[name], (other as Record<string, unknown>)[name]))
  )
}
