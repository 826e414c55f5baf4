/** What a change of the audit trail did, and the last change of a job. */
import { type AuditRecord, api, counted, filterWords, type Job, lastChangeOf, useResource, visible } from '../model/index.ts'
import { Fact } from './states.tsx'
import { JobLink, Text, When } from './text.tsx'

/** IDs that are shown of a batch. */
const shownMax = 100

/** The filter of a bulk change, the jobs of a batch, the fields of a definition. */
export function AuditDetails({ record: { filter, jobIds, changes } }: { record: AuditRecord }) {
  return (
    <>
      {filter != null && <span class="aside">{filterWords(filter)}</span>}
      {jobIds.length > 0 && (
        <details class="names">
          <summary>{counted(jobIds.length, 'job')}</summary>
          <ul class="code">
            {jobIds.slice(0, shownMax).map((id) => (
              <li key={id}>
                <JobLink id={id} />
              </li>
            ))}
            {jobIds.length > shownMax && <li>…</li>}
          </ul>
        </details>
      )}
      {changes.length > 0 && (
        <details class="names">
          <summary>{counted(changes.length, 'field')}</summary>
          <ul class="code">
            {changes.map(({ field, before, after }) => (
              <li key={field}>
                <Text of={field} />: {before !== null && <del>{<Text of={before} />}</del>}{' '}
                {after !== null ? <ins>{<Text of={after} />}</ins> : <span class="aside">removed</span>}
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  )
}

/** Refused changes may be newer. */
const lookedAt = 20

/** Who changed a job last, when, and what. */
export function LastChange({ job: { id, etag, status } }: { job: Job }) {
  // Asked again when the job has changed.
  const key = `${id} ${etag} ${status}`
  const { value } = useResource(key, (signal) => api.listAudit({ jobId: id, limit: lookedAt, signal }), false)
  const known = value.value && lastChangeOf(value.value.records, etag)
  const last = known?.record
  return (
    <Fact name="Changed last">
      {known?.byProducer && <>definition by a producer, to the topic jobs; the last by the API: </>}
      {known !== undefined && last === undefined && <span class="none">by a producer, to the topic jobs, or long ago</span>}
      {last !== undefined && (
        <>
          <span class="code">{visible(last.action)}</span> by <Text of={last.actor} /> <When at={last.at} />
          <AuditDetails record={last} />
        </>
      )}{' '}
      <a href={`/audit?jobId=${encodeURIComponent(id)}`}>All changes</a>
    </Fact>
  )
}
