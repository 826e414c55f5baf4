/** `duelog up`: runs the system, or the chosen roles, until a signal stops it. */
import { pino } from 'pino'
import pkg from '../../../../package.json' with { type: 'json' }
import { type Clock, steadyClock, systemClock, waitFor } from '../../../ground/clock/index.ts'
import { type Config, environmentOf, readConfig } from '../../../ground/config/index.ts'
import type { Logger } from '../../../ground/logging/index.ts'
import { limitRecordLogs } from '../../../ground/logging/index.ts'
import { type Signals, startMsMax, watchSignals } from '../../../ground/process/index.ts'
import type { System, startSystem } from '../../system/index.ts'
import type { CommandPlan } from '../remote/index.ts'
import { type Output, oneLine, settingOptions, type Terminal } from '../terminal/index.ts'
import { keepCompiledCode, loadSystem } from './compiled-code.ts'

export const upCommand: CommandPlan = {
  name: 'up',
  description: 'Start Duelog and run it until SIGINT or SIGTERM. Flags override environment variables.',
  examples: [
    'up',
    'up --handlers ./handlers.ts --concurrency 200',
    'up --kafka-brokers broker-1:9092 --schema-registry-url http://registry:8081',
  ],
  options: settingOptions(),
  run: async ({ terminal, exit }, values: Record<string, unknown>) => {
    const env = { ...terminal.env, ...environmentOf(values) }
    const signals = watchSignals()
    try {
      exit(await up({ config: readConfig(env), levelChosen: env.DUELOG_LOG_LEVEL !== undefined, terminal, signals }))
    } finally {
      signals.dispose()
    }
  },
}

export interface UpOptions {
  config: Config
  /** Whether the user set a log level; by default a terminal shows only warnings. */
  levelChosen: boolean
  terminal: Terminal
  signals: Pick<Signals, 'stop'>
  start?: typeof startSystem
  /** Default: the clock of the machine. */
  clock?: Clock
}

/** Resolves with the exit code: 0 after a signal, 1 when the system could not continue. Rejects when it does not start. */
export async function up(options: UpOptions): Promise<number> {
  const { terminal, signals, clock = systemClock } = options
  const config = { ...options.config, logLevel: levelOf(options) }
  // Loaded on demand, so that the other commands start a second sooner.
  const start = options.start ?? (await loadSystem(config.dataDir))
  const logger = loggerFor(config, terminal)
  const say = sayOn(terminal.stdout.isTTY ? terminal.stdout : terminal.stderr)
  const ended = Promise.withResolvers<Error | undefined>()
  const onStop = (): void => {
    say('Stopping; a second signal ends at once.')
    ended.resolve(undefined)
  }
  if (signals.stop.aborted) onStop()
  else signals.stop.addEventListener('abort', onStop, { once: true })
  try {
    say(`Duelog ${pkg.version}, ${rolesOf(config)}`)
    const isSeparate = !config.oneProcess
    const starting = start({ config, logger, onProgress: say, onFatal: (error) => ended.resolve(error), isSeparate })
    const timeout = new AbortController()
    const giveUp = () => waitFor(startMsMax, steadyClock(clock), timeout.signal).catch(() => {})
    const system = await Promise.race([starting, ended.promise.then(giveUp)])
    timeout.abort()
    if (system === undefined) {
      // The start may wait for unreachable brokers. Everything that it has started ends with the process.
      starting.catch(() => {})
      const cause = await ended.promise
      if (cause !== undefined) terminal.stderr.write(`duelog: ${oneLine(cause.message)}\n`)
      say(`Stopped before the start was complete (waited ${startMsMax / 1_000} s for it).`)
      return cause === undefined ? 0 : 1
    }
    const end = await Promise.race([ended.promise, announce(system, config, logger, say).then(() => ended.promise)])
    if (end !== undefined) terminal.stderr.write(`duelog: ${oneLine(end.message)}\n`)
    await system.stop()
    say('Stopped.')
    return end === undefined ? 0 : 1
  } finally {
    signals.stop.removeEventListener('abort', onStop)
  }
}

/** Prints the addresses once all partitions of this process fire. A system that stops before that is not announced. */
async function announce(
  system: System,
  { roles, registryUrl: given }: Config,
  logger: Logger,
  say: (line: string) => void,
): Promise<void> {
  try {
    await system.ready()
  } catch (error) {
    logger.warn({ event: 'partitions-not-ready', err: error }, 'Not every partition became ready.')
    return
  }
  const { url, brokers, registryUrl, registryAnswered } = system
  logger.info({ event: 'system-ready', url, brokers, registryUrl, registryAnswered, partitions: system.partitions }, 'ready')
  keepCompiledCode()
  say('Ready.')
  const addresses = [
    ...(roles.has('api')
      ? ([
          ['Dashboard', `${url}/`],
          ['API', `${url}/v1`],
        ] as const)
      : []),
    ['Metrics', `${url}/metrics`],
    ['Health', `${url}/readyz`],
    ['Brokers', brokers.join(',')],
    ['Registry', `${registryUrl}${noteOn(given, registryAnswered)}`],
  ] as const
  for (const [name, address] of addresses) say(`  ${name.padEnd(10)}${address}`)
}

function noteOn(given: string | undefined, hasAnswered: boolean): string {
  if (given === undefined) return ' (runs while it is used)'
  return hasAnswered ? '' : ' (not responding yet; using known schema IDs)'
}

function rolesOf({ roles, pools, dataDir }: Config): string {
  const names = [...roles].map((role) => (role === 'executor' ? `executor of ${pools.join(', ')}` : role))
  return `roles ${names.join(', ')}; data in ${dataDir}`
}

function sayOn(output: Output): (line: string) => void {
  return (line) => void output.write(`${line}\n`)
}

const levelOf = ({ config, levelChosen, terminal }: UpOptions): Config['logLevel'] =>
  terminal.stdout.isTTY === true && !levelChosen ? 'warn' : config.logLevel

/** Writes JSON lines to stdout. */
function loggerFor({ logLevel }: Config, terminal: Terminal): Logger {
  return pino({ level: logLevel, ...limitRecordLogs() }, { write: (line: string) => void terminal.stdout.write(line) })
}
