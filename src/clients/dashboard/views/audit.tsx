/** Audit trail: who asked for which change, when, and what came of it. */
import { type AuditRecord, api, type Given, latest, mayOperate, useResource, visible } from '../model/index.ts'
import {
  AuditDetails,
  column,
  Empty,
  Heading,
  isSearched,
  JobLink,
  ListView,
  RunLink,
  Table,
  Text,
  When,
  wantedOf,
} from '../parts/index.ts'

const pageSize = 100
const fields = [
  { name: 'jobId', label: 'Job ID', code: true },
  { name: 'actor', label: 'Actor' },
  {
    name: 'action',
    label: 'Action',
    choices: [
      ...['PUT', 'CREATE', 'DELETE', 'PAUSE', 'RESUME', 'TRIGGER', 'CANCEL', 'SKIP', 'CANCEL_RUN', 'RETRY_RUN', 'REDRIVE'],
      ...['REDRIVE_MANY', 'BACKFILL', 'CANCEL_BACKFILL', 'BATCH', 'OPERATION', 'CANCEL_OPERATION'],
      ...['PAUSE_MANY', 'RESUME_MANY', 'CANCEL_MANY', 'TRIGGER_MANY', 'DELETE_MANY', 'DISCARD_MANY', 'CANCEL_RUN_MANY'],
      ...['PAUSE_POOL', 'DRAIN_POOL', 'RESUME_POOL', 'PAUSE_WORKER', 'DRAIN_WORKER', 'RESUME_WORKER', 'ACKNOWLEDGE_FAULT'],
    ],
  },
  { name: 'from', label: 'From', kind: 'time' },
  { name: 'to', label: 'To', kind: 'time' },
] as const

/** Others ask nothing: the server would refuse each request. */
export function AuditView({ query }: { query: URLSearchParams }) {
  if (mayOperate.value) return <Changes query={query} />
  return (
    <>
      <Heading title="Audit" />
      <Empty>The audit trail is for the roles operator and admin.</Empty>
    </>
  )
}

function Changes({ query }: { query: URLSearchParams }) {
  const cursor = query.get('cursor') ?? undefined
  const list = useResource(query.toString(), (signal) =>
    api.listAudit({ ...wantedOf<Given<'listAudit'>>(fields, query), limit: pageSize, cursor, signal }),
  )
  const none = isSearched(fields, query) ? 'No matching changes. IDs and names must match exactly.' : 'No changes yet.'
  return (
    <ListView
      {...{ title: 'Audit', href: '/audit', fields, query, of: list, what: 'the audit trail' }}
      beside={<Verdict />}
      shownOf={({ records }) => records.length}
    >
      {({ records }) =>
        records.length === 0 ? (
          <Empty>{none}</Empty>
        ) : (
          <Table
            of="changes"
            columns={columns}
            rows={records}
            keyOf={({ requestId, at, jobId }) => `${requestId} ${at} ${jobId}`}
          />
        )
      }
    </ListView>
  )
}

/** What the auditor of the log says, which is another audit. */
function Verdict() {
  const found = latest.value?.proof?.found
  return (
    <p class="beside">
      Changes that people and programs asked for. Whether the log kept its promise:{' '}
      <a href="/proof">
        {found === undefined ? 'the auditor’s verdict' : found === 0 ? 'no faults found' : `${found} faults found`}
      </a>
    </p>
  )
}

/** What was changed: a run, a job, or a pool or worker. */
function Changed({ record: { jobId, runNo, target } }: { record: AuditRecord }) {
  if (jobId !== null) return runNo === null ? <JobLink id={jobId} /> : <RunLink jobId={jobId} runNo={runNo} named />
  return target == null ? <>—</> : <Text of={target} />
}

const columns = [
  column<AuditRecord>('Time', ({ at }) => <When at={at} />),
  column<AuditRecord>('Actor', ({ actor, role }) => (
    <>
      <Text of={actor} />
      {role !== null && role !== actor && <span class="aside">{role}</span>}
    </>
  )),
  column<AuditRecord>('Action', ({ action }) => action, { class: 'code' }),
  column<AuditRecord>('On', (record) => <Changed record={record} />),
  column<AuditRecord>('Changed', (record) => <AuditDetails record={record} />),
  column<AuditRecord>('Outcome', ({ outcome, status, done, refused }) => (
    <>
      {outcome === 'DONE' ? <span class="status good">done</span> : <span class="status bad">{visible(outcome)}</span>}
      <span class="aside">
        {` ${status}`}
        {done != null && `, ${done} changed`}
        {refused != null && refused > 0 && `, ${refused} refused`}
      </span>
    </>
  )),
  column<AuditRecord>('Address', ({ address }) => visible(address), {
    class: 'code',
    hint: ({ requestId }) => `request ${visible(requestId)}`,
  }),
]
