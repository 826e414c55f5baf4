/** Writes the audit trail: what a request asked for, what it changed, and its outcome. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { AuditChange, AuditEvent, AuditEventInput, JobDefinition } from '../../../../schemas/index.ts'
import { definitionToJson, isObject, withoutDefaults } from '../../../../streams/definitions/index.ts'
import { cutText } from '../../../../streams/text/index.ts'
import { partitionOf, type TopicNames } from '../../../../streams/topics/index.ts'
import type { Clock } from '../../../ground/clock/index.ts'
import type { Logger } from '../../../ground/logging/index.ts'
import type { Metrics } from '../../../ground/metrics/index.ts'
import type { Codec, LogWriter } from '../../../ground/ports/index.ts'
import { BoundedWriter, redacted } from '../http/index.ts'
import { auditChangesMax, auditJobIdsMax, auditValueCharsMax } from '../schemas/index.ts'

/** Names of changes in the audit trail. */
export type AuditAction =
  | 'PUT'
  | 'CREATE'
  | 'DELETE'
  | 'BATCH'
  | 'TRIGGER'
  | 'PAUSE'
  | 'RESUME'
  | 'CANCEL'
  | 'BACKFILL'
  | 'CANCEL_BACKFILL'
  | 'SKIP'
  | 'CANCEL_RUN'
  | 'RETRY_RUN'
  | 'REDRIVE'
  | 'OPERATION'
  | 'CANCEL_OPERATION'
  | 'PAUSE_POOL'
  | 'DRAIN_POOL'
  | 'RESUME_POOL'
  | 'PAUSE_WORKER'
  | 'DRAIN_WORKER'
  | 'RESUME_WORKER'
  | 'ACKNOWLEDGE_FAULT'
  | 'CHANGE_JOBS'

/** Facts of a request that only its handler knows. */
export interface Audited {
  /** In place of the route's name of the change. */
  action?: string
  jobId?: string
  done?: number
  refused?: number
  /** In place of the name in the path. */
  target?: string
  /** What chose the jobs or runs of a change of many. */
  filter?: object
  /** Its jobs by their IDs; the first are written. */
  jobIds?: readonly string[]
  changes?: AuditChange[]
}

declare module 'fastify' {
  interface FastifyRequest {
    audited: Audited | null
  }
}

/** Its fields have limits of their own, which are stricter. */
const filterCharsMax = 8_192

/** Refusals that a client can cause in any number at no cost: they are counted and not written. */
const unwritten = new Set(['unauthorized', 'too-many-requests'])

export function auditRequests(instance: FastifyInstance, audit: AuditLog): void {
  instance.decorateRequest('audited', null)
  instance.addHook('onSend', async (request, reply, payload) => {
    // A stream has not ended yet; its sender calls `recordOutcome` at its end.
    if (request.routeOptions.config.audit === undefined || typeof payload === 'object') return payload
    await recordOutcome(audit, request, reply, outcomeOf(reply.statusCode, payload))
    return payload
  })
}

/** Writes the audit record of a request. Routes that answer with a stream call it at the end of the stream. */
export async function recordOutcome(
  audit: AuditLog,
  request: FastifyRequest,
  reply: FastifyReply,
  outcome: string,
): Promise<void> {
  const { audit: action, internal } = request.routeOptions.config
  if (action === undefined || request.actor === null || unwritten.has(outcome)) return
  // A process of this system carries out an operation, which is in the trail. Anybody else with a token is not.
  if (internal === true && request.actor === 'peer') return
  const params = request.params as { id?: string; jobId?: string; runNo?: number | string; pool?: string; worker?: string }
  const { id, jobId = id, runNo, pool, worker = pool } = params
  const { audited } = request
  const etag = reply.getHeader('etag')
  await audit.record({
    actor: request.actor,
    role: request.role,
    action: audited?.action ?? action,
    jobId: audited?.jobId ?? jobId?.slice(0, 255) ?? null,
    runNo: Number.isSafeInteger(Number(runNo)) ? Number(runNo) : null,
    target: (audited?.target ?? worker)?.slice(0, 512) ?? null,
    filter: audited?.filter === undefined ? null : JSON.stringify(audited.filter).slice(0, filterCharsMax),
    jobIds: audited?.jobIds?.slice(0, auditJobIdsMax) ?? [],
    changes: outcome === 'DONE' ? (audited?.changes ?? []) : [],
    outcome,
    status: reply.statusCode,
    version: typeof etag === 'string' ? etag.replaceAll('"', '') : null,
    done: audited?.done ?? null,
    refused: audited?.refused ?? null,
    requestId: request.id,
    address: request.ip,
  })
}

