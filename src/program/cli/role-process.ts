/** Main program of a child process: the roles of the plan that its parent gives it, until SIGTERM. Its parent restarts it when it exits by itself. */
import { once } from 'node:events'
import { readdirSync, writeFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import { setTimeout } from 'node:timers/promises'
import { pino } from 'pino'
import { messageOf } from '../../ground/errors/index.ts'
import { limitRecordLogs } from '../../ground/logging/index.ts'
import { shownOf } from '../../ground/metrics/index.ts'
import { startMsMax, watchSignals } from '../../ground/process/index.ts'
import { followNote, planOf, startSystem, tellFailed, tellMetrics, tellReady } from '../system/index.ts'
import { boundHeap } from './memory.ts'

/** Of the front. 0 is that of others, 19 the last. With 10, answers beside a flood of probes took longer, and starts were as punctual. */
const niceness = 5

boundHeap()
const signals = watchSignals()
const ended = Promise.withResolvers<number>()
signals.stop.addEventListener('abort', () => ended.resolve(0), { once: true })

/** A stop waits for an unfinished start for a while, and not at all once the parent has gone. */
const givenUp = Promise.race([once(process, 'disconnect'), ended.promise.then(() => setTimeout(startMsMax))]).then(
  () => undefined,
)

async function start() {
  const plan = await planOf(process)
  const { config } = plan
  // What keeps the front busy takes little of the processors from the engine and from workers (docs/BENCHMARKS.md, `attacks`).
  if (plan.engineUrl !== undefined) lowerPriority()
  const logger = pino({ level: config.logLevel, ...limitRecordLogs() })
  const onFatal = (error: Error): void => {
    logger.fatal({ event: 'process-failed', err: error }, 'This child process cannot continue.')
    ended.resolve(1)
  }
  const announced = config.roles.has('executor') ? followNote(process) : undefined
  return { system: await startSystem({ config, logger, onFatal, announced, plan }), config, logger }
}

/**
 * On Linux, each thread has a priority, and V8 has begun its own. And where the kernel shares the processors by sessions (autogroup), the
 * priority of a thread counts in its session only, and a child process has a session of its own: the session has a priority too.
 */
function lowerPriority(): void {
  if (process.platform !== 'linux') return setPriority(niceness)
  for (const thread of readdirSync('/proc/self/task')) ifPossible(() => setPriority(Number(thread), niceness))
  ifPossible(() => writeFileSync('/proc/self/autogroup', String(niceness)))
}

/** The thread may have ended, and this kernel may have no such groups. */
function ifPossible(task: () => void): void {
  try {
    task()
  } catch {}
}

try {
  const started = await Promise.race([start(), givenUp])
  if (started === undefined) process.exit(0)
  const { system, config, logger } = started
  tellMetrics(process, () => shownOf(system.metrics.registry))
  tellReady(process, system)
  const { url, instance } = system
  logger.info(
    { event: 'child-process-ready', url: url || undefined, instance, roles: [...config.roles] },
    'A child process is ready.',
  )
  const code = await ended.promise
  await system.stop()
  process.exit(code)
} catch (error) {
  process.stderr.write(`duelog: ${messageOf(error)}\n`)
  await tellFailed(process, error)
  process.exit(1)
}
