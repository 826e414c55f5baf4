/** The executor role in child processes, so that handlers that keep a processor busy do not delay the scheduler. */
import { join } from 'node:path'
import { systemClock } from '../clock/index.ts'
import { settingByName } from '../config/index.ts'
import { DuelogError } from '../errors/index.ts'
import type { GivenHandlers } from '../executor/index.ts'
import { modulePath, supervise } from '../process/index.ts'
import { ChildMetrics } from './child-metrics.ts'
import type { ProcessContext } from './process-context.ts'

/** Time that a process needs to stop in addition to the drain: it sends its last reports and leaves its groups. */
const stopSecondsBesideDrain = 15

export interface Cluster {
  brokers: string[]
  registryUrl: string
}

/** Throws DuelogError `bad-config` for handlers that are given as functions, because they cannot be passed to another process. */
export function startExecutorProcesses(parts: ProcessContext, cluster: Cluster, handlers: GivenHandlers | undefined): void {
  const { config, logger, metrics, undo } = parts
  if (handlers !== undefined) {
    const message =
      'handlers given in code run in this process alone; name their module by DUELOG_HANDLERS, or leave DUELOG_EXECUTOR_PROCESSES out'
    throw new DuelogError('bad-config', message)
  }
  const script = modulePath('../cli/executor-process', import.meta.url)
  const kept = Array.from({ length: config.executorProcesses }, (_, index) => {
    const folder = join(config.dataDir, 'executors', String(index + 1))
    const childMetrics = new ChildMetrics(`executor-${index + 1}`, systemClock, (message) => child.send(message))
    metrics.sources.add(childMetrics.source)
    const child = supervise({
      title: `executor process ${index + 1}`,
      command: process.execPath,
      args: [script],
      env: environmentOf(parts, cluster, folder),
      folder,
      stopSeconds: Math.ceil(config.drainMs / 1_000) + stopSecondsBesideDrain,
      clock: systemClock,
      logger,
      onEnd: (end) => {
        metrics.executorEnds.inc({ end })
        childMetrics.ended()
      },
      onMessage: (message) => childMetrics.received(message),
    })
    return child
  })
  undo.push(() => Promise.all(kept.map((child) => child.stop())))
}

/** The environment of this process with its given settings, and the values that a worker of this system needs. */
function environmentOf(
  { config, partitions }: ProcessContext,
  { brokers, registryUrl }: Cluster,
  folder: string,
): NodeJS.ProcessEnv {
  const foreign = Object.entries(process.env).filter(([name]) => !name.startsWith('DUELOG_') && !settingByName.has(name))
  return {
    ...Object.fromEntries(foreign),
    ...config.given,
    KAFKA_BROKERS: brokers.join(','),
    SCHEMA_REGISTRY_URL: registryUrl,
    DUELOG_PARTITIONS: String(partitions),
    DUELOG_REPLICATION: String(config.replication),
    DUELOG_ROLES: 'executor',
    DUELOG_EXECUTOR_PROCESSES: '0',
    DUELOG_DATA_DIR: folder,
    // Metrics and probes, on a port that is logged.
    DUELOG_HTTP_HOST: '127.0.0.1',
    DUELOG_HTTP_PORT: '0',
  }
}
