/** Plans and previews: what definitions would change, how much is due, and when a schedule fires. Nothing is written. */
import type { FastifyInstance } from 'fastify'
import type { JobDefinition } from '../../../../schemas/index.ts'
import { definitionToJson, validateJobId } from '../../../../streams/definitions/index.ts'
import type { JobPlan, PlanRange } from '../../../../streams/jobs/index.ts'
import { emptyValue, type Job } from '../../../../streams/state/index.ts'
import { isoTime, writeJson } from '../../../../streams/text/index.ts'
import { partitionOf } from '../../../../streams/topics/index.ts'
import type { Asker, DueFilter, DueRange, StoredJob } from '../../../ground/ports/index.ts'
import type { ApiContext } from '../context/index.ts'
import type { Role } from '../guards/index.ts'
import { askerOf, etagOf, givenId, RequestError, redacted, timeOf, whileAsked } from '../http/index.ts'
import { cyclesInForce, cycleWarning, followersOf, missingWarning, type Planned, targetWarning } from '../jobs/index.ts'
import { dueJobsOf, forecastOf } from '../owners/index.ts'
import {
  dueJobsSchema,
  forecastSchema,
  planAskedMax,
  planCycleJobsMax,
  planSchema,
  planTimesMax,
  previewSchema,
} from '../schemas/index.ts'

interface PlanBody {
  Body: { jobs: unknown[]; horizonMs: number; maxFires: number }
}
interface ForecastQuery {
  Querystring: DueFilter & { from?: string; horizonMs: number; buckets: number }
}
interface DueJobsQuery {
  Querystring: DueFilter & { from: string; horizonMs: number; limit: number }
}
/** A definition that can be planned. */
type Valid = Extract<Planned, { id: string }>
type Shown = Record<string, unknown> & { action: JobPlan['action'] | 'INVALID' }

export function planRoutes(instance: FastifyInstance, context: ApiContext): void {
  const { owners, partitions, clock, calculator } = context
  const config = { role: 'viewer' } as const

  /** `valid`: those of this request, by id. */
  const planSome = async (
    some: readonly unknown[],
    range: PlanRange,
    valid: Map<string, Valid>,
    { role, asker }: { role: Role | null; asker: Asker },
  ): Promise<Shown[]> => {
    const stored = await Promise.all(
      some.map((json) => {
        const id = givenId(json)
        // Whoever reads the definition says what is wrong with its id.
        if (id === undefined || validateJobId(id) !== undefined) return undefined
        const partition = partitionOf(id, partitions)
        return owners.ask(partition, (owner) => owner.stored(partition, id))
      }),
    )
    const toPlan = some.map((json, index) => ({ text: writeJson(json), job: jobOf(givenId(json) ?? '', stored[index]) }))
    const isRedacted = role === 'viewer'
    const planned = await calculator.run('plan', () => [toPlan, { range, isRedacted, partitions }], asker)
    return planned.map((each, index) => {
      if ('problems' in each) return { id: givenId(some[index]) ?? null, action: 'INVALID', problems: each.problems }
      const { id, plan } = each
      if (valid.has(id)) return { id, action: 'INVALID', problems: [repeated(id)] }
      valid.set(id, each)
      const { definition } = stored[index] ?? {}
      const etag = definition === undefined ? null : etagOf({ partition: partitionOf(id, partitions), offset: definition.offset })
      return { id, etag, ...shownPlan(plan), ...hiddenIn(definition?.spec, role) }
    })
  }

  instance.post<PlanBody>('/v1/jobs/plan', { config, schema: planSchema }, async (request, reply) => {
    const { jobs, horizonMs, maxFires } = request.body
    if (jobs.length * maxFires > planTimesMax)
      throw new RequestError('bad-request', [tooMany(maxFires, Math.floor(planTimesMax / jobs.length))])
    const from = clock.nowMs()
    const range = { from, to: from + horizonMs, max: maxFires }
    const valid = new Map<string, Valid>()
    const plans: Shown[] = []
    const asker = askerOf(request, reply)
    for (let at = 0; at < jobs.length; at += planAskedMax)
      plans.push(...(await planSome(jobs.slice(at, at + planAskedMax), range, valid, { role: request.role, asker })))
    await warn(context, plans, valid, asker.signal)
    return { from: isoTime(from), to: isoTime(range.to), jobs: plans, totals: totalsOf(plans) }
  })
  forecastRoute(instance, { owners, partitions, clock })
}

/** Warns of limits that other partitions do not share, of targets that are not there, and of cycles that the definitions close, among each other or with existing jobs. */
async function warn(
  { owners, partitions, names, existingTopics }: ApiContext,
  plans: Shown[],
  valid: ReadonlyMap<string, Valid>,
  gone: AbortSignal | undefined,
): Promise<void> {
  const cycles = cyclesInForce({ owners, partitions }, planCycleJobsMax)
  // A dropped definition leaves the one in force; an invalid one is not in the plan.
  const written = plans.filter(({ action }) => action !== 'DROPPED' && action !== 'INVALID')
  const planned = written.flatMap((plan) => {
    const found = valid.get(String(plan.id))
    return found === undefined ? [] : [{ ...found, plan }]
  })
  for (const { id, definition } of planned) cycles.set(id, definition)
  const existing = written.length === 0 || existingTopics === undefined ? undefined : new Set(await existingTopics())
  for (const { plan, id, definition, warnings } of planned) {
    gone?.throwIfAborted()
    const ofTarget = existing && targetWarning(definition, existing, names)
    if (ofTarget !== undefined) warnings.push(ofTarget)
    if (followersOf(definition).length > 0) {
      const { path } = await cycles.through(id)
      if (path !== undefined) warnings.push(cycleWarning(path))
      const missing = await cycles.missing(id)
      if (missing.length > 0) warnings.push(missingWarning(missing))
    }
    if (warnings.length > 0) plan.warnings = warnings
  }
}

