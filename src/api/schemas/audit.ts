/** Schema of the audit trail's route. */
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
    action: { type: 'string', description: 'What was asked for, such as PUT, DELETE or PAUSE.' },
    jobId: { type: ['string', 'null'] },
    runNo: { type: ['integer', 'null'] },
    outcome: { type: 'string', description: 'DONE, or the code of the error.' },
    status: { type: 'integer', description: 'HTTP status of the answer.' },
    version: { type: ['string', 'null'], description: 'Place of the definition that was written.' },
    done: { type: ['integer', 'null'], description: 'Of a change of many: how many jobs or runs it reached.' },
    refused: { type: ['integer', 'null'], description: 'And how many it did not reach.' },
    requestId: { type: 'string' },
    address: { type: 'string' },
    instance: { type: 'string', description: 'The API process.' },
  },
} as const

export const auditSchema = {
  operationId: 'listAudit',
  tags: ['System'],
  summary: 'Who asked for which change, newest first',
  description: `The latest records of the topic audit, some ${auditKeptMax}; older ones are in the topic itself. Payloads and tokens are in none of them.`,
  querystring: closed({
    jobId: { type: 'string', minLength: 1, maxLength: 255 },
    actor: { type: 'string', minLength: 1, maxLength: 255 },
    action: { type: 'string', minLength: 1, maxLength: 64 },
    limit: { type: 'integer', minimum: 1, maximum: listLimitMax, default: listLimitDefault },
    cursor: { type: 'string', minLength: 1, description: 'What the page before gave.' },
  }),
  response: {
    200: {
      title: 'AuditPage',
      type: 'object',
      additionalProperties: false,
      required: ['records', 'cursor'],
      properties: {
        records: { type: 'array', items: auditRecordSchema },
        cursor: { type: ['string', 'null'], description: 'Asks for the next page; null at the end.' },
      },
    },
    ...problemResponses,
  },
} as const
