/**
 * No field is accepted and ignored: each field, tried in each kind of job, either changes what can be seen of some history, or is refused
 * with a reason. And no field is refused as one without effect that has one.
 */
import { describe, expect, it, test } from 'vitest'
import { fieldsOf } from '../../../docs/pages/fields.ts'
import { type JobDefinition, type JobDefinitionInput, jobDefinitionSchema } from '../../../schemas/generated.ts'
import { completeDefinition, definitionFromJson, definitionToJson } from '../../../streams/definitions/definition-json.ts'
import { validateDefinition } from '../../../streams/definitions/validate.ts'
import type { Problem } from '../../../streams/text/problem.ts'
import { autumn, scenarios, sightOf, spring } from './effect-histories.ts'
import { type Json, samples, schedules, targets, variations } from './field-samples.ts'

/** Values that change nothing because they say what holds anyway; every other value is refused. */
const says = [
  { path: 'startAt', where: (schedule: string) => schedule === 'at' },
  { path: 'endAt', where: (schedule: string) => schedule === 'at' },
]

const records = new Set(
  fieldsOf(jobDefinitionSchema).flatMap(({ path }) => path.split('.').map((_, end, names) => names.slice(0, end).join('.'))),
)
const leaves = fieldsOf(jobDefinitionSchema)
  .map(({ path }) => path)
  // The number of `priority`, which JSON has in that field.
  .filter((path) => !records.has(path) && path !== 'priorityLevel')

const isPlain = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

function merged(base: unknown, patch: unknown): unknown {
  if (!isPlain(base) || !isPlain(patch)) return patch
  const names = [...Object.keys(base), ...Object.keys(patch)]
  return Object.fromEntries(names.map((name) => [name, name in patch ? merged(base[name], patch[name]) : base[name]]))
}

const bytes = (value: unknown): unknown => (typeof value === 'string' ? Buffer.from(value) : value)

/** The definition of a job in JSON, without the checks of a reader. */
function unchecked(json: Json): JobDefinition {
  const { payload = null, contentType = null, headers = {}, schedule, target, ...rest } = json
  const { topic, ...place } = target as Json
  const { exdates, ...times } = schedule as Json
  const isText = contentType !== null && contentType !== 'application/json'
  return completeDefinition({
    ...rest,
    schedule: exdates === undefined ? times : { ...times, exdates: (exdates as string[]).map((at) => Date.parse(at)) },
    target: isPlain(topic) ? { ...place, topic: { ...topic, ...('key' in topic && { key: bytes(topic.key) }) } } : place,
    payload: payload === null ? null : Buffer.from(isText ? String(payload) : JSON.stringify(payload)),
    contentType: contentType ?? (payload === null ? null : 'application/json'),
    headers: Object.fromEntries(Object.entries(headers as Json).map(([name, value]) => [name, bytes(value)])),
  } as unknown as JobDefinitionInput)
}

const jobOf = (target: string, schedule: string, variation: string, from: number): Json =>
  merged({ schedule: schedules[schedule]?.(from), target: targets[target], payload: 'text' }, variations[variation]) as Json

const baseSights = new Map<string, string>()

/** Whether a field changes what is seen. */
function shows(base: (from: number) => Json, more: (from: number) => Json, name: string): boolean {
  for (const [scenario, run] of Object.entries(scenarios)) {
    const from = scenario === 'autumn' ? autumn : spring
    const key = `${scenario} ${name}`
    const before = baseSights.get(key) ?? sightOf(run, unchecked(base(from)))
    baseSights.set(key, before)
    if (sightOf(run, unchecked(more(from))) !== before) return true
  }
  return false
}

const refusalsOf = (json: Json): Problem[] => {
  const read = definitionFromJson(json)
  return read.ok ? [] : read.problems
}

/** Whether the field itself, or the record that holds it, is refused as one without effect. */
const isIdle = (json: Json, path: string): boolean =>
  refusalsOf(json).some(({ field, message }) => `${path}.`.startsWith(`${field}.`) && message.includes('has no effect'))

const isSame = (json: Json, other: Json): boolean => JSON.stringify(unchecked(json)) === JSON.stringify(unchecked(other))

interface Case {
  path: string
  name: string
  base: (from: number) => Json
  values: ((from: number) => Json)[]
}

function casesOf(target: string, schedule: string, variation: string): Case[] {
  return leaves.map((path) => {
    const sample = samples[path]
    if (sample === undefined) throw new Error(`${path} has no sample: add one to field-samples.ts.`)
    const base = (from: number): Json => merged(jobOf(target, schedule, variation, from), sample.beside ?? {}) as Json
    const values = sample.set(spring).map(
      (_, index) =>
        (from: number): Json =>
          merged(base(from), sample.set(from)[index]) as Json,
    )
    return { path, name: `${JSON.stringify(base(spring))}`, base, values }
  })
}

