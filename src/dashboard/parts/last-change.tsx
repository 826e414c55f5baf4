/** Who changed a job last, when, and what. */
import { type AuditPage, ask, type Job, lastChangeOf, path, useResource, visible } from '../model/index.ts'
import { AuditDetails } from './audit-details.tsx'
import { Text } from './text.tsx'
import { When } from './when.tsx'

/** Refused changes may be newer. */
const lookedAt = 20

export function LastChange({ job: { id, etag, status } }: { job: Job }) {
  const href = `/audit?jobId=${encodeURIComponent(id)}`
  // Asked again when the job has changed.
  const { value } = useResource(
    `${id} ${etag} ${status}`,
    (signal) => ask<AuditPage>(path(['audit'], { jobId: id, limit: lookedAt }), { signal }),
    false,
  )
  const known = value.value && lastChangeOf(value.value.records, etag)
  const last = known?.record
  return (
    <div>
      <dt>Changed last</dt>
      <dd>
        {known?.byProducer && <>definition by a producer, to the topic jobs; the last by the API: </>}
        {known !== undefined && last === undefined && <span class="none">by a producer, to the topic jobs, or long ago</span>}
        {last !== undefined && (
          <>
            <span class="code">{visible(last.action)}</span> by <Text of={last.actor} /> <When at={last.at} />
            <AuditDetails record={last} />
          </>
        )}{' '}
        <a href={href}>All changes</a>
      </dd>
    </div>
  )
}
