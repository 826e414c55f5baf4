/**
 * A whole Duelog on the real broker, used as its users do: definitions and commands over HTTP, and their own handlers. Each
 * feature of a definition is proved here once, end to end. The rules behind it have their cases in test/streams.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, vi } from 'vitest'
import type { Handler, Run } from '../../src/clients/library/index.ts'
import { NonRetryableError, RetryLaterError } from '../../src/clients/library/index.ts'
import { readConfig } from '../../src/ground/config/config.ts'
import { startSystem } from '../../src/program/system/system.ts'
import { topicNames } from '../../streams/topics/topics.ts'
import { brokers, registryUrl, uniquePrefix } from '../kafka/harness.ts'
import { Checker } from '../tools/checker.ts'
import type { SeenExecution } from '../tools/checker-audit.ts'

/** One attempt that a handler received. */
export interface Call {
  run: Run
  at: number
  /** Lets a call of `hold` return. */
  release(): void
}

export interface RunView {
  runNo: number
  status: string
  trigger: string
  scheduledFor: string
  attempts: number
  waitsFor: string | null
  result: unknown
  errors: { type: string; message: string; attempt: number; at: string }[]
  startedAt: string | null
  finishedAt: string | null
  progress: number | null
  message: string | null
}

export interface JobShown {
  status: string
  reason: string | null
  nextFireAt: string | null
  runNo: number
  scheduledRuns: number
  succeeded: number
  failed: number
  skipped: number
  cancelled: number
  deadRuns: number[]
  active: RunView[]
  lastRun: RunView | null
  definition: Record<string, unknown>
}

type Definition = Record<string, unknown>
const partitions = 2
const patience = { timeout: 60_000, interval: 50 }

/** One Duelog for all the tests of a file. Each test uses its own job ids. */
export async function openDuelog() {
  const prefix = uniquePrefix()
  const folder = await mkdtemp(join(tmpdir(), 'duelog-semantics-'))
  const calls: Call[] = []
  const watchers = new Set<() => void>()
  const handlers: Record<string, Handler> = {
    echo: (run) => note(run) && { payload: run.payload, attempt: run.attempt },
    hold: (run) =>
      new Promise((resolve, reject) => {
        run.signal.addEventListener('abort', () => reject(run.signal.reason), { once: true })
        note(run, () => resolve(null))
      }),
    'fail-always': (run) => {
      note(run)
      throw new Error(`attempt ${run.attempt} of ${run.jobId} fails`)
    },
    'give-up': (run) => {
      note(run)
      throw new NonRetryableError('there is no such customer')
    },
    'ask-later': (run) => {
      note(run)
      if (run.attempt === 1) throw new RetryLaterError(700, 'busy')
      return null
    },
    named: (run) => {
      note(run)
      throw Object.assign(new Error('refused'), { name: 'CardDeclined' })
    },
  }
  function note(run: Run, release: () => void = () => {}): true {
    calls.push({ run, at: Date.now(), release })
    for (const watch of [...watchers]) watch()
    return true
  }

  const start = async (settings: Record<string, string> = {}) => {
    const config = readConfig({
      KAFKA_BROKERS: brokers.join(','),
      SCHEMA_REGISTRY_URL: registryUrl,
      DUELOG_TOPIC_PREFIX: prefix,
      DUELOG_HTTP_PORT: '0',
      DUELOG_DATA_DIR: folder,
      DUELOG_PARTITIONS: String(partitions),
      DUELOG_REPLICATION: '1',
      DUELOG_POOLS: 'default,reports',
      ...settings,
    })
    const started = await startSystem({ config, handlers, logger: pino({ level: process.env.LOG ?? 'silent' }) })
    await started.ready()
    return started
  }
  let system = await start()
  const checker = await Checker.open({ brokers, prefix, partitions })
  afterAll(async () => {
    for (const call of calls) call.release()
    await system.stop()
    await checker.close()
    await rm(folder, { recursive: true, force: true })
  }, 60_000)

  const ask = async (method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }> => {
    const answer = await fetch(`${system.url}${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
    const text = await answer.text()
    return { status: answer.status, body: text === '' ? undefined : JSON.parse(text) }
  }
  const done = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const answer = await ask(method, path, body)
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  const pathOf = (id: string, more = ''): string => `/v1/jobs/${encodeURIComponent(id)}${more}`
  const job = async (id: string): Promise<JobShown> => (await done('GET', pathOf(id))) as JobShown

  return {
    names: topicNames(prefix),
    checker,
    /** The address of the current process. */
    url: () => system.url,
    calls,
    ask,
    job,
    /** Creates or replaces the job. Resolves when the owner has applied it. */
    put: (id: string, definition: Definition) =>
      done('PUT', pathOf(id, '?wait=applied'), { target: { handler: 'echo' }, ...definition }),
    remove: (id: string) => done('DELETE', pathOf(id, '?wait=applied')),
    command: (id: string, command: string, body?: unknown) => done('POST', pathOf(id, `/${command}`), body),
    onRun: (id: string, runNo: number, command: string) => done('POST', `/v1/runs/${encodeURIComponent(id)}/${runNo}/${command}`),
    runs: async (id: string): Promise<RunView[]> => ((await done('GET', pathOf(id, '/runs'))) as { runs: RunView[] }).runs,
    why: async (id: string) =>
      ((await done('GET', pathOf(id, '/why'))) as { why: { code: string; text: string; at: string }[] }).why,
    list: async (query: string): Promise<string[]> =>
      ((await done('GET', `/v1/jobs?${query}`)) as { jobs: { id: string }[] }).jobs.map(({ id }) => id),

    /** Resolves with the calls for a job once there are this many. */
    called: (id: string, count = 1): Promise<Call[]> =>
      new Promise((resolve) => {
        const look = (): void => {
          const found = calls.filter(({ run }) => run.jobId === id)
          if (found.length < count) return
          watchers.delete(look)
          resolve(found)
        }
        watchers.add(look)
        look()
      }),
    callsOf: (id: string): Call[] => calls.filter(({ run }) => run.jobId === id),
    /** Resolves with the job as soon as it matches. */
    jobThat: async (id: string, fits: (job: JobShown) => boolean): Promise<JobShown> => {
      let seen: JobShown | undefined
      await vi
        .waitUntil(async () => {
          seen = await job(id)
          return fits(seen)
        }, patience)
        .catch((error) => {
          throw new Error(`${id} stays as it is: ${JSON.stringify(seen)}`, { cause: error })
        })
      return seen as JobShown
    },
    /** Executions of the job that the log has, in the order of their runs. */
    executions: async (id: string, count: number): Promise<SeenExecution[]> => {
      const found = () => checker.executions.filter(({ jobId }) => jobId === id)
      await checker.until(() => found().length >= count)
      return found().sort((left, right) => left.runNo - right.runNo || left.attempt - right.attempt)
    },
    /** Stops the process in order. `during` runs while nothing fires. */
    without: async (during: () => Promise<void>, settings: Record<string, string> = {}): Promise<void> => {
      await system.stop()
      await during()
      system = await start(settings)
    },
  }
}

export type Duelog = Awaited<ReturnType<typeof openDuelog>>

/** Resolves when the clock shows this time. Later occurrences are due by then. */
export const at = (time: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, Math.max(0, time - Date.now())))

/** A schedule on a fixed grid. Such jobs do not depend on the time of their acceptance. */
export const every = (everyMs: number, more: Definition = {}): Definition => ({ schedule: { everyMs, anchor: 0, ...more } })
export const timesOf = (executions: { scheduledFor: number }[]): number[] => executions.map(({ scheduledFor }) => scheduledFor)
