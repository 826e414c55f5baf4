/**
 * A child process that is kept running. If it ends by itself, it is restarted, with a growing delay until it stays up. If it does not become
 * ready, it is ended and restarted too. However this process
 * ends, guard.sh ends the child. SIGTERM lets it finish its work.
 *
 *   running ──ended by itself──► waiting ──► running …        stop, from either ──► stopped
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Clock } from '../clock/index.ts'
import type { Logger } from '../logging/index.ts'
import { privateFolderMode } from './private-folder.ts'

const againFirstMs = 1_000
const againMaxMs = 30_000
/** After this uptime the child counts as healthy, and the next delay is the first one again. */
const healthyMs = 60_000
/** A child that has not said by then that it is ready stands still, for example in a module of handlers that never ends. */
export const readyMsMax = 120_000

export interface SupervisedPlan {
  /** For messages. */
  title: string
  command: string
  args: string[]
  env: NodeJS.ProcessEnv
  /** Folder of the child; it holds the pid file of the guard. */
  folder: string
  /** Between SIGTERM and SIGKILL. */
  stopSeconds: number
  clock: Clock
  logger: Logger
  /** The child ended without a stop: `code 1` or `SIGKILL`. */
  onEnd(how: string): void
  /** A message of the child over IPC. */
  onMessage?(message: unknown): void
  /** Whether a message says that the child is ready. Absent: it does not say so. */
  isReady?(message: unknown): boolean
}

export interface SupervisedProcess {
  /** Sends a message over IPC. False: the child is not connected. */
  send(message: object): boolean
  /** Ends the child and resolves when it has ended. Safe to call twice. */
  stop(): Promise<void>
}

export function supervise(plan: SupervisedPlan): SupervisedProcess {
  const { title, clock, logger, onEnd } = plan
  let child: ChildProcess | undefined
  let ended = Promise.resolve()
  let againMs = againFirstMs
  let cancelRestartTimer: (() => void) | undefined
  let stopping = false

  const run = (): void => {
    const startedAt = clock.steadyMs()
    const started = start(plan)
    child = started
    let isLate = false
    const onLate = (): void => {
      isLate = true
      killGroup(started)
    }
    const cancelReadyTimer = plan.isReady === undefined ? () => {} : clock.at(clock.nowMs() + readyMsMax, onLate)
    logger.info({ event: 'child-process-started', process: title }, 'A process has started.')
    const exit = Promise.withResolvers<void>()
    ended = exit.promise
    const onExit = (how: string): void => {
      exit.resolve()
      cancelReadyTimer()
      if (stopping) return
      if (clock.steadyMs() - startedAt >= healthyMs) againMs = againFirstMs
      logger.error(
        { event: 'child-process-ended', process: title, end: how, againMs },
        `${title} ended with ${how}; it is started again in ${againMs} ms.`,
      )
      onEnd(how)
      cancelRestartTimer = clock.at(clock.nowMs() + againMs, run)
      againMs = Math.min(againMs * 2, againMaxMs)
    }
    child.on('message', (message) => {
      if (plan.isReady?.(message)) cancelReadyTimer()
      plan.onMessage?.(message)
    })
    child.once('exit', (code, signal) => onExit(isLate ? `no start within ${readyMsMax / 1_000} s` : wayOf(code, signal)))
    // The process was not started, so there is no exit event.
    child.once('error', (error) => onExit(`error ${(error as NodeJS.ErrnoException).code}`))
  }
  run()
  return {
    send(message) {
      if (child?.connected !== true) return false
      // The callback ignores the error of a child that ends at this moment.
      child.send(message, () => {})
      return true
    },
    async stop() {
      stopping = true
      cancelRestartTimer?.()
      child?.stdin?.end()
      await ended
    },
  }
}

/** Runs a program and ends it when the pipe to this process closes. guard.sh documents its arguments. */
export const guardScript = fileURLToPath(new URL('guard.sh', import.meta.url))

function start({ command, args, env, folder, stopSeconds }: SupervisedPlan): ChildProcess {
  mkdirSync(folder, { recursive: true, mode: privateFolderMode })
  // Detached: Ctrl-C in the terminal reaches this process only, which then stops its parts in order.
  const child = spawn('/bin/sh', [guardScript, String(stopSeconds), join(folder, 'pid'), command, ...args], {
    env,
    // The guard uses 3 for itself and leaves 4 to the program.
    stdio: ['pipe', 'inherit', 'inherit', 'ignore', 'ipc'],
    detached: true,
  })
  child.channel?.unref()
  child.stdin?.on('error', () => {})
  return child
}

/** Ends the child, its guard and their children at once: they have a process group of their own. */
function killGroup({ pid }: ChildProcess): void {
  if (pid !== undefined) process.kill(-pid, 'SIGKILL')
}

/** The guard passes a signal on as 128 and its number. */
function wayOf(code: number | null, signal: NodeJS.Signals | null): string {
  if (signal !== null) return signal
  const named = Object.entries(constants.signals).find(([, number]) => number + 128 === code)
  return named?.[0] ?? `code ${code}`
}

/**
 * Path of a module that runs as a child process. `reference` is relative to the module `from` and has no extension: it is .ts in the
 * repository and .js in the package.
 */
export function modulePath(reference: string, from: string): string {
  return fileURLToPath(new URL(`${reference}${from.endsWith('.ts') ? '.ts' : '.js'}`, from))
}
