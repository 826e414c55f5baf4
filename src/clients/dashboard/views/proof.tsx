/** Results of the auditors: how much they judged, since when, and the faults they found. */
import { useSignal } from '@preact/signals'
import {
  acknowledgeFaults,
  api,
  count,
  counted,
  duration,
  jobHref,
  mayOperate,
  nowMs,
  type Proof,
  setTo,
  useResource,
} from '../model/index.ts'
import { ActionButton, Answer, column, Figure, Finding, Heading, head, Table, Text, When } from '../parts/index.ts'

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
  const found = useResource('proof', (signal) => api.getProof({ signal }))
  return (
    <>
      <Heading title="Proof">
        <p class="beside">
          Auditors read the log of this system continuously. They check that each occurrence ran exactly once or was skipped by
          its job's policy.
        </p>
      </Heading>
      <Answer of={found} what="the audit results">
        {(proof) => (
          <>
            <Verdict proof={proof} />
            {proof.audited > 0 && <Figures proof={proof} />}
            {proof.recent.length > 0 && <Faults proof={proof} changed={() => found.refresh()} />}
          </>
        )}
      </Answer>
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
        <Finding {...(unacknowledged > 0 && { tone: 'bad' })}>
          {counted(found, 'fault')} found, {unacknowledged === 0 ? 'all' : count(found - unacknowledged)} acknowledged. See the
          auditor's log for details.
        </Finding>
      )}
      {missing > 0 && (
        <Finding tone="bad">
          No auditor responds for {count(missing)} of {counted(partitions, 'partition')}.
        </Finding>
      )}
      {unjudged > 0 && (
        <Finding tone="bad">
          {counted(unjudged, 'item')} could not be judged: too many at once, or their records are no longer in the log.
        </Finding>
      )}
      {found === 0 && judgedUntil === null && missing === 0 && <Finding>Reading the log for the first time.</Finding>}
      {all && (
        <Finding tone="good">
          According to the log, each due occurrence ran exactly once or was skipped by its job's policy, and none ran early
          {since !== null && (
            <>
              , since <When at={since} plain />
            </>
          )}
          .
        </Finding>
      )}
    </ul>
  )
}

function Figures({ proof }: { proof: Proof }) {
  const { runs, occurrences, records, behindRecords, judgedUntil, since, unreadable } = proof
  const age = judgedUntil === null ? '—' : duration(Math.max(0, nowMs.value - Date.parse(judgedUntil)))
  return (
    <dl class="figures">
      <Figure name="Runs judged">{count(runs)}</Figure>
      <Figure name="Occurrences" note="nominal times checked against the schedules">
        {count(occurrences)}
      </Figure>
      <Figure name="Records read" note={`${count(unreadable)} unreadable`}>
        {count(records)}
      </Figure>
      <Figure name="Still to read" note="records">
        {count(behindRecords)}
      </Figure>
      <Figure name="Judged up to" note="ago; later runs may still be in progress">
        {age}
      </Figure>
      <Figure name="Since">{since === null ? '—' : <When at={since} />}</Figure>
    </dl>
  )
}

type Fault = Proof['recent'][number]

function Faults({ proof: { recent, unacknowledged }, changed }: { proof: Proof; changed: () => Promise<void> }) {
  const reason = useSignal('')
  const acknowledge = (choice: { ids: string[] } | { upTo: string }) => async () => {
    if (await acknowledgeFaults(choice, reason.value.trim())) reason.value = ''
    await changed()
  }
  const newest = recent[0]?.at
  const hasReason = reason.value.trim() !== ''
  const columns = [
    column<Fault>('Found', ({ at }) => <When at={at} />),
    head<Fault>('Job or run', ({ what }) => <a href={jobHref(jobIdOf(what))}>{<Text of={what} />}</a>, { class: 'code' }),
    column<Fault>('Kind', ({ kind }) => kindWords[kind] ?? kind),
    column<Fault>('Detail', ({ detail }) => <Text of={detail} />),
    column<Fault>('Acknowledged', ({ acknowledged, id, what }) =>
      acknowledged !== null ? (
        <>
          <Text of={acknowledged.reason} />
          <span class="aside">
            <Text of={acknowledged.by} />, <When at={acknowledged.at} plain />
          </span>
        </>
      ) : (
        id !== undefined &&
        mayOperate.value && (
          <ActionButton disabled={!hasReason} label={`Acknowledge the fault of ${what}`} run={acknowledge({ ids: [id] })}>
            Acknowledge
          </ActionButton>
        )
      ),
    ),
  ]
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
              onInput={({ currentTarget: { value } }) => setTo(reason, value)}
            />
          </label>
          <ActionButton disabled={!hasReason} run={acknowledge({ upTo: newest })}>
            Acknowledge all ({count(unacknowledged)})
          </ActionButton>
        </div>
      )}
      <Table
        of="faults"
        columns={columns}
        rows={recent}
        keyOf={({ id, at, kind, what, detail }) => `${id ?? at} ${kind} ${what} ${detail}`}
      />
    </>
  )
}

/** A run is named `jobId/runNo`; the job ID itself may contain slashes. */
const jobIdOf = (what: string): string => what.replace(/\/\d+$/, '')