/** Fields that are accepted and do nothing, and fields that are refused although they do something. */
function faults(target: string, schedule: string, variation: string): string[] {
  // The variation itself is refused with this target.
  if (refusalsOf(jobOf(target, schedule, variation, spring)).length > 0) return []
  return casesOf(target, schedule, variation).flatMap(({ path, name, base, values }) => {
    // A job that cannot have what the field needs cannot have the field.
    if (validateDefinition(unchecked(base(spring))).length > 0) return []
    const asked = values.filter((value) => !isSame(value(spring), base(spring)))
    const accepted = asked.filter((value) => refusalsOf(value(spring)).length === 0)
    const refused = asked.filter((value) => isIdle(value(spring), path))
    if (refused.some((value) => shows(base, value, name))) return [`${path}: is refused, but has an effect`]
    if (accepted.length === 0 || accepted.some((value) => shows(base, value, name))) return []
    if (says.some((known) => known.path === path && known.where(schedule))) return []
    return [`${path}: is accepted, and has no effect`]
  })
}

describe('every field', () => {
  const jobs = Object.keys(targets).flatMap((target) => Object.keys(schedules).map((schedule) => [target, schedule] as const))
  it.each(jobs)('has an effect or is refused with target %s and schedule %s', (target, schedule) => {
    expect(faults(target, schedule, 'no more')).toEqual([])
  })
  const more = Object.keys(variations).flatMap((variation) =>
    ['at', 'everyMs', 'everyMs from END', 'cron in Paris'].map((schedule) => [variation, schedule] as const),
  )
  it.each(more.filter(([variation]) => variation !== 'no more'))(
    'has an effect or is refused with %s and schedule %s',
    (variation, schedule) => {
      expect(faults('handler', schedule, variation)).toEqual([])
      if (schedule === 'everyMs') expect(faults('topic', schedule, variation)).toEqual([])
    },
  )
})

const job = { schedule: { everyMs: 60_000 }, target: { handler: 'a' } }

test('a refusal says field, value, condition, reason and what to write', () => {
  expect(refusalsOf({ ...job, dedupKey: 'k' })).toEqual([
    {
      field: 'dedupKey',
      value: 'k',
      limit: 'write dedupWindowMs, such as 60000, or leave the key out',
      message:
        'dedupKey is "k", which has no effect with dedupWindowMs 0: nothing is dropped without a window; write dedupWindowMs, such as 60000, or leave the key out.',
    },
  ])
  const [problem] = refusalsOf({ ...job, target: { topic: { name: 't' } }, retry: { maxAttempts: 3 } })
  expect(problem?.message).toBe(
    'retry is set, which has no effect with target.topic: the owner writes the record itself, without a worker; leave it out.',
  )
})

test('a field with its default is accepted everywhere: tools may write every field', () => {
  const defaults = {
    ...{
      priority: 'NORMAL',
      pinTo: null,
      attemptTimeoutMs: 300_000,
      leaseMs: 30_000,
      catchUpMax: 100,
      misfireThresholdMs: 1_000,
    },
    ...{ dedupKey: null, dedupWindowMs: 0, retainFailedMs: 259_200_000, contentType: null },
  }
  const retry = { maxAttempts: 5, backoff: { list: [1_000, 5_000, 30_000, 120_000, 600_000] }, jitter: 0, maxAgeMs: null }
  expect(refusalsOf({ schedule: { at: 0 }, target: { topic: { name: 't' } }, ...defaults, retry })).toEqual([])
  expect(refusalsOf({ ...job, ...defaults })).toEqual([])
  const schedule = { cron: '@daily', timezone: 'UTC', dstGap: 'NEXT_VALID', dstOverlap: 'FIRST' }
  expect(refusalsOf({ schedule, target: { handler: 'a' } })).toEqual([])
})

test('a record on the log with such fields stays valid, and its JSON leaves them out, so that it can be sent again', () => {
  const definition = completeDefinition({
    schedule: { at: 0 },
    target: { topic: { name: 't' } },
    ...{ priority: 'HIGH', leaseMs: 5_000, contentType: 'text/plain', dedupWindowMs: 5_000, catchUpMax: 7 },
    retry: { maxAttempts: 1, backoff: { list: [7] } },
  })
  expect(validateDefinition(definition)).toEqual([])
  const json = definitionToJson(definition)
  for (const field of ['leaseMs', 'priority', 'contentType', 'retry', 'dedupWindowMs', 'catchUpMax'])
    expect(json).not.toHaveProperty(field)
  expect(refusalsOf(json)).toEqual([])
})
