/** Starts the embedded broker and registry side by side, and stops both when one of them fails to start. */
import { createServer } from 'node:net'
import { join } from 'node:path'
import { DuelogError, messageOf } from '../../ground/errors/index.ts'
import { artifactFolder, checkJars, jarLists, titles } from './artifacts.ts'
import { startBroker } from './broker.ts'
import { claimVersion, openDataFolder, requireSpace } from './data-folder.ts'
import { lockFolder } from './folder-lock.ts'
import type { GuardedProcess } from './guarded-process.ts'
import { stopStale } from './guarded-process.ts'
import { findJava } from './java.ts'
import { OnDemandRegistry } from './on-demand-registry.ts'
import type { Embedded, EmbeddedOptions, StartContext } from './options.ts'
import { registryUrlOf, startRegistry } from './registry.ts'
import { guardRegistry, type RegistryGuard } from './registry-guard.ts'

/**
 * Resolves when each requested service answers. Needs Java 17, and Maven for the very first start of a user.
 * Throws DuelogError `embedded-failed` or `foreign-data` in one sentence that says what to do; nothing runs on then.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const { wantKafka, wantRegistry } = options
  if (!wantKafka && !wantRegistry)
    return { brokers: undefined, registryUrl: undefined, registryUp: Promise.resolve(), stop: async () => {} }
  const dataDir = await openDataFolder(options.dataDir)
  const lock = await lockFolder(dataDir)
  if (lock.state === 'taken') {
    const holder = lock.pid === undefined ? 'another process' : `the process ${lock.pid}`
    throw new DuelogError(
      'embedded-failed',
      `The data folder ${dataDir} is in use by ${holder}, another Duelog; stop that one, or give this one another folder with DUELOG_DATA_DIR.`,
    )
  }
  let kafka: GuardedProcess | undefined
  let registry: OnDemandRegistry | undefined
  let guard: RegistryGuard | undefined
  let stopping = false
  const stopped = Promise.withResolvers<void>()
  const stop = async (): Promise<void> => {
    stopping = true
    // First, so that nothing starts it now.
    const registryEnded = registry?.stop()
    stopped.resolve()
    await Promise.all([guard?.close(), kafka?.stop(), registryEnded])
    await lock.release()
  }
  try {
    const context = await prepare(options, dataDir)
    const started = (of: GuardedProcess): void => {
      kafka = of
    }
    if (wantRegistry) {
      const { logger, registryIdleMs: idleMs } = options
      registry = new OnDemandRegistry({ dataDir, logger, idleMs, start: (onStart) => startRegistry(context, onStart) })
      guard = await guardRegistry(options.registryPort, registry)
    }
    const startLater = async (): Promise<void> => {
      await Promise.race([options.registryDue, stopped.promise])
      try {
        await registry?.start()
      } catch (error) {
        const failure = failureOf(error, dataDir)
        if (!stopping) options.onExit?.(failure)
        throw failure
      }
    }
    const later = wantKafka && options.registryDue !== undefined
    const [broker] = await Promise.all([
      wantKafka ? startBroker(context, started) : undefined,
      later ? undefined : registry?.start(),
    ])
    if (kafka !== undefined) {
      watch(kafka, options)
      options.logger.info({ event: 'embedded-broker-up', broker, dataDir }, 'The embedded broker is up.')
    }
    const registryUp = later ? startLater() : Promise.resolve()
    const registryUrl = wantRegistry ? registryUrlOf(context) : undefined
    // onExit reports the failure to a caller that does not await it.
    registryUp.catch(() => {})
    return { brokers: broker === undefined ? undefined : [broker], registryUrl, registryUp, stop }
  } catch (error) {
    await stop()
    throw failureOf(error, dataDir)
  }
}

const failureOf = (error: unknown, dataDir: string): DuelogError =>
  error instanceof DuelogError ? error : new DuelogError('embedded-failed', sentenceOf(error, dataDir), { cause: error })

/** Unexpected errors of the file system, such as a cache without write permission or a disk that is full by now. */
function sentenceOf(error: unknown, dataDir: string): string {
  const full = (error as NodeJS.ErrnoException).code === 'ENOSPC'
  const advice = full
    ? 'The disk is full: free some, or choose another folder with DUELOG_DATA_DIR.'
    : 'Make the path it names usable.'
  return `The embedded broker and registry in ${dataDir} could not be started: ${messageOf(error)}. ${advice}`
}

