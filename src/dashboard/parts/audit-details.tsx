/** What a change of the audit trail did: the filter of a bulk change, the jobs of a batch, the fields of a definition. */
import { type AuditRecord, counted, filterWords } from '../model/index.ts'
import { JobLink, Text } from './text.tsx'

/** IDs that are shown of a batch. */
const shownMax = 100

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