function outcomeOf(status: number, payload: unknown): string {
  if (status < 400) return 'DONE'
  try {
    return String((JSON.parse(String(payload)) as { code?: unknown }).code ?? status)
  } catch {
    return String(status)
  }
}

/**
 * Writes the audit trail. A record is on the brokers before the answer of its request is sent. If the write fails, the change
 * itself has happened anyway: the record goes to the log of the process and is counted.
 */

export interface AuditLogOptions {
  writer: LogWriter
  codecs: { audit: Codec<AuditEvent, AuditEventInput> }
  names: TopicNames
  partitions: number
  clock: Clock
  instance: string
  logger: Logger
  metrics: Metrics
}

export class AuditLog {
  readonly #options: AuditLogOptions
  readonly #writer: BoundedWriter

  constructor(options: AuditLogOptions) {
    this.#options = options
    this.#writer = new BoundedWriter(options.writer)
  }

  /** Resolves when the record is on the brokers or could not be written. Never rejects. */
  async record(event: Omit<AuditEventInput, 'at' | 'instance'>): Promise<void> {
    const { codecs, names, partitions, clock, instance, logger, metrics } = this.#options
    const complete = { ...event, at: clock.nowMs(), instance }
    try {
      const key = event.jobId ?? ''
      const partition = partitionOf(key, partitions)
      await this.#writer.write([{ topic: names.audit, partition, key, value: codecs.audit.encode(complete) }])
    } catch (error) {
      metrics.auditLost.inc()
      logger.error(
        { event: 'audit-record-lost', err: error, audit: complete },
        'A record of the audit trail could not be written; this line contains it.',
      )
    }
  }
}

/** Undefined: there is no definition, or it cannot be read. */
export function definitionChanges(before: JobDefinition | undefined, after: JobDefinition | undefined): AuditChange[] {
  const [old, now] = [valuesOf(before), valuesOf(after)]
  const changes: AuditChange[] = []
  for (const field of new Set([...old.keys(), ...now.keys()])) {
    const [was, is] = [old.get(field), now.get(field)]
    // Masks are equal although the values below them differ.
    if (was?.exact === is?.exact) continue
    changes.push({ field: shortened(field), before: was?.shown ?? null, after: is?.shown ?? null })
    if (changes.length === auditChangesMax) break
  }
  return changes
}

interface Value {
  exact: string
  shown: string
}

const anyJson = Buffer.from('0')

/** The values that are not the default, by their paths. */
function valuesOf(definition: JobDefinition | undefined): Map<string, Value> {
  const values = new Map<string, Value>()
  if (definition === undefined) return values
  const { payload } = definition
  // Half a megabyte of JSON takes 30 ms to read, and is not shown.
  const small = payload === null ? definition : { ...definition, payload: anyJson }
  const { payload: _, payloadBase64: __, ...exact } = withoutDefaults(definitionToJson(small))
  walk(exact, redacted(exact), '', (path, value, shown) => {
    values.set(path, { exact: JSON.stringify(value), shown: shortened(JSON.stringify(shown)) })
  })
  if (payload !== null)
    values.set('payload', { exact: payload.toString('base64'), shown: JSON.stringify(`${payload.length} bytes`) })
  return values
}

/** Each value that is no object, with the one that may be shown. Both have the same fields. */
function walk(exact: unknown, shown: unknown, path: string, take: (path: string, exact: unknown, shown: unknown) => void): void {
  if (!isObject(exact) || !isObject(shown)) return take(path, exact, shown)
  for (const [name, value] of Object.entries(exact)) walk(value, shown[name], path === '' ? name : `${path}.${name}`, take)
}

const shortened = (text: string): string => (text.length > auditValueCharsMax ? `${cutText(text, auditValueCharsMax)}…` : text)