/** The bytes of a stored definition are not used. */
function jobOf(id: string, stored: StoredJob | undefined): Job {
  return stored === undefined ? { id } : { id, ...stored, definition: { ...stored.definition, bytes: emptyValue } }
}

function forecastRoute(
  instance: FastifyInstance,
  { owners, partitions, clock }: Pick<ApiContext, 'owners' | 'partitions' | 'clock'>,
): void {
  const config = { role: 'viewer' } as const
  instance.get<ForecastQuery>('/v1/forecast', { config, schema: forecastSchema }, async (request, reply) => {
    const { from: given, horizonMs, buckets, ...filter } = request.query
    const from = given === undefined ? clock.nowMs() : timeOf('from', given)
    const bucketMs = Math.ceil(horizonMs / buckets)
    const range: DueRange = { ...filter, from, to: from + bucketMs * Math.ceil(horizonMs / bucketMs), bucketMs }
    const counts = await whileAsked(request, reply, (asker) => {
      const of = (partition: number) => owners.ask(partition, (owner) => owner.forecast(partition, range, asker))
      return Promise.all(Array.from({ length: partitions }, (_, partition) => of(partition)))
    })
    return forecastOf(counts, range)
  })

  instance.get<DueJobsQuery>('/v1/forecast/jobs', { config, schema: dueJobsSchema }, async (request, reply) => {
    const { from: given, horizonMs, ...more } = request.query
    const from = timeOf('from', given)
    const range = { ...more, from, to: from + horizonMs }
    const due = await whileAsked(request, reply, (asker) => {
      const of = (partition: number) => owners.ask(partition, (owner) => owner.dueJobs(partition, range, asker))
      return Promise.all(Array.from({ length: partitions }, (_, partition) => of(partition)))
    })
    return dueJobsOf(due, range)
  })
}

/** A caller who may not see a value must not be able to guess it either. */
const redactOf = (role: Role | null) => (role === 'viewer' ? redacted : undefined)

/** The fields of the definition in force with values that the caller may not see. */
function hiddenIn(spec: JobDefinition | undefined, role: Role | null): { hidden?: string[] } {
  const redact = redactOf(role)
  if (spec === undefined || redact === undefined) return {}
  const whole = definitionToJson(spec)
  const shown = redact(whole)
  const differs = (name: string): boolean => JSON.stringify(whole[name]) !== JSON.stringify(shown[name])
  const hidden = Object.keys(whole).filter(differs)
  return hidden.length > 0 ? { hidden } : {}
}

function shownPlan({ fires, ...plan }: JobPlan) {
  const { added, removed, moved, kept, until } = fires
  return {
    ...plan,
    fires: {
      added: added.map(isoTime),
      removed: removed.map(isoTime),
      moved: moved.map(({ from, to }) => ({ from: isoTime(from), to: isoTime(to) })),
      kept,
      until: isoTime(until),
    },
  }
}

function totalsOf(plans: readonly Shown[]): Record<string, number> {
  const totals = { create: 0, update: 0, unchanged: 0, dropped: 0, invalid: 0, added: 0, removed: 0, moved: 0, kept: 0 }
  for (const { action, fires } of plans) {
    totals[action.toLowerCase() as Lowercase<Shown['action']>]++
    if (fires === undefined) continue
    const { added, removed, moved, kept } = fires as ReturnType<typeof shownPlan>['fires']
    totals.added += added.length
    totals.removed += removed.length
    totals.moved += moved.length
    totals.kept += kept
  }
  return totals
}

const repeated = (id: string) => ({
  ...{ field: 'id', value: id, limit: 'once in a plan' },
  message: `id is ${JSON.stringify(id)}, which this plan already has; allowed: once.`,
})

const tooMany = (maxFires: number, most: number) => ({
  ...{ field: 'maxFires', value: maxFires, limit: `at most ${most} with this number of jobs` },
  message: `maxFires is ${maxFires}; allowed with this number of jobs: at most ${most}. Plan fewer jobs at once, or lower maxFires.`,
})

interface Preview {
  Body: { schedule: Record<string, unknown>; from?: string | number; count: number }
}

export function scheduleRoutes(instance: FastifyInstance, { clock, calculator }: ApiContext): void {
  instance.post<Preview>(
    '/v1/schedules/preview',
    { config: { role: 'viewer' }, schema: previewSchema },
    async (request, reply) => {
      const { schedule, count } = request.body
      const from = request.body.from === undefined ? undefined : timeOf('from', request.body.from)
      const preview = await calculator.run('preview', () => [schedule, from ?? clock.nowMs(), count], askerOf(request, reply))
      if (!preview.ok) throw new RequestError('bad-definition', preview.problems)
      const { fires, warnings } = preview
      return { fires, ...(warnings.length > 0 && { warnings }) }
    },
  )
}
