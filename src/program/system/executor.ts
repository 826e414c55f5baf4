/** Starts the executor and retrier roles: the workers of each pool, in this process or in child processes, and the retry forwarder. */
import { systemClock } from '../../ground/clock/index.ts'
import { LazyWriter } from '../../ground/concurrency/index.ts'
import { peerNote } from '../../server/peers/index.ts'
import type { builtInHandlers as BuiltInHandlers, GivenHandlers, Handlers } from '../../worker/executor/index.ts'
import { type ExecutorProcesses, startExecutorProcesses } from './executor-processes.ts'
import type { ProcessContext } from './process-context.ts'
import type { Cluster } from './role-child.ts'

/** `handlers`: added to the built-in ones and those of DUELOG_HANDLERS. Resolves with the executor processes, if there are any. */
export async function startExecuting(
  parts: ProcessContext,
  cluster: Cluster,
  handlers: GivenHandlers | undefined,
): Promise<ExecutorProcesses | undefined> {
  const { roles, executorProcesses } = parts.config
  let processes: ExecutorProcesses | undefined
  if (executorProcesses.max > 0) processes = startExecutorProcesses(parts, cluster, handlers)
  if (roles.has('executor')) await startExecutors(parts, handlers ?? {})
  if (roles.has('retrier')) await startRetrier(parts)
  return processes
}

async function startExecutors(parts: ProcessContext, more: GivenHandlers): Promise<void> {
  const { config, logger, log, codecs, names, instance, metrics, clock, undo, givenUp, pauses, announced } = parts
  const { builtInHandlers, Executor, loadHandlers } = await import('../../worker/executor/index.ts')
  const handlers = {
    ...builtInsOf(parts, builtInHandlers),
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
        announced: () => ({ ...announced?.(), ...peerNote(parts.url, config.apiTokens, parts.hasFront) }),
      }),
  )
  undo.push(() => Promise.all(executors.map((executor) => executor.stop())))
  givenUp.addEventListener('abort', () => {
    for (const executor of executors) executor.giveBack()
  })
  await Promise.all(executors.map((executor) => executor.start()))
}

/** The built-in handlers. The writer of kafka.produce is opened at its first run. */
function builtInsOf({ config, log, undo }: ProcessContext, builtInHandlers: typeof BuiltInHandlers): Handlers {
  const produced = new LazyWriter(log)
  undo.push(() => produced.close())
  const { httpDeny, httpAllow, httpSigningKey, topicPrefix: prefix } = config
  return builtInHandlers({ httpDeny, httpAllow, httpSigningKey, writer: () => produced.open(), prefix, clock: systemClock })
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
  const { Retrier } = await import('../../worker/retrier/index.ts')
  const retrier = new Retrier({ log, codecs, names, instance, clock, metrics, logger, leadMs: config.leadMs })
  undo.push(() => retrier.stop())
  await retrier.start()
}
