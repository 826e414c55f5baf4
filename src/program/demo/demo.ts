/**
 * The demo from an empty machine: a day of real periodic CI jobs in one minute. It runs its own broker and registry in a temporary
 * folder, which is removed at the end. Downloads stay in the cache.
 */
import { rmSync } from 'node:fs'
import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathOf } from '../../ground/answers/index.ts'
import { type Config, readConfig } from '../../ground/config/index.ts'
import { messageOf } from '../../ground/errors/index.ts'
import type { Logger } from '../../ground/logging/index.ts'
import { signInsOf } from '../../log/cluster/index.ts'
import { type System, startSystem } from '../system/index.ts'
import { unlessAborted } from './abort.ts'
import { ciBuild, handlerName } from './ci-job.ts'
import { periodicJobsOf, planDay, totalsOf } from './day-plan.ts'
import { runDay } from './day-run.ts'
import { freePorts } from './free-ports.ts'
import { isProved, numberText, type Output, summaryText } from './output.ts'

export interface DemoOptions {
  /** How long the day takes. */
  seconds: number
  /** How many of the periodic jobs take part. */
  jobs: number
  output: Output
  /** Ends the demo early, after everything that it started is stopped. */
  signal: AbortSignal
  logger: Logger
  /** Port of the API, from DUELOG_HTTP_PORT; another port if it is taken. Default 8080. */
  httpPort?: number
  /** A running cluster instead of the embedded one, with the settings to sign in to it. For tests. */
  env?: { KAFKA_BROKERS: string; SCHEMA_REGISTRY_URL: string; DUELOG_TOPIC_PREFIX: string } & Record<string, string>
}

export type DemoOutcome = 'proved' | 'not-proved' | 'interrupted'

const input = new URL('../../../examples/kubernetes-ci-periodics.ndjson', import.meta.url)
/** Where Duelog listens by default. */
const usualPorts = { kafka: 19_092, registry: 18_081, http: 8_080 }
/** Builds mostly wait, so one process can run many at once. */
const concurrency = 512

/**
 * Rejects with DuelogError when the system does not start or cannot continue. In any case it leaves no process behind. It leaves no data
 * either, unless the error names a file in it.
 */
export async function runDemo(options: DemoOptions): Promise<DemoOutcome> {
  const { output, signal } = options
  const dataDir = await mkdtemp(join(tmpdir(), 'duelog-demo-'))
  const remove = (): void => rmSync(dataDir, { recursive: true, force: true, maxRetries: 3 })
  // A second signal ends the process at once and skips the cleanup below.
  process.once('exit', remove)
  let keep = false
  try {
    const outcome = await demoIn(dataDir, options)
    if (outcome === 'proved') output.write(nextSteps)
    return outcome
  } catch (error) {
    if (signal.aborted) return 'interrupted'
    // The message names a file in the folder that holds the details.
    keep = messageOf(error).includes(dataDir)
    throw error
  } finally {
    process.off('exit', remove)
    if (!keep) remove()
  }
}

async function demoIn(dataDir: string, options: DemoOptions): Promise<DemoOutcome> {
  const { seconds, output, logger } = options
  const begunAt = performance.now()
  const failed = new AbortController()
  const signal = AbortSignal.any([options.signal, failed.signal])
  const jobs = periodicJobsOf(await readFile(input, 'utf8')).slice(0, options.jobs)
  const plan = planDay(jobs, seconds * 1_000)
  output.write(`A day of the Kubernetes project's CI in ${seconds} seconds:\n`)
  output.write(
    `${numberText(jobs.length)} periodic ${jobs.length === 1 ? 'job' : 'jobs'} with ${numberText(plan.length)} occurrences, each to run exactly once.\n\n`,
  )
  const onStop = (): unknown => output.write('\nStopping; a second signal ends at once.\n')
  options.signal.addEventListener('abort', onStop, { once: true })
  let system: System | undefined
  try {
    const config = await configOf(dataDir, options)
    system = await startSystem({
      config,
      handlers: { [handlerName]: ciBuild },
      logger,
      onProgress: (message) => output.write(`${message}\n`),
      onFatal: (error) => failed.abort(error),
    })
    await unlessAborted(system.ready(), signal)
    const startMs = performance.now() - begunAt
    output.write(`Ready after ${(startMs / 1_000).toFixed(1)} s: API ${system.url}, broker ${system.brokers.join(',')}\n`)
    const { brokers, registryUrl, partitions } = system
    const { topicPrefix } = config
    const cluster = { brokers, registryUrl, topicPrefix, clientId: 'duelog-demo', logger, ...signInsOf(config) }
    const { verdict, readToEnd } = await runDay({ cluster, partitions, plan, compressedMs: seconds * 1_000, output, signal })
    output.write(`\n${summaryText({ verdict, totals: totalsOf(plan), startMs, readToEnd })}`)
    output.write('\nStopping the broker and the registry.\n')
    return isProved({ verdict, readToEnd }) ? 'proved' : 'not-proved'
  } finally {
    options.signal.removeEventListener('abort', onStop)
    await system?.stop()
  }
}

/** Only the port is taken from the user's settings, so that the demo is the same everywhere and touches no cluster of the user. */
async function configOf(dataDir: string, { env, httpPort = usualPorts.http }: DemoOptions): Promise<Config> {
  const ports = await freePorts({ ...usualPorts, http: httpPort })
  return readConfig({
    DUELOG_DATA_DIR: dataDir,
    DUELOG_EMBEDDED_KAFKA_PORT: String(ports.kafka),
    DUELOG_EMBEDDED_REGISTRY_PORT: String(ports.registry),
    DUELOG_HTTP_PORT: String(ports.http),
    DUELOG_PARTITIONS: '4',
    DUELOG_REPLICATION: '1',
    DUELOG_CONCURRENCY: String(concurrency),
    ...env,
  })
}

const url = 'http://127.0.0.1:8080'
const nextSteps = `
Next:
  npm start     the same system with its data in ./data and its API at port 8080
  curl -X PUT ${url}${pathOf('putJob', { id: 'hello' })} -H 'content-type: application/json' \\
       -d '{"schedule": {"everyMs": 5000}, "target": {"handler": "log"}}'
  curl ${url}${pathOf('listRuns', { id: 'hello' })}
`
