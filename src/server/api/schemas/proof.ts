/** Schemas of the routes of the proof: what the auditors have checked and found. */
import { answers, closed, listOf, named, orNull, text, textOrNull, textUpTo, time, timeOrNull, titled } from './common.ts'
import { faultReasonCharsMax, proofFindingsMax } from './limits.ts'

const count = { type: 'integer', minimum: 0 } as const
const counts = { type: 'object', additionalProperties: count } as const

export const proofSchema = {
  operationId: 'getProof',
  tags: ['System'],
  summary: 'Results of the auditors: how far they have judged, and the faults that they found',
  description:
    'Processes with the role auditor read the log as it grows and judge it as `duelog audit` does. Counts cover all partitions since their audit began; each auditor keeps them in its folder.',
  querystring: closed({}),
  response: answers(
    named('Proof', {
      audited: { ...count, description: 'Number of partitions that an auditor reads and reports about.' },
      partitions: { ...count, description: 'Number of all partitions.' },
      since: { ...timeOrNull, description: 'When the audit of the last of these partitions began; null if none is audited.' },
      judgedUntil: textOrNull('In every partition, everything that was due up to this time is judged. Null: not yet.'),
      behindRecords: { ...count, description: 'Records of the log that remain to be read.' },
      records: { ...count, description: 'Number of records read.' },
      unreadable: { ...count, description: 'Records that are broken or not from Duelog.' },
      runs: { ...count, description: 'Number of judged runs.' },
      occurrences: { ...count, description: 'Nominal times that were compared with the schedule.' },
      found: { ...count, description: 'Faults of all kinds.' },
      unacknowledged: { ...count, description: 'Those that nobody has acknowledged.' },
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
        items: named('Finding', {
          id: text('To acknowledge it.'),
          at: { ...time, description: 'When it was found.' },
          kind: { type: 'string' },
          what: text('Job id, or run as jobId/runNo.'),
          detail: { type: 'string' },
          acknowledged: orNull(
            named('FaultAcknowledgement', { by: { type: 'string' }, at: time, reason: { type: 'string' } }),
            'Null: nobody has.',
          ),
        }),
      },
    }),
  ),
} as const

export const acknowledgeFaultsSchema = {
  operationId: 'acknowledgeFaults',
  tags: ['System'],
  summary: 'Acknowledge faults that the auditors found, so that the alert ends',
  description:
    'Give either `ids` or `upTo`. A fault stays in the list and in `found`. Who acknowledged it, when and why is kept with the accounts of its auditor and in the audit trail. A fault that is acknowledged already stays as it is.',
  querystring: closed({}),
  body: titled(
    'AcknowledgeFaultsRequest',
    {
      ids: {
        type: 'array',
        minItems: 1,
        maxItems: proofFindingsMax,
        items: { type: 'string', pattern: '^[0-9]{1,5}\\.[0-9]{1,15}$' },
        description: 'Ids of faults, as GET /v1/proof lists them.',
      },
      upTo: textUpTo(64, 'All faults that were found by this time, with those that are no longer listed.'),
      reason: textUpTo(faultReasonCharsMax, 'What is known about them.'),
    },
    ['reason'],
  ),
  response: answers(
    named(
      'AcknowledgedFaults',
      {
        acknowledged: { ...count, description: 'Faults that were not acknowledged before.' },
        unacknowledged: { ...count, description: 'Faults of the system that still are not.' },
        unknown: listOf({ type: 'string' }, 'Those of `ids` that no auditor lists. Absent: there are none.'),
      },
      ['unknown'],
    ),
  ),
} as const
