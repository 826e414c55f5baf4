/**
 * The front of a Duelog as a child process: the API with its dashboard and operations, the intake, the auditor and the history. It has the
 * address of Duelog, and reaches the engine of this process through an HTTP server on this machine.
 */
import { join } from 'node:path'
import { systemClock } from '../../ground/clock/index.ts'
import type { Config } from '../../ground/config/index.ts'
import { advertised, modulePath, supervise } from '../../ground/process/index.ts'
import type { ProcessContext } from './process-context.ts'
import {
  answerPlan,
  ChildMetrics,
  type Cluster,
  childFlags,
  environmentOf,
  failureOf,
  isPlanQuestion,
  type ReadyChild,
  type RolePlan,
  readyChild,
} from './role-child.ts'

/** It ends open requests, its operations and its groups. */
const stopSeconds = 20

interface FrontOptions {
  /** With the roles and the address of the front. */
  config: ProcessContext['config']
  cluster: Cluster
  engineUrl: string
}

/** What the HTTP server of these settings is called by other processes. The port is not 0. */
export function addressBySettings({ advertisedUrl, httpHost, httpPort, httpsCertFile }: Config): string {
  const host = httpHost.includes(':') ? `[${httpHost}]` : httpHost
  return advertised(advertisedUrl, `${httpsCertFile === undefined ? 'http' : 'https'}://${host}:${httpPort}`)
}

/** Resolves when it serves requests. Rejects with the reason of its first start that fails. Later, it is started again. */
export function startFront(
  { logger, metrics, undo }: Pick<ProcessContext, 'logger' | 'metrics' | 'undo'>,
  { config, cluster, engineUrl }: FrontOptions,
): Promise<ReadyChild> {
  const first = Promise.withResolvers<ReadyChild>()
  let { httpPort } = config
  const planOf = (): RolePlan => ({
    ...{ config: { ...config, httpPort }, cluster, engineUrl },
    name: 'front.instance',
  })
  const counts = new ChildMetrics('front', systemClock, (message) => child.send(message))
  // It shows its own beside ours, which it reads.
  metrics.sources.add(counts.former)
  const child = supervise({
    title: 'the front',
    command: process.execPath,
    args: [...childFlags, modulePath('../cli/role-process', import.meta.url)],
    env: environmentOf(config),
    folder: join(config.dataDir, 'front'),
    stopSeconds,
    clock: systemClock,
    logger,
    onEnd: () => counts.ended(),
    isReady: (message) => readyChild(message) !== undefined,
    onMessage(message) {
      const ready = readyChild(message)
      const failure = failureOf(message)
      if (isPlanQuestion(message)) answerPlan(planOf(), child.send)
      else counts.received(message)
      if (failure !== undefined) first.reject(failure)
      if (ready === undefined) return
      // A port that was chosen by the system stays the same after a restart.
      httpPort = Number(new URL(ready.url).port)
      first.resolve(ready)
    },
  })
  undo.push(() => child.stop())
  return first.promise
}
