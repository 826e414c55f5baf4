/** Connects the load of pools with the owners, the metrics and the executor processes. */
import { withTimeout } from '../../ground/concurrency/index.ts'
import { whenRead } from '../../ground/metrics/index.ts'
import type { LogAdmin } from '../../ground/ports/index.ts'
import type { OwnerDirectory } from '../../server/peers/index.ts'
import { type KeptProcesses, type PoolLoad, PoolLoads, ProcessScaler } from '../../server/scaling/index.ts'
import type { ProcessContext } from './process-context.ts'

/** A scrape waits no longer for the brokers; Prometheus gives up after 10 s. */
const shownMsMax = 3_000
/** Owners serve the forecasts of callers in turn. */
const asker = { caller: 'scaling' }

export function poolLoadsOf(
  { config, names, clock, partitions, pauses, logger }: ProcessContext,
  { admin, owners }: { admin: LogAdmin; owners: OwnerDirectory },
): PoolLoads {
  const all = Array.from({ length: partitions }, (_, partition) => partition)
  const isSupervisor = !config.roles.has('api')
  const prefix = names.group('exec.')
  return new PoolLoads({
    ...{ admin, names, clock, logger, slots: config.concurrency },
    // A worker process follows its own pools; the metric is for all.
    pools: async () =>
      isSupervisor
        ? config.pools
        : [...config.pools, ...(await admin.groups(prefix)).map((group) => group.slice(prefix.length)).sort()],
    runs: async () => (await owners.views()).map(({ phase, pools = [] }) => (phase === 'active' ? pools : undefined)),
    pauseOf: (pool) => pauses?.ofPool(pool),
    async forecast(range) {
      const counts = await Promise.all(
        all.map((partition) => owners.ask(partition, (owner) => owner.forecast(partition, range, asker))),
      )
      const due = new Map<string, number>()
      for (const { pools = [] } of counts) for (const each of pools) due.set(each.pool, (due.get(each.pool) ?? 0) + each.due)
      return due
    },
  })
}

/** The loads of the pools. Never rejects: those that cannot be measured in time are missing. */
export async function measured(loads: PoolLoads, { clock, logger }: ProcessContext): Promise<PoolLoad[]> {
  const work = loads
    .measure()
    .catch(
      (error: unknown) =>
        void logger.debug({ event: 'load-unknown', err: error }, 'The load of the pools is unknown; it is not shown.'),
    )
  return (await withTimeout(clock, shownMsMax, work)) ?? []
}

/** Each read of the metrics measures the pools. What cannot be measured is absent, so that nobody follows an old value. */
export function showPoolLoads(loads: PoolLoads, parts: ProcessContext): void {
  const { metrics } = parts
  // The gauges are read together, and share one measurement.
  const show = (gauge: Parameters<typeof whenRead>[0], measureOf: (load: PoolLoad) => number): void =>
    whenRead(gauge, async () =>
      (await measured(loads, parts)).map((load) => ({ labels: { pool: load.pool }, value: measureOf(load) })),
    )
  show(metrics.poolWorkersWanted, ({ wanted }) => wanted)
  show(metrics.poolBacklog, ({ backlog }) => backlog)
  show(metrics.poolForecast, ({ forecast }) => Math.round(forecast))
}

/** Only if the number of executor processes may change. */
export function startScaling(processes: KeptProcesses | undefined, loads: PoolLoads, parts: ProcessContext): void {
  const { config, instance, clock, metrics, logger, undo } = parts
  const { min, max } = config.executorProcesses
  if (processes === undefined || min === max) return
  const limits = { min, max, coolDownMs: config.executorCoolDownMs }
  const scaler = new ProcessScaler({
    loads,
    processes,
    parent: instance,
    pools: new Set(config.pools),
    ...limits,
    clock,
    metrics,
    logger,
  })
  scaler.start()
  undo.push(() => scaler.stop())
}
