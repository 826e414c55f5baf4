/** An operation in JSON. */
import { isoTime } from '../../../streams/text/index.ts'
import { hasEnded, type Operation, partialActions, triggerWithPayload } from '../../ports/index.ts'

export function operationToJson(operation: Operation) {
  const { id, createdAt, request, progress } = operation
  const { jobIds, runIds, tag, handler, status, idPrefix, idContains, runStatus: state, payload, actor } = request
  const action = request.action === triggerWithPayload ? 'TRIGGER' : (partialActions[request.action] ?? request.action)
  const listed = jobIds ?? runIds
  const { errorType, errorKind, diedFrom, diedTo } = request
  const ends = { errorType, errorKind, from: diedFrom && isoTime(diedFrom), to: diedTo && isoTime(diedTo) }
  const filter = Object.entries({ tag, handler, status, idPrefix, idContains, state, ...ends }).filter(
    ([, value]) => value !== null,
  )
  const { total = null, applied = 0, refused = 0, reasons = [], problem = null, driver = null } = progress ?? {}
  return {
    ...{ id, action, filter: listed === null ? Object.fromEntries(filter) : null, listed: listed?.length ?? null },
    ...{ payloadBytes: payload?.length ?? null, actor, status: statusOf(operation), total, applied, refused },
    reasons: reasons.map(({ code, reason, count, example }) => ({ code, reason, count, example })),
    problem,
    createdAt: isoTime(createdAt),
    startedAt: progress === undefined ? null : isoTime(progress.startedAt),
    effectiveAt: progress?.effectiveAt == null ? null : isoTime(progress.effectiveAt),
    endedAt: progress?.endedAt == null ? null : isoTime(progress.endedAt),
    driver: driver === '' ? null : driver,
  }
}

function statusOf(operation: Operation): string {
  const { progress, cancel } = operation
  if (progress !== undefined && hasEnded(operation)) return progress.status
  if (cancel !== undefined) return 'CANCELLING'
  return progress?.status ?? 'WAITING'
}
