/** Schemas of the routes of the proof. */
import { closed, problemResponses, time, timeOrNull } from './common.ts'
import { proofFindingsMax } from './limits.ts'

const count = { type: 'integer', minimum: 0 } as const
const counts = { type: 'object', additionalProperties: count } as const

export const proofSchema = {
  operationId: 'getProof',
  tags: ['System'],
  summary: 'What the auditors have proved of the running system, and what faults they found',
  description:
    'Processes with the role auditor read the log as it grows and judge it as `duelog audit` does. Counts are those of all partitions since their audit began; each auditor keeps them in its folder.',
  querystring: closed({}),
  response: {
    200: {
      title: 'Proof',
      type: 'object',
      additionalProperties: false,
      required: [
        ...['audited', 'partitions', 'since', 'judgedUntil', 'behindRecords', 'records', 'unreadable', 'runs', 'occurrences'],
        ...['found', 'findings', 'unjudged', 'recent'],
      ],
      properties: {
        audited: { ...count, description: 'Partitions that an auditor reads and answers for.' },
        partitions: { ...count, description: 'Partitions that there are.' },
        since: { ...timeOrNull, description: 'When the audit of the last of them began; null where none is audited.' },
        judgedUntil: {
          ...timeOrNull,
          description: 'All that was due up to then is judged, in every partition; null while that is not so.',
        },
        behindRecords: { ...count, description: 'Records of the log that are still to be read.' },
        records: { ...count, description: 'Records that were read.' },
        unreadable: { ...count, description: 'Records that are none of Duelog, or broken.' },
        runs: { ...count, description: 'Runs that were judged.' },
        occurrences: { ...count, description: 'Nominal times that were compared with the calendar.' },
        found: { ...count, description: 'Faults of all kinds.' },
        findings: {
          ...counts,
          description: 'Faults by kind: lost, missed, duplicate, early, overdue, undispatched, gap, ended-twice.',
        },
        unjudged: { ...counts, description: 'What could not be judged, by reason: runs, definition, calendar.' },
        recent: {
          type: 'array',
          maxItems: proofFindingsMax,
          description: 'The last faults, newest first.',
          items: {
            title: 'Finding',
            type: 'object',
            additionalProperties: false,
            required: ['at', 'kind', 'what', 'detail'],
            properties: {
              at: { ...time, description: 'When it was found.' },
              kind: { type: 'string' },
              what: { type: 'string', description: 'Job id, or run as jobId/runNo.' },
              detail: { type: 'string' },
            },
          },
        },
      },
    },
    ...problemResponses,
  },
} as const

/** Between processes of one system. */
export const internalProofSchema = { hide: true, querystring: closed({}) } as const
