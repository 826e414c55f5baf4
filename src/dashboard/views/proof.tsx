/** What the auditors have proved of the running system: how far, since when, and what faults they found. */
import { ask, count, counted, duration, jobHref, nowMs, type Proof, useResource } from '../model/index.ts'
import { Heading, Loading, Problem, Table, When } from '../parts/index.ts'

/** What each kind of fault is, in words. */
const kindWords: Record<string, string> = {
  lost: 'Lost: nobody knows how the run ended',
  missed: 'Missed: an occurrence without a run',
  duplicate: 'Duplicate: dispatched or run twice',
  early: 'Early: started before it was due',
  overdue: 'Overdue: due, and nothing was decided',
  undispatched: 'Undispatched: an attempt that nobody was given',
  gap: 'Gap: a run number that no run has',
  'ended-twice': 'Ended twice',
}

export function ProofView() {
  const { value, problem } = useResource('proof', (signal) => ask<Proof>('/v1/proof', { signal }))
  const proof = value.value
  return (
    <>
      <Heading title="Proof">
        <p class="beside">
          Auditors read the log of this system as it grows, and check that each occurrence ran exactly once, or was skipped by its
          job's policy.
        </p>
      </Heading>
      <Problem problem={problem.value} known={proof !== undefined} />
      {proof === undefined && problem.value === undefined && <Loading what="what the auditors found" />}
      {proof !== undefined && <Verdict proof={proof} />}
      {proof !== undefined && proof.audited > 0 && <Figures proof={proof} />}
      {proof !== undefined && proof.recent.length > 0 && <Faults recent={proof.recent} />}
    </>
  )
}

function Verdict({ proof }: { proof: Proof }) {
  const { audited, partitions, found, judgedUntil, since } = proof
  if (audited === 0)
    return (
      <p class="state">Nobody audits this system now. Start a process with the role auditor, or ask once with duelog audit.</p>
    )
  const missing = partitions - audited
  const unjudged = Object.values(proof.unjudged).reduce((sum, each) => sum + each, 0)
  const all = found === 0 && missing === 0 && judgedUntil !== null
  return (
    <ul class="troubles" aria-label="Verdict">
      {found > 0 && (
        <li class="status bad">
          <span>{counted(found, 'fault')} found. The log says where.</span>
        </li>
      )}
      {missing > 0 && (
        <li class="status bad">
          <span>
            {counted(missing, 'partition')} of {count(partitions)} without an auditor that answers.
          </span>
        </li>
      )}
      {unjudged > 0 && (
        <li class="status bad">
          <span>{counted(unjudged, 'thing')} could not be judged: too much at once, or the log no longer tells.</span>
        </li>
      )}
      {found === 0 && judgedUntil === null && missing === 0 && (
        <li class="status">
          <span>The log is being read for the first time.</span>
        </li>
      )}
      {all && (
        <li class="status good">
          <span>
            By the log, each occurrence that was due ran once or was skipped by its job's policy, and none ran early
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
      <Figure name="Occurrences" value={count(occurrences)} note="nominal times that were compared with the calendar" />
      <Figure name="Records read" value={count(records)} note={`${count(unreadable)} of them could not be read`} />
      <Figure name="Still to read" value={count(behindRecords)} note="records of the log" />
      <Figure name="Judged up to" value={age} note="ago; what is later may still be on its way" />
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

function Faults({ recent }: { recent: Proof['recent'] }) {
  return (
    <>
      <h2>Last faults</h2>
      <Table of="faults" columns={['Found', 'What', 'Kind', 'Detail']}>
        {recent.map((fault) => (
          <tr key={`${fault.at} ${fault.kind} ${fault.what} ${fault.detail}`}>
            <td>
              <When at={fault.at} />
            </td>
            <th scope="row" class="code">
              <a href={jobHref(jobIdOf(fault.what))}>{fault.what}</a>
            </th>
            <td>{kindWords[fault.kind] ?? fault.kind}</td>
            <td>{fault.detail}</td>
          </tr>
        ))}
      </Table>
    </>
  )
}

/** A run is named as `jobId/runNo`; an id may have slashes of its own. */
const jobIdOf = (what: string): string => what.replace(/\/\d+$/, '')
