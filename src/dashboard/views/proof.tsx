/** Results of the auditors: how much they judged, since when, and the faults they found. */
import { useSignal } from '@preact/signals'
import {
  acknowledgeFaults,
  ask,
  count,
  counted,
  duration,
  jobHref,
  mayOperate,
  nowMs,
  type Proof,
  useResource,
} from '../model/index.ts'
import { ActionButton, Heading, Loading, Problem, Table, Text, When } from '../parts/index.ts'

/** Descriptions of the kinds of faults. */
const kindWords: Record<string, string> = {
  lost: 'Lost: the run has no known end',
  missed: 'Missed: an occurrence without a run',
  duplicate: 'Duplicate: dispatched or run twice',
  early: 'Early: started before it was due',
  overdue: 'Overdue: due, but nothing was decided',
  undispatched: 'Undispatched: an attempt that was never dispatched',
  gap: 'Gap: a run number without a run',
  'ended-twice': 'Ended twice',
}

export function ProofView() {
  const found = useResource('proof', (signal) => ask<Proof>('/v1/proof', { signal }))
  const { value, problem } = found
  const proof = value.value
  return (
    <>
      <Heading title="Proof">
        <p class="beside">
          Auditors read the log of this system continuously. They check that each occurrence ran exactly once or was skipped by
          its job's policy.
        </p>
      </Heading>
      <Problem problem={problem.value} known={proof !== undefined} />
      {proof === undefined && problem.value === undefined && <Loading what="the audit results" />}
      {proof !== undefined && <Verdict proof={proof} />}
      {proof !== undefined && proof.audited > 0 && <Figures proof={proof} />}
      {proof !== undefined && proof.recent.length > 0 && <Faults proof={proof} changed={() => found.refresh()} />}
    </>
  )
}

function Verdict({ proof }: { proof: Proof }) {
  const { audited, partitions, found, unacknowledged, judgedUntil, since } = proof
  if (audited === 0)
    return <p class="state">No auditor is running. Start a process with the auditor role, or audit once with duelog audit.</p>
  const missing = partitions - audited
  const unjudged = Object.values(proof.unjudged).reduce((sum, each) => sum + each, 0)
  const all = found === 0 && missing === 0 && judgedUntil !== null
  return (
    <ul class="troubles" aria-label="Verdict">
      {found > 0 && (
        <li class={unacknowledged > 0 ? 'status bad' : 'status'}>
          <span>
            {counted(found, 'fault')} found, {unacknowledged === 0 ? 'all' : count(found - unacknowledged)} acknowledged. See the
            auditor's log for details.
          </span>
        </li>
      )}
      {missing > 0 && (
        <li class="status bad">
          <span>
            No auditor responds for {count(missing)} of {counted(partitions, 'partition')}.
          </span>
        </li>
      )}
      {unjudged > 0 && (
        <li class="status bad">
          <span>
            {counted(unjudged, 'item')} could not be judged: too many at once, or their records are no longer in the log.
          </span>
        </li>
      )}
      {found === 0 && judgedUntil === null && missing === 0 && (
        <li class="status">
          <span>Reading the log for the first time.</span>
        </li>
      )}
      {all && (
        <li class="status good">
          <span>
            According to the log, each due occurrence ran exactly once or was skipped by its job's policy, and none ran early
            {since !== null && (
              <>
                , since <When at={since} plain />
              </>
            )}
            .
          </span>
        </li>
      )}
    </ul>
  )
}

function Figures({ proof }: { proof: Proof }) {
  const { runs, occurrences, records, behindRecords, judgedUntil, since, unreadable } = proof
  const age = judgedUntil === null ? '—' : duration(Math.max(0, nowMs.value - Date.parse(judgedUntil)))
  return (
    <dl class="figures">
      <Figure name="Runs judged" value={count(runs)} />
      <Figure name="Occurrences" value={count(occurrences)} note="nominal times checked against the schedules" />
      <Figure name="Records read" value={count(records)} note={`${count(unreadable)} unreadable`} />
      <Figure name="Still to read" value={count(behindRecords)} note="records" />
      <Figure name="Judged up to" value={age} note="ago; later runs may still be in progress" />
      <div>
        <dt>Since</dt>
        <dd>{since === null ? '—' : <When at={since} />}</dd>
      </div>
    </dl>
  )
}

function Figure({ name, value, note }: { name: string; value: string; note?: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {value}
        {note !== undefined && <small>{note}</small>}
      </dd>
    </div>
  )
}

interface FaultsProps {
  proof: Proof
  changed: () => Promise<void>
}

function Faults({ proof: { recent, unacknowledged }, changed }: FaultsProps) {
  const reason = useSignal('')
  const acknowledge = (choice: { ids: string[] } | { upTo: string }) => () =>
    acknowledgeFaults(choice, reason.value.trim()).then((done) => {
      if (done) reason.value = ''
      return changed()
    })
  const newest = recent[0]?.at
  const hasReason = reason.value.trim() !== ''
  return (
    <>
      <h2>Latest faults</h2>
      {mayOperate.value && unacknowledged > 0 && newest !== undefined && (
        <div class="buttons">
          <label>
            What is known{' '}
            <input
              type="text"
              maxLength={500}
              value={reason.value}
              onInput={(event) => {
                reason.value = event.currentTarget.value
              }}
            />
          </label>
          <ActionButton disabled={!hasReason} run={acknowledge({ upTo: newest })}>
            Acknowledge all ({count(unacknowledged)})
          </ActionButton>
        </div>
      )}
      <Table of="faults" columns={['Found', 'Job or run', 'Kind', 'Detail', 'Acknowledged']}>
        {recent.map((fault) => (
          <tr key={`${fault.id ?? fault.at} ${fault.kind} ${fault.what} ${fault.detail}`}>
            <td>
              <When at={fault.at} />
            </td>
            <th scope="row" class="code">
              <a href={jobHref(jobIdOf(fault.what))}>
                <Text of={fault.what} />
              </a>
            </th>
            <td>{kindWords[fault.kind] ?? fault.kind}</td>
            <td>
              <Text of={fault.detail} />
            </td>
            <td>
              {fault.acknowledged !== null && (
                <>
                  <Text of={fault.acknowledged.reason} />
                  <span class="aside">
                    <Text of={fault.acknowledged.by} />, <When at={fault.acknowledged.at} plain />
                  </span>
                </>
              )}
              {fault.acknowledged === null && fault.id !== undefined && mayOperate.value && (
                <ActionButton
                  disabled={!hasReason}
                  label={`Acknowledge the fault of ${fault.what}`}
                  run={acknowledge({ ids: [fault.id] })}
                >
                  Acknowledge
                </ActionButton>
              )}
            </td>
          </tr>
        ))}
      </Table>
    </>
  )
}

/** A run is named `jobId/runNo`; the job ID itself may contain slashes. */
const jobIdOf = (what: string): string => what.replace(/\/\d+$/, '')
