/** A whole system on the real broker, asked over HTTP, with many jobs. */
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, vi } from 'vitest'
import { NonRetryableError } from '../../src/clients/library/index.ts'
import type { Operation } from '../../src/ground/answers/answers.ts'
import { readConfig } from '../../src/ground/config/config.ts'
import { type System, startSystem } from '../../src/program/system/system.ts'
import { brokers, registryUrl, uniquePrefix } from '../kafka/harness.ts'

export const far = '2040-01-01T00:00:00.000Z'
export const patience = { timeout: 120_000, interval: 50 }

/** One system with all roles; `start` adds a process of it. */
export async function openSystem() {
  const prefix = uniquePrefix()
  const folder = await mkdtemp(join(tmpdir(), 'duelog-operations-'))
  const systems: System[] = []
  /** Number of calls of the handler `give-up` by job. */
  const calls = new Map<string, number>()
  const handlers = {
    'give-up': ({ jobId }: { jobId: string }) => {
      calls.set(jobId, (calls.get(jobId) ?? 0) + 1)
      throw new NonRetryableError('there is no such customer')
    },
  }
  const settings = (roles: string, more: Record<string, string> = {}): Record<string, string> => ({
    KAFKA_BROKERS: brokers.join(','),
    SCHEMA_REGISTRY_URL: registryUrl,
    DUELOG_TOPIC_PREFIX: prefix,
    DUELOG_ROLES: roles,
    DUELOG_HTTP_PORT: '0',
    DUELOG_DATA_DIR: join(folder, randomUUID()),
    DUELOG_PARTITIONS: '3',
    DUELOG_REPLICATION: '1',
    ...more,
  })
  const start = async (roles: string, more: Record<string, string> = {}): Promise<System> => {
    const logger = pino({ level: process.env.LOG ?? 'silent' })
    const system = await startSystem({ config: readConfig(settings(roles, more)), handlers, logger })
    systems.push(system)
    await system.ready()
    return system
  }
  afterAll(async () => {
    for (const system of systems.toReversed()) await system.stop()
    await rm(folder, { recursive: true, force: true })
  }, 60_000)
  return { prefix, folder, start, settings, calls }
}

export async function ask(url: string, method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const answer = await fetch(`${url}${path}`, {
    method,
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers freely.
  return { status: answer.status, headers: answer.headers, body: text.startsWith('{') ? (JSON.parse(text) as any) : text }
}

/** Writes jobs in one batch. On a busy machine not all of them may be applied after the usual wait. */
export async function define(url: string, jobs: readonly object[]): Promise<void> {
  const answer = await fetch(`${url}/v1/jobs/batch?wait=applied`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-ndjson' },
    body: jobs.map((job) => JSON.stringify(job)).join('\n'),
  })
  const lines = (await answer.text()).trim().split('\n')
  const results = lines.map((line) => JSON.parse(line) as { ok?: boolean })
  if (results.some(({ ok }) => ok === false)) throw new Error(JSON.stringify(results.find(({ ok }) => ok === false)))
}

/** Resolves when an operation would find this many. */
export async function counted(url: string, request: object, count: number): Promise<void> {
  const now = async (): Promise<number> => (await ask(url, 'POST', '/v1/operations/count', request)).body.count
  await vi.waitUntil(async () => (await now()) === count, { timeout: 120_000, interval: 200 })
}

/** Resolves with the operation when it has ended. */
export async function ended(url: string, id: string): Promise<Operation> {
  let seen: Operation | undefined
  await vi
    .waitUntil(async () => {
      const answer = await ask(url, 'GET', `/v1/operations/${id}`)
      if (answer.status === 200) seen = answer.body as Operation
      return seen?.endedAt != null
    }, patience)
    .catch((error) => {
      throw new Error(`the operation does not end: ${JSON.stringify(seen)}`, { cause: error })
    })
  return seen as Operation
}

/** Asks for an operation and resolves with it when it has ended. */
export async function operate(url: string, request: object): Promise<Operation> {
  const made = await ask(url, 'POST', '/v1/operations', request)
  if (made.status !== 202) throw new Error(JSON.stringify(made.body))
  return ended(url, made.body.id)
}

/** Ids of all jobs that match a query. */
export async function idsOf(url: string, query: string): Promise<string[]> {
  const ids: string[] = []
  let cursor: string | undefined
  do {
    const { body } = await ask(url, 'GET', `/v1/jobs?limit=1000&${query}${cursor ? `&cursor=${cursor}` : ''}`)
    ids.push(...body.jobs.map(({ id }: { id: string }) => id))
    cursor = body.cursor ?? undefined
  } while (cursor !== undefined)
  return ids
}
