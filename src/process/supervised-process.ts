/**
 * A process of ours that is kept running: started again when it ends by itself, each time later while it does not stay up, and ended with
 * us however we end, by the guard of the embedded broker. SIGTERM lets it finish what it does.
 *
 *   running ──ended by itself──► waiting ──► running …        stop, from either ──► stopped
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Logger } from 'pino'
import type { Clock } from '../clock/index.ts'
import { privateFolderMode } from './private-folder.ts'

const againFirstMs = 1_000
const againMaxMs = 30_000
/** Up for so long, it counts as healthy, and the next wait is the first one again. */
const healthyMs = 60_000

export interface SupervisedPlan {
  /** For messages. */
  title: string
  command: string
  args: string[]
  env: NodeJS.ProcessEnv
  /** Folder of its own; the guard's pid file is in it. */
  folder: string
  /** Between SIGTERM and SIGKILL. */
  stopSeconds: number
  clock: Clock
  logger: Logger
  /** It ended and nobody had asked it to: `code 1` or `SIGKILL`. */
  onEnd(how: string): void
  /** It said something over IPC. */
  onMessage?(message: unknown): void
}

export interface SupervisedProcess {
  /** Says something to it over IPC; false when nobody is there to hear it. */
  send(message: object): boolean
  /** Ends it and resolves when it has. Safe to call twice. */
  stop(): Promise<void>
}

export function supervise(plan: SupervisedPlan): SupervisedProcess {
  const { title, clock, logger, onEnd } = plan
  let child: ChildProcess | undefined
  let ended = Promise.resolve()
  let againMs = againFirstMs
  let callOff: (() => void) | undefined
  let stopping = false

  const run = (): void => {
    const startedAt = clock.steadyMs()
    child = start(plan)
    logger.info({ process: title }, 'started a process')
    const exit = Promise.withResolvers<void>()
    ended = exit.promise
    const onExit = (how: string): void => {
      exit.resolve()
      if (stopping) return
      if (clock.steadyMs() - startedAt >= healthyMs) againMs = againFirstMs
      logger.error({ process: title, end: how, againMs }, `${title} ended with ${how}; it is started again in ${againMs} ms.`)
      onEnd(how)
      callOff = clock.at(clock.nowMs() + againMs, run)
      againMs = Math.min(againMs * 2, againMaxMs)
    }
    child.on('message', (message) => plan.onMessage?.(message))
    child.once('exit', (code, signal) => onExit(wayOf(code, signal)))
    // No process came of it, so there is no exit either.
    child.once('error', (error) => onExit(`error ${(error as NodeJS.ErrnoException).code}`))
  }
  run()
  return {
    send(message) {
      if (child?.connected !== true) return false
      // One that ends at this moment does not answer.
      child.send(message, () => {})
      return true
    },
    async stop() {
      stopping = true
      callOff?.()
      child?.stdin?.end()
      await ended
    },
  }
}

/** Runs a program and ends it when the pipe to us closes; guard.sh says how it is called. */
export const guardScript = fileURLToPath(new URL('guard.sh', import.meta.url))

function start({ command, args, env, folder, stopSeconds }: SupervisedPlan): ChildProcess {
  mkdirSync(folder, { recursive: true, mode: privateFolderMode })
  // Detached: a Ctrl-C at the terminal reaches us only, and we end it in our order.
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

/** The guard passes a signal on as 128 and its number. */
function wayOf(code: number | null, signal: NodeJS.Signals | null): string {
  if (signal !== null) return signal
  const named = Object.entries(constants.signals).find(([, number]) => number + 128 === code)
  return named?.[0] ?? `code ${code}`
}
