/** Starts the executor and retrier roles: the workers of each pool, in this process or in child processes, and the retry forwarder. */
import { Executor, type GivenHandlers, loadHandlers } from '../executor/index.ts'
import { Retrier } from '../retrier/index.ts'
import { type Cluster, type ExecutorProcesses, startExecutorProcesses } from './executor-processes.ts'
import type { ProcessContext } from './process-context.ts'
import { builtInsOf } from './targets.ts'

/** `handlers`: added to the built-in ones and those of DUELOG_HANDLERS. Resolves with the executor processes, if there are any. */
export async function startExecuting(
  parts: ProcessContext,
  cluster: Cluster,
  handlers: GivenHandlers | undefined,
): Promise<ExecutorProcesses | undefined> {
  const { roles, executorProcesses } = parts.config
  let processes: ExecutorProcesses | undefined
  if (roles.has('executor')) {
    if (executorProcesses.max === 0) await startExecutors(parts, handlers ?? {})
    else processes = startExecutorProcesses(parts, cluster, handlers)
  }
  if (roles.has('retrier')) await startRetrier(parts)
  return processes
}

async function startExecutors(parts: ProcessContext, more: GivenHandlers): Promise<void> {
  const { config, logger, log, codecs, names, instance, metrics, clock, undo, givenUp, pauses, announced } = parts
  const handlers = {
    ...builtInsOf(parts),
    ...(config.handlers === undefined ? {} : await loadHandlers(config.handlers)),
    ...more,
  }
  const executors = config.pools.map(
    (pool) =>
      new Executor({
        log,
        codecs: { ...codecs, runLog: config.runLogsRetentionMs > 0 ? codecs.runLog : undefined },
        names,
        pool,
        concurrency: config.concurrency,
        handlers,
        instance,
        clock,
        metrics,
        logger,
        drainMs: config.drainMs,
        leadMs: config.leadMs,
        pauses,
        announced,
      }),
  )
  undo.push(() => Promise.all(executors.map((executor) => executor.stop())))
  givenUp.addEventListener('abort', () => {
    for (const executor of executors) executor.giveBack()
  })
  await Promise.all(executors.map((executor) => executor.start()))
}

async function startRetrier({
  config,
  log,
  codecs,
  names,
  instance,
  metrics,
  clock,
  logger,
  undo,
}: ProcessContext): Promise<void> {
  const retrier = new Retrier({ log, codecs, names, instance, clock, metrics, logger, leadMs: config.leadMs })
  undo.push(() => retrier.stop())
  await retrier.start()
}