/** All checks that can fail before a Java process is started. */
async function prepare(options: EmbeddedOptions, dataDir: string): Promise<StartContext> {
  const { wantKafka, wantRegistry, kafkaPort, registryPort, logger } = options
  const env = options.env ?? process.env
  await claimVersion(dataDir, { kafka: wantKafka, registry: wantRegistry })
  await requireSpace(dataDir)
  const [java] = await Promise.all([findJava(env), stopStales(dataDir, logger)])
  if (wantKafka) {
    await requireFreePort(kafkaPort, 'the embedded broker', 'DUELOG_EMBEDDED_KAFKA_PORT')
    await requireFreePort(kafkaPort + 1, "the embedded broker's controller", 'DUELOG_EMBEDDED_KAFKA_PORT')
  }
  if (wantRegistry) await requireFreePort(registryPort, 'the embedded registry', 'DUELOG_EMBEDDED_REGISTRY_PORT')
  const onProgress = options.onProgress ?? (() => {})
  const context = {
    ...options,
    env,
    dataDir,
    java: java.path,
    javaVersion: java.version,
    onProgress,
    partitionsDefault: options.partitionsDefault ?? 4,
    kafkaHeapMb: options.kafkaHeapMb ?? 384,
    jarLists: options.jarLists ?? jarLists,
    optimizesCode: options.optimizesCode ?? false,
    logDir: join(dataDir, 'logs'),
  }
  // Both are fetched before either starts, so that a failed download leaves no half-started system.
  if (wantKafka) await checkJars('kafka', await artifactFolder('kafka', context), context.jarLists)
  if (wantRegistry) await checkJars('registry', await artifactFolder('registry', context), context.jarLists)
  onProgress(`Starting ${[wantKafka && titles.kafka, wantRegistry && titles.registry].filter(Boolean).join(' and ')} …`)
  return context
}

async function stopStales(dataDir: string, logger: EmbeddedOptions['logger']): Promise<void> {
  await Promise.all(
    ['kafka', 'registry'].map(async (name) => {
      const pid = await stopStale(join(dataDir, `${name}.pid`), dataDir)
      if (pid !== undefined)
        logger.warn(
          { event: 'stale-process-stopped', stalePid: pid, name, dataDir },
          'A process of an earlier Duelog still ran and was stopped.',
        )
    }),
  )
}

/** Reports a broker that ends without having been stopped. There is no restart, because its state is in doubt. */
function watch(process: GuardedProcess, { logger, onExit }: EmbeddedOptions): void {
  void process.exited.then(() => {
    if (process.stopping) return
    const error = process.failure('ended by itself')
    logger.error({ event: 'embedded-process-ended' }, error.message)
    onExit?.(error)
  })
}

/**
 * Refuses a port that another program uses, before a Java process is started that would fail on it.
 * Throws DuelogError `embedded-failed` naming the port, its use and the setting that moves it.
 */
async function requireFreePort(port: number, use: string, setting: string): Promise<void> {
  const taken = await new Promise<NodeJS.ErrnoException | undefined>((resolve) => {
    const server = createServer()
    server.once('error', resolve)
    server.listen({ host: '127.0.0.1', port, exclusive: true }, () => server.close(() => resolve(undefined)))
  })
  if (!taken) return
  const why = taken.code === 'EADDRINUSE' ? 'is taken by another process' : `cannot be used (${taken.message})`
  throw new DuelogError(
    'embedded-failed',
    `Port ${port} of 127.0.0.1, wanted for ${use}, ${why}. Free it, or choose another with ${setting}.`,
    { cause: taken },
  )
}
