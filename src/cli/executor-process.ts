/** Main program of an executor process: the executor role of its environment, until SIGTERM. Its parent restarts it when it exits by itself. */
import { pino } from 'pino'
import { readConfig } from '../config/index.ts'
import { messageOf } from '../errors/index.ts'
import { limitRecordLogs } from '../logging/index.ts'
import { shownOf } from '../metrics/index.ts'
import { followNote, startSystem, tellJoined, tellMetrics } from '../system/index.ts'
import { boundHeap } from './memory.ts'
import { watchSignals } from './terminal/index.ts'

boundHeap()
const signals = watchSignals()
const ended = Promise.withResolvers<number>()
signals.stop.addEventListener('abort', () => ended.resolve(0), { once: true })

try {
  const config = readConfig(process.env)
  const logger = pino({ level: config.logLevel, base: { pid: process.pid }, ...limitRecordLogs() })
  const onFatal = (error: Error): void => {
    logger.fatal({ event: 'process-failed', err: error }, 'The executor process cannot continue.')
    ended.resolve(1)
  }
  const system = await startSystem({ config, logger, onFatal, announced: followNote(process) })
  tellMetrics(process, () => shownOf(system.metrics.registry))
  tellJoined(process, system.instance)
  logger.info({ event: 'executor-process-ready', url: system.url, pools: config.pools }, 'The executor process is ready.')
  const code = await ended.promise
  await system.stop()
  process.exit(code)
} catch (error) {
  process.stderr.write(`duelog: ${messageOf(error)}\n`)
  process.exit(1)
}
