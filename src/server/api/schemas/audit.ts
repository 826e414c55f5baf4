/** Schema of the route of the audit trail. */
import {
  answers,
  closed,
  integer,
  integerOrNull,
  integerUpTo,
  listOf,
  named,
  text,
  textOrNull,
  textUpTo,
  time,
  timeInput,
} from './common.ts'
import {
  auditChangesMax,
  auditJobIdsMax,
  auditKeptBytesMax,
  auditKeptMax,
  auditValueCharsMax,
  listLimitDefault,
  listLimitMax,
} from './limits.ts'

const auditRecordSchema = named(
  'AuditRecord',
  {
    at: time,
    actor: text('Name of the token, or its role; the subject of a JWT; local without authentication.'),
    role: { type: ['string', 'null'] },
    action: text('The requested change, such as PUT, DELETE or PAUSE.'),
    jobId: { type: ['string', 'null'] },
    runNo: { type: ['integer', 'null'] },
    target: textOrNull('The pool or the worker that was paused, drained or resumed; the id of an operation.'),
    filter: textOrNull('What chose the jobs or runs of a change of many, as JSON.'),
    jobIds: listOf({ type: 'string' }, `The jobs of a batch, and of a change of many by ids: the first ${auditJobIdsMax}.`),
    changes: listOf(
      named('AuditChange', {
        field: text('Path of the field, such as schedule.cron.'),
        before: textOrNull(
          `Its value as JSON, at most ${auditValueCharsMax} characters, with masks for credentials, and the size of a payload. Null: its default, there was no job, or the write had no condition, so that nobody looked.`,
        ),
        after: textOrNull('The new value. Null: its default, or the job was deleted.'),
      }),
      `The fields of a definition that were changed, at most ${auditChangesMax}.`,
    ),
    outcome: text('DONE, or the code of the error.'),
    status: integer('HTTP status of the answer.'),
    version: textOrNull('Version of the written definition: its partition and offset.'),
    done: integerOrNull('For a change of many jobs or runs: the number that was changed.'),
    refused: integerOrNull('The number that was not changed.'),
    requestId: { type: 'string' },
    address: { type: 'string' },
    instance: text('The API process.'),
  },
  ['target', 'filter', 'version', 'done', 'refused'],
)

export const auditSchema = {
  operationId: 'listAudit',
  tags: ['System'],
  summary: 'Requested changes with their callers, newest first',
  description: `About the latest ${auditKeptMax} records of the topic audit; at most ${auditKeptBytesMax / 1024 / 1024} MiB of them; older ones are in the topic itself. No record contains payloads, credentials or tokens.`,
  querystring: closed({
    jobId: textUpTo(
      255,
      'Changes of this job, batches that name it, and changes of many that are among its last 32 commands. The last are left out while no owner answers, if they were by a filter.',
    ),
    actor: textUpTo(255),
    action: textUpTo(64),
    from: { ...timeInput, description: 'Only changes at this time or later: ISO 8601 with an offset, or epoch ms.' },
    to: { ...timeInput, description: 'Only changes before this time.' },
    limit: integerUpTo(listLimitMax, listLimitDefault),
    cursor: { type: 'string', minLength: 1, description: 'The cursor of the previous page.' },
  }),
  response: answers(
    named('AuditPage', {
      records: listOf(auditRecordSchema),
      cursor: textOrNull('Cursor of the next page; null at the end.'),
    }),
  ),
} as const
