/** Plans: what definitions would change, and how much is due. Nothing is written. */
import type { FastifyInstance } from 'fastify'
import type { JobDefinition } from '../../../schemas/index.ts'
import { definitionToJson, definitionWarnings } from '../../../streams/definitions/index.ts'
import { type JobPlan, type PlanRange, planning } from '../../../streams/jobs/index.ts'
import { emptyValue, type Job } from '../../../streams/state/index.ts'
import { isoTime } from '../../../streams/text/index.ts'
import { partitionOf } from '../../../streams/topics/index.ts'
import type { DueFilter, DueRange } from '../../ports/index.ts'
import type { ApiContext } from '../context/index.ts'
import type { Role } from '../guards/index.ts'
import {
  askerOf,
  describe,
  etagOf,
  givenId,
  identifiedDefinitionOf,
  RequestError,
  redacted,
  timeOf,
  whileAsked,
} from '../http/index.ts'
import {
  type Computation,
  cyclesInForce,
  cycleWarning,
  EventLoopYielder,
  followersOf,
  missingWarning,
  targetWarning,
} from '../jobs/index.ts'
import { dueJobsOf, forecastOf } from '../owners/index.ts'
import { dueJobsSchema, forecastSchema, planAskedMax, planCycleJobsMax, planSchema, planTimesMax } from '../schemas/index.ts'

interface PlanBody {
  Body: { jobs: unknown[]; horizonMs: number; maxFires: number }
}
interface ForecastQuery {
  Querystring: DueFilter & { from?: string; horizonMs: number; buckets: number }
}
interface DueJobsQuery {
  Querystring: DueFilter & { from: string; horizonMs: number; limit: number }
}
type Shown = Record<string, unknown> & { action: JobPlan['action'] | 'INVALID' }

export function planRoutes(instance: FastifyInstance, context: ApiContext): void {
  const { owners, partitions, clock, computeQueue } = context
  const config = { role: 'viewer' } as const

  const planOne = async (
    json: unknown,
    range: PlanRange,
    seen: Map<string, JobDefinition>,
    role: Role | null,
    computation: Computation,
  ): Promise<Shown> => {
    try {
      const { id, definition } = await computation.run(() => identifiedDefinitionOf(json))
      if (seen.has(id)) throw new RequestError('bad-definition', [repeated(id)])
      seen.set(id, definition)
      const partition = partitionOf(id, partitions)
      const stored = await owners.ask(partition, (owner) => owner.stored(partition, id))
      const job: Job = { id }
      if (stored !== undefined) Object.assign(job, { ...stored, definition: { ...stored.definition, bytes: emptyValue } })
      const etag = stored === undefined ? null : etagOf({ partition, offset: stored.definition.offset })
      const plan = await computation.runAll(planning(job, definition, range, sightOf(role)))
      return { id, etag, ...shownPlan(plan), ...hiddenIn(stored?.definition.spec, role) }
    } catch (error) {
      if (!(error instanceof RequestError)) throw error
      return { id: givenId(json) ?? null, action: 'INVALID', problems: describe(error).problems }
    }
  }

  instance.post<PlanBody>('/v1/jobs/plan', { config, schema: planSchema }, async (request, reply) => {
    const { jobs, horizonMs, maxFires } = request.body
    if (jobs.length * maxFires > planTimesMax)
      throw new RequestError('bad-request', [tooMany(maxFires, Math.floor(planTimesMax / jobs.length))])
    const from = clock.nowMs()
    const range = { from, to: from + horizonMs, max: maxFires }
    const seen = new Map<string, JobDefinition>()
    const plans: Shown[] = []
    const asker = askerOf(request, reply)
    const computation = computeQueue.of(asker)
    for (let at = 0; at < jobs.length; at += planAskedMax) {
      plans.push(
        ...(await Promise.all(
          jobs.slice(at, at + planAskedMax).map((json) => planOne(json, range, seen, request.role, computation)),
        )),
      )
    }
    await warn(context, plans, seen, asker.signal)
    return { from: isoTime(from), to: isoTime(range.to), jobs: plans, totals: totalsOf(plans) }
  })
  forecastRoute(instance, { owners, partitions, clock })
}

/** Warns of limits that other partitions do not share, of targets that are not there, and of cycles that the definitions close, among each other or with existing jobs. */
async function warn(
  { owners, partitions, names, existingTopics }: ApiContext,
  plans: Shown[],
  planned: ReadonlyMap<string, JobDefinition>,
  gone: AbortSignal | undefined,
): Promise<void> {
  const cycles = cyclesInForce({ owners, partitions }, planCycleJobsMax)
  // A dropped definition leaves the one in force; an invalid one is not in the plan.
  const written = plans.filter(({ action }) => action !== 'DROPPED' && action !== 'INVALID')
  for (const { id } of written) cycles.set(String(id), planned.get(String(id)) as JobDefinition)
  const existing = written.length === 0 || existingTopics === undefined ? undefined : new Set(await existingTopics())
  const yielder = new EventLoopYielder()
  for (const plan of written) {
    await yielder.yieldIfDue()
    gone?.throwIfAborted()
    const definition = planned.get(String(plan.id))
    if (definition === undefined) continue
    const warnings = definitionWarnings(String(plan.id), definition, partitions)
    const ofTarget = existing && targetWarning(definition, existing, names)
    if (ofTarget !== undefined) warnings.push(ofTarget)
    if (followersOf(definition).length > 0) {
      const { path } = await cycles.through(String(plan.id))
      if (path !== undefined) warnings.push(cycleWarning(path))
      const missing = await cycles.missing(String(plan.id))
      if (missing.length > 0) warnings.push(missingWarning(missing))
    }
    if (warnings.length > 0) plan.warnings = warnings
  }
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
const sightOf = (role: Role | null) => (role === 'viewer' ? redacted : undefined)

/** The fields of the definition in force with values that the caller may not see. */
function hiddenIn(spec: JobDefinition | undefined, role: Role | null): { hidden?: string[] } {
  const sight = sightOf(role)
  if (spec === undefined || sight === undefined) return {}
  const whole = definitionToJson(spec)
  const shown = sight(whole)
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
