/** Schema of the route of the audit trail. */
import { closed, problemResponses, time, timeInput } from './common.ts'
import {
  auditChangesMax,
  auditJobIdsMax,
  auditKeptBytesMax,
  auditKeptMax,
  auditValueCharsMax,
  listLimitDefault,
  listLimitMax,
} from './limits.ts'

const auditRecordSchema = {
  title: 'AuditRecord',
  type: 'object',
  additionalProperties: false,
  required: [
    'at',
    'actor',
    'role',
    'action',
    'jobId',
    'runNo',
    'jobIds',
    'changes',
    'outcome',
    'status',
    'requestId',
    'address',
    'instance',
  ],
  properties: {
    at: time,
    actor: { type: 'string', description: 'Name of the token, or its role; the subject of a JWT; local without authentication.' },
    role: { type: ['string', 'null'] },
    action: { type: 'string', description: 'The requested change, such as PUT, DELETE or PAUSE.' },
    jobId: { type: ['string', 'null'] },
    runNo: { type: ['integer', 'null'] },
    target: {
      type: ['string', 'null'],
      description: 'The pool or the worker that was paused, drained or resumed; the id of an operation.',
    },
    filter: { type: ['string', 'null'], description: 'What chose the jobs or runs of a change of many, as JSON.' },
    jobIds: {
      type: 'array',
      items: { type: 'string' },
      description: `The jobs of a batch, and of a change of many by ids: the first ${auditJobIdsMax}.`,
    },
    changes: {
      type: 'array',
      description: `The fields of a definition that were changed, at most ${auditChangesMax}.`,
      items: {
        title: 'AuditChange',
        type: 'object',
        additionalProperties: false,
        required: ['field', 'before', 'after'],
        properties: {
          field: { type: 'string', description: 'Path of the field, such as schedule.cron.' },
          before: {
            type: ['string', 'null'],
            description: `Its value as JSON, at most ${auditValueCharsMax} characters, with masks for credentials, and the size of a payload. Null: its default, or there was no job.`,
          },
          after: { type: ['string', 'null'], description: 'The new value. Null: its default, or the job was deleted.' },
        },
      },
    },
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
  description: `About the latest ${auditKeptMax} records of the topic audit; at most ${auditKeptBytesMax / 1024 / 1024} MiB of them; older ones are in the topic itself. No record contains payloads, credentials or tokens.`,
  querystring: closed({
    jobId: {
      type: 'string',
      minLength: 1,
      maxLength: 255,
      description:
        'Changes of this job, batches that name it, and changes of many that are among its last 32 commands. The last are left out while no owner answers, if they were by a filter.',
    },
    actor: { type: 'string', minLength: 1, maxLength: 255 },
    action: { type: 'string', minLength: 1, maxLength: 64 },
    from: { ...timeInput, description: 'Only changes at this time or later: ISO 8601 with an offset, or epoch ms.' },
    to: { ...timeInput, description: 'Only changes before this time.' },
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
