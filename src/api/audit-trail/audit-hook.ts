/** Writes each request for a change to the audit trail, when its answer is known and before the answer is sent. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { AuditChange } from '../../../schemas/index.ts'
import { auditJobIdsMax } from '../schemas/index.ts'
import type { AuditLog } from './audit-log.ts'

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
  | 'REDRIVE_MANY'
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
