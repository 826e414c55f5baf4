/** Schema of the route of the audit trail. */
import { closed, problemResponses, time } from './common.ts'
import { auditKeptMax, listLimitDefault, listLimitMax } from './limits.ts'

const auditRecordSchema = {
  title: 'AuditRecord',
  type: 'object',
  additionalProperties: false,
  required: ['at', 'actor', 'role', 'action', 'jobId', 'runNo', 'outcome', 'status', 'requestId', 'address', 'instance'],
  properties: {
    at: time,
    actor: { type: 'string', description: 'Name of the token, or its role; the subject of a JWT; local without authentication.' },
    role: { type: ['string', 'null'] },
    action: { type: 'string', description: 'The requested change, such as PUT, DELETE or PAUSE.' },
    jobId: { type: ['string', 'null'] },
    runNo: { type: ['integer', 'null'] },
    target: { type: ['string', 'null'], description: 'The pool or the worker that was paused, drained or resumed.' },
    outcome: { type: 'string', description: 'DONE, or the code of the error.' },
    status: { type: 'integer', description: 'HTTP status of the answer.' },
    version: { type: ['string', 'null'], description: 'Version of the written definition: its partition and offset.' },
    done: { type: ['integer', 'null'], description: 'For a change of many jobs or runs: the number that was changed.' },
    refused: { type: ['integer', 'null'], description: 'The number that was not changed.' },
    requestId: { type: 'string' },
    address: { type: 'string' },
    instance: { type: 'string', description: 'The API process.' },
  },
} as const

export const auditSchema = {
  operationId: 'listAudit',
  tags: ['System'],
  summary: 'Requested changes with their callers, newest first',
  description: `About the latest ${auditKeptMax} records of the topic audit; older ones are in the topic itself. No record contains payloads or tokens.`,
  querystring: closed({
    jobId: { type: 'string', minLength: 1, maxLength: 255 },
    actor: { type: 'string', minLength: 1, maxLength: 255 },
    action: { type: 'string', minLength: 1, maxLength: 64 },
    limit: { type: 'integer', minimum: 1, maximum: listLimitMax, default: listLimitDefault },
    cursor: { type: 'string', minLength: 1, description: 'The cursor of the previous page.' },
  }),
  response: {
    200: {
      title: 'AuditPage',
      type: 'object',
      additionalProperties: false,
      required: ['records', 'cursor'],
      properties: {
        records: { type: 'array', items: auditRecordSchema },
        cursor: { type: ['string', 'null'], description: 'Cursor of the next page; null at the end.' },
      },
    },
    ...problemResponses,
  },
} as const
