/**
 * What the books prove. Each finding names its occurrence and what is wrong with it; what the log no longer shows, because retention or
 * compaction took it, is not held against anybody.
 */
import { createHistogram } from 'node:perf_hooks'
import type { Books, JobAccount, RunAccount } from './books.ts'
import { unknownTime } from './books.ts'
import { missedIn, overdueIn, waitingIn } from './calendar.ts'
import type { Finding, FindingKind, Scope } from './finding.ts'

export interface Verdict {
  /** Runs whose dispatch was read. */
  runs: number
  jobs: number
  succeeded: number
  dead: number
  /** Runs that have not ended yet. */
  open: number
  /** Runs that a limit keeps from being dispatched; `runs` does not count them until they are. */
  waiting: number
  /** Runs with more than one attempt. */
  retried: number
  /** Attempts that more than one worker started, or one twice: workers run at least once. It is no fault of the schedule. */
  startedAgain: number
  /** Records that are none of Duelog's, or broken. */
  unreadable: number
  /** Start of first attempts after their due time, in ms; undefined when nothing started. */
  lateness: { p50: number; p99: number; max: number } | undefined
  findings: Finding[]
}

/** Finished runs that a state lists. */
const RING_RUNS = 11
const latenessMsMax = 3_600_000

export function judge(books: Books, scope: Scope): Verdict {
  const verdict: Verdict = {
    ...{ runs: 0, jobs: jobsIn(books), succeeded: 0, dead: 0, open: 0, retried: 0, startedAgain: 0, waiting: 0 },
    ...{ unreadable: [...books.unreadable.values()].reduce((sum, count) => sum + count, 0), lateness: undefined, findings: [] },
  }
  const lateness = createHistogram({ lowest: 1, highest: latenessMsMax + 1, figures: 3 })
  const byJob = new Map<string, RunAccount[]>()
  for (const run of books.runs.values()) {
    if (run.scheduledFor === unknownTime || run.scheduledFor < scope.from || run.scheduledFor >= scope.to) continue
    const runs = byJob.get(run.jobId)
    if (runs === undefined) byJob.set(run.jobId, [run])
    else runs.push(run)
    judgeRun(run, books.jobs.get(run.jobId), scope, verdict, lateness)
  }
  for (const runs of byJob.values()) verdict.findings.push(...doubleOccurrences(runs))
  for (const [jobId, job] of books.jobs) {
    // Those of which an attempt was dispatched before count as open.
    verdict.waiting += waitingIn(job).filter(({ runNo }) => !byJob.get(jobId)?.some((run) => run.runNo === runNo)).length
    verdict.findings.push(...overdueIn(jobId, job, scope), ...missedIn(jobId, job, byJob.get(jobId) ?? [], scope))
  }
  if (lateness.count > 0) {
    // A histogram takes no zero: shifted by one when recorded.
    const of = (percentile: number): number => lateness.percentile(percentile) - 1
    verdict.lateness = { p50: of(50), p99: of(99), max: lateness.max - 1 }
  }
  return verdict
}

function judgeRun(
  run: RunAccount,
  job: JobAccount | undefined,
  scope: Scope,
  verdict: Verdict,
  lateness: ReturnType<typeof createHistogram>,
): void {
  const what = `${run.jobId}/${run.runNo}`
  const find = (kind: FindingKind, detail: string): unknown => verdict.findings.push({ kind, what, detail })
  verdict.runs++
  if (run.attempts.size > 1) verdict.retried++
  for (const [attempt, { dispatches, dueAt, startedAt, starts }] of run.attempts) {
    if (dispatches > 1) find('duplicate', `attempt ${attempt} was dispatched ${dispatches} times`)
    if (starts.size > 1) verdict.startedAgain++
    if (dueAt === undefined || startedAt === undefined) continue
    if (startedAt < dueAt) find('early', `attempt ${attempt} started ${dueAt - startedAt} ms before it was due`)
    if (attempt === 1) lateness.record(Math.min(Math.max(startedAt - dueAt, 0), latenessMsMax) + 1)
  }
  const end = run.end ?? endOf(run, job)
  if (end === 'succeeded') verdict.succeeded++
  else if (end === 'dead') verdict.dead++
  else if (end === 'open') verdict.open++
  else if (end === 'lost') find('lost', 'it was dispatched, has no end in the log, and its job knows nothing of it')
  // An attempt that was given back and waits for a limit has a deadline of its own.
  const active = job?.state?.active.find(({ runNo, specOffset }) => runNo === run.runNo && specOffset === run.specOffset)
  const deadlineAt = Math.max(run.startDeadlineAt, active?.startDeadlineAt ?? 0)
  if (end === 'open' && deadlineAt + scope.graceMs < scope.now && firstStart(run) === undefined)
    find('lost', `it was dispatched, never started, and should have expired at ${new Date(deadlineAt).toISOString()}`)
}

/** The end of a run without an event of it, by the state of its job. */
function endOf(run: RunAccount, job: JobAccount | undefined): RunAccount['end'] | 'open' | 'lost' {
  const state = job?.state
  // A deleted job takes its runs along.
  if (state === undefined) return 'other'
  if (state.active.some(({ runNo, specOffset }) => runNo === run.runNo && specOffset === run.specOffset)) return 'open'
  const finished = job?.finished.get(run.runNo)
  if (finished !== undefined) return finished.status === 'SUCCEEDED' ? 'succeeded' : finished.status === 'DEAD' ? 'dead' : 'other'
  // Of an earlier job of this id, or decided after the state was read.
  if (run.runNo > state.runNo) return 'other'
  return run.specOffset === state.specOffset && run.runNo > state.runNo - RING_RUNS ? 'lost' : 'other'
}

function firstStart(run: RunAccount): number | undefined {
  return [...run.attempts.values()].find(({ startedAt }) => startedAt !== undefined)?.startedAt
}

/** One nominal time with two runs of one life of the job. */
function doubleOccurrences(runs: RunAccount[]): Finding[] {
  const lives = livesOf(runs)
  const first = new Map<string, RunAccount>()
  const findings: Finding[] = []
  for (const run of runs.filter(({ trigger }) => trigger === 'SCHEDULE').sort((a, b) => a.dispatchedAt - b.dispatchedAt)) {
    const occurrence = `${lives.get(run.specOffset)}/${run.scheduledFor}`
    const rival = first.get(occurrence)
    if (rival !== undefined) {
      const time = new Date(run.scheduledFor).toISOString()
      findings.push({ kind: 'duplicate', what: run.jobId, detail: `${time} is run ${rival.runNo} and run ${run.runNo}` })
    }
    first.set(occurrence, run)
  }
  return findings
}

/** Lives by the offsets of their definitions: a job that was deleted and defined anew numbers its runs from 1 again. */
function livesOf(runs: readonly RunAccount[]): Map<number, number> {
  const lives = new Map<number, number>()
  let [life, last] = [0, 0]
  for (const [specOffset, ofSpec] of [...Map.groupBy(runs, (run) => run.specOffset)].sort(([a], [b]) => a - b)) {
    // A job may have more runs than a call may have arguments.
    const least = ofSpec.reduce((min, { runNo }) => Math.min(min, runNo), Number.POSITIVE_INFINITY)
    if (least <= last) {
      life++
      last = 0
    }
    last = ofSpec.reduce((max, { runNo }) => Math.max(max, runNo), last)
    lives.set(specOffset, life)
  }
  return lives
}

/** Those that are not deleted. */
function jobsIn({ jobs }: Books): number {
  return [...jobs.values()].filter(({ definition, state }) => definition !== undefined || state !== undefined).length
}
