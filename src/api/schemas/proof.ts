/** Schemas of the routes of the proof: what the auditors have checked and found. */
import { closed, problemResponses, time, timeOrNull } from './common.ts'
import { proofFindingsMax } from './limits.ts'

const count = { type: 'integer', minimum: 0 } as const
const counts = { type: 'object', additionalProperties: count } as const

export const proofSchema = {
  operationId: 'getProof',
  tags: ['System'],
  summary: 'Results of the auditors: how far they have judged, and the faults that they found',
  description:
    'Processes with the role auditor read the log as it grows and judge it as `duelog audit` does. Counts cover all partitions since their audit began; each auditor keeps them in its folder.',
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
        audited: { ...count, description: 'Number of partitions that an auditor reads and reports about.' },
        partitions: { ...count, description: 'Number of all partitions.' },
        since: { ...timeOrNull, description: 'When the audit of the last of these partitions began; null if none is audited.' },
        judgedUntil: {
          ...timeOrNull,
          description: 'In every partition, everything that was due up to this time is judged. Null: not yet.',
        },
        behindRecords: { ...count, description: 'Records of the log that remain to be read.' },
        records: { ...count, description: 'Number of records read.' },
        unreadable: { ...count, description: 'Records that are broken or not from Duelog.' },
        runs: { ...count, description: 'Number of judged runs.' },
        occurrences: { ...count, description: 'Nominal times that were compared with the schedule.' },
        found: { ...count, description: 'Faults of all kinds.' },
        findings: {
          ...counts,
          description: 'Faults by kind: lost, missed, duplicate, early, overdue, undispatched, gap, ended-twice.',
        },
        unjudged: {
          ...counts,
          description: 'Number of runs and times that could not be judged, by reason: runs, definition, calendar.',
        },
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
