/** Pools, workers and limits: what they do, and the pauses of pools and workers. */
import type { FastifyInstance } from 'fastify'
import { SharedAnswer } from '../../../ground/concurrency/index.ts'
import { DuelogError } from '../../../ground/errors/index.ts'
import type { KnownPause, PauseControl, PauseMode } from '../../../ground/ports/index.ts'
import type { ApiContext } from '../context/index.ts'
import { listExecutors, listLimits, listPools, listWorkers, membersByPool, withPause, withWorkerPause } from '../owners/index.ts'
import { limitsSchema, poolChangeSchemas, poolsSchema, workerChangeSchemas, workersSchema } from '../schemas/index.ts'

type Change = 'pause' | 'drain' | 'resume'
const changes: readonly [Change, PauseMode | undefined][] = [
  ['pause', 'PAUSE'],
  ['drain', 'DRAIN'],
  ['resume', undefined],
]
/** A paused worker that has been in no group for so long has ended. Its pause is dropped at the next change of a worker. */
const goneMs = 7 * 86_400_000

export function poolRoutes(instance: FastifyInstance, context: ApiContext): void {
  const config = { role: 'viewer' } as const
  const pools = new SharedAnswer(async () => ({ pools: await listPools(context) }))
  instance.get('/v1/pools', { config, schema: poolsSchema }, () => pools.get())
  const workers = new SharedAnswer(() => listWorkersAndProcesses(context))
  instance.get('/v1/workers', { config, schema: workersSchema }, () => workers.get())

  const limits = new SharedAnswer(async () => listLimits(context))
  instance.get('/v1/limits', { config, schema: limitsSchema }, () => limits.get())

  const control = (): PauseControl => {
    if (context.pauses !== undefined) return context.pauses
    throw new DuelogError('not-ready', 'This process changes no pauses; send the request to one with the role api.')
  }
  const pauseOf = (kind: KnownPause['kind'], name: string): KnownPause | undefined =>
    control()
      .all()
      .find((pause) => pause.kind === kind && pause.name === name)

  for (const [word, mode] of changes) {
    const upper = word.toUpperCase() as Uppercase<Change>

    instance.post<{ Params: { pool: string } }>(
      `/v1/pools/:pool/${word}`,
      { config: { role: 'operator', audit: `${upper}_POOL` }, schema: poolChangeSchemas[word] },
      async ({ params: { pool }, actor }) => {
        const pauses = control()
        const found = (await listPools(context)).find((view) => view.pool === pool)
        if (found === undefined) {
          const text = `There is no pool ${JSON.stringify(pool)}: no worker serves it, no run is in it, and this process has no topics for it.`
          throw new DuelogError('not-found', text)
        }
        if (mode === undefined) await pauses.resume('pool', pool)
        else if (pauseOf('pool', pool)?.mode !== mode) await pauses.pause({ kind: 'pool', name: pool, mode, actor, pools: [] })
        return withPause(found, pauseOf('pool', pool))
      },
    )

    instance.post<{ Params: { worker: string } }>(
      `/v1/workers/:worker/${word}`,
      { config: { role: 'operator', audit: `${upper}_WORKER` }, schema: workerChangeSchemas[word] },
      async ({ params: { worker }, actor }) => {
        const pauses = control()
        const all = await listWorkers(context)
        const found = all.find((view) => view.instance === worker)
        if (found === undefined) {
          const text = `There is no worker ${JSON.stringify(worker)}. Give its whole name, as GET /v1/workers shows it.`
          throw new DuelogError('not-found', text)
        }
        await dropGone(all, pauses)
        const served = found.pools.map(({ pool }) => pool)
        if (mode === undefined) await pauses.resume('worker', worker)
        else if (pauseOf('worker', worker)?.mode !== mode)
          await pauses.pause({ kind: 'worker', name: worker, mode, actor, pools: served })
        return withWorkerPause(found, pauseOf('worker', worker))
      },
    )
  }

  async function dropGone(all: Awaited<ReturnType<typeof listWorkers>>, pauses: PauseControl): Promise<void> {
    const before = context.clock.nowMs() - goneMs
    for (const { kind, name, at } of pauses.all()) {
      const isAtWork = (): boolean =>
        all.some(({ instance, running, connected }) => instance === name && (running > 0 || connected))
      if (kind === 'worker' && at < before && !isAtWork()) await pauses.resume('worker', name)
    }
  }
}

async function listWorkersAndProcesses(context: ApiContext) {
  const members = membersByPool(context)
  const [workers, executors] = await Promise.all([listWorkers(context, members), listExecutors(context, members)])
  return { workers, executors }
}
