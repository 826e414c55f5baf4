/** What is under way: dispatched, running, waiting for another attempt. */
import type { JobPage, Run } from '../answers.ts'
import { latest } from '../live.ts'
import { RunTable } from '../parts/run-table.tsx'
import { Empty, Heading, Loading, Problem } from '../parts/states.tsx'
import { ask, path } from '../request.ts'
import { useResource } from '../resource.ts'
import { count } from '../words.ts'

/** Jobs whose runs are shown; with more under way than anyone reads, the counts tell more. */
const jobsShown = 200

export function RunsView() {
  const list = useResource('runs', (signal) => ask<JobPage>(path(['jobs'], { active: 'true', limit: jobsShown }), { signal }))
  const { value, problem } = list
  const page = value.value
  const runs = page === undefined ? undefined : inOrder(page.jobs.flatMap(({ active }) => active))
  return (
    <>
      <Heading title="Runs">
        <UnderWay />
      </Heading>
      <Problem problem={problem.value} known={page !== undefined} />
      {runs === undefined && problem.value === undefined && <Loading what="runs" />}
      {runs?.length === 0 && <Empty>Nothing is under way at the moment. Ended runs stand with their jobs.</Empty>}
      {runs !== undefined && runs.length > 0 && <RunTable runs={runs} named changed={() => list.refresh()} />}
      {page !== undefined && page.cursor !== null && (
        <p class="state">Only the runs of the first {count(page.jobs.length)} jobs are shown; more are under way.</p>
      )}
    </>
  )
}

/** Running ones first, then what comes next. */
function inOrder(runs: Run[]): Run[] {
  const rank = (run: Run): number => ['RUNNING', 'DISPATCHED', 'WAITING', 'RETRY_WAIT'].indexOf(run.status)
  const due = (run: Run): number => Date.parse(run.dueAt ?? run.scheduledFor)
  return runs.sort((a, b) => rank(a) - rank(b) || due(a) - due(b))
}

function UnderWay() {
  const sum = { dispatched: 0, running: 0, waiting: 0 }
  for (const { underWay } of latest.value?.partitions ?? []) {
    sum.dispatched += underWay.dispatched
    sum.running += underWay.running
    sum.waiting += underWay.waiting
  }
  return (
    <p class="beside">
      {count(sum.running)} running, {count(sum.dispatched)} dispatched, {count(sum.waiting)} waiting for a retry.
    </p>
  )
}
