/** Audit trail: who asked for which change, when, and what came of it. */
import { type AuditPage, type AuditRecord, ask, latest, mayOperate, path, useResource, visible } from '../model/index.ts'
import {
  AuditDetails,
  Empty,
  Heading,
  isSearched,
  JobLink,
  Loading,
  Pages,
  Problem,
  RunLink,
  SearchForm,
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
      'PUT',
      'CREATE',
      'DELETE',
      'PAUSE',
      'RESUME',
      'TRIGGER',
      'CANCEL',
      'SKIP',
      'CANCEL_RUN',
      'RETRY_RUN',
      'REDRIVE',
      'REDRIVE_MANY',
      'BACKFILL',
      'CANCEL_BACKFILL',
      'BATCH',
      'OPERATION',
      'CANCEL_OPERATION',
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
  const key = query.toString()
  const cursor = query.get('cursor') ?? undefined
  const { value, problem } = useResource(key, (signal) =>
    ask<AuditPage>(path(['audit'], { ...wantedOf(fields, query), limit: pageSize, cursor }), { signal }),
  )
  const page = value.value
  return (
    <>
      <Heading title="Audit">
        <Verdict />
      </Heading>
      <SearchForm key={key} label="Audit" href="/audit" fields={fields} query={query} />
      <Problem problem={problem.value} known={page !== undefined} />
      {page === undefined && problem.value === undefined && <Loading what="the audit trail" />}
      {page?.records.length === 0 && (
        <Empty>{isSearched(fields, query) ? 'No matching changes. IDs and names must match exactly.' : 'No changes yet.'}</Empty>
      )}
      {page !== undefined && page.records.length > 0 && (
        <Table of="changes" columns={['Time', 'Actor', 'Action', 'On', 'Changed', 'Outcome', 'Address']}>
          {page.records.map((record) => (
            <Row key={`${record.requestId} ${record.at} ${record.jobId}`} record={record} />
          ))}
        </Table>
      )}
      {page !== undefined && <Pages href="/audit" query={query} cursor={page.cursor} shown={page.records.length} />}
    </>
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

function Row({ record }: { record: AuditRecord }) {
  const { at, actor, role, action, outcome, status, done, refused, address, requestId } = record
  return (
    <tr>
      <td>
        <When at={at} />
      </td>
      <td>
        <Text of={actor} />
        {role !== null && role !== actor && <span class="aside">{role}</span>}
      </td>
      <td class="code">{action}</td>
      <td>
        <Changed record={record} />
      </td>
      <td>
        <AuditDetails record={record} />
      </td>
      <td>
        {outcome === 'DONE' ? <span class="status good">done</span> : <span class="status bad">{visible(outcome)}</span>}
        <span class="aside">
          {` ${status}`}
          {done != null && `, ${done} changed`}
          {refused != null && refused > 0 && `, ${refused} refused`}
        </span>
      </td>
      <td class="code" title={`request ${visible(requestId)}`}>
        {visible(address)}
      </td>
    </tr>
  )
}
