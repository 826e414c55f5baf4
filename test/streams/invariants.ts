/** The properties of a job that hold after each decision, in any history. */

import { whyOf } from '../../streams/jobs/reasons.ts'
import type { Decision, Input } from '../../streams/state/job.ts'
import { slotUse } from '../../streams/state/slots.ts'
import { timersOf } from '../../streams/state/timers.ts'
import { keySlotsMax } from './random-definition.ts'
import type { JobHistory } from './runs/history.ts'

/** Observes one history. `check` throws and names the broken property. */
export class Invariants {
  readonly #job: JobHistory
  #lastRunNo = 0
  /** Whether the job had runs with limits. Such runs may wait, overtake one another, and never be dispatched. */
  #limited = false
  /** Runs that were dispatched and then left active. */
  #statusBefore: string | undefined
  #times = new Set<number>()
  #timesHash = -1
  #seen = 0

  constructor(job: JobHistory) {
    this.#job = job
  }

  /** `input`: the input of the first decision since the last check. */
  check(input: Input['kind'] | 'RESUME'): void {
    const { decisions } = this.#job
    for (const decision of decisions.slice(this.#seen)) this.#checkDecision(decision, input)
    this.#seen = decisions.length
    this.#checkSnapshots()
    this.#checkFollowUps()
    const { job, now } = this.#job
    if (job.definition !== undefined) must(whyOf(job, now).length > 0, 'nobody can say why')
  }

  #checkDecision(decision: Decision, input: Input['kind'] | 'RESUME'): void {
    const { job, out } = decision
    const { state } = job
    if (state?.timesHash !== this.#timesHash || state.runNo < this.#lastRunNo) this.#times.clear()
    this.#timesHash = state?.timesHash ?? -1
    if (job.definition === undefined && state === undefined) {
      this.#lastRunNo = 0
      this.#limited = false
    }
    this.#limited ||= [...(decision.before?.active ?? []), ...(state?.active ?? [])].some(({ limits }) => limits !== null)
    must(slotUse(state, 'k').held <= keySlotsMax, 'more runs hold a key than it has slots')
    for (const output of out) {
      if (output.kind !== 'dispatch' || output.execution.attempt !== 1) continue
      const { runNo, trigger, scheduledFor, pinTo } = output.execution
      // The same attempt again, for a worker that was missing (streams/runs/redelivery.ts).
      if (pinTo !== null && runNo <= this.#lastRunNo && job.state?.active.some((run) => run.runNo === runNo)) continue
      must(this.#limited || runNo === this.#lastRunNo + 1, `run ${runNo} follows run ${this.#lastRunNo}`)
      this.#lastRunNo = Math.max(runNo, this.#lastRunNo)
      if (trigger !== 'SCHEDULE') continue
      must(!this.#times.has(scheduledFor), `${scheduledFor} became a run twice`)
      this.#times.add(scheduledFor)
      const may = this.#limited || this.#statusBefore === 'ACTIVE' || this.#statusBefore === undefined
      must(may || input === 'definition' || input === 'RESUME', `the schedule of a job fired that is ${this.#statusBefore}`)
    }
    this.#statusBefore = state?.status
    this.#checkState(decision)
  }

  #checkState({ job, out, before }: Decision): void {
    const { state, definition } = job
    for (const { dueAt } of timersOf(job)) must(Number.isSafeInteger(dueAt), `a timer is due at ${dueAt}`)
    // Workers get cancellations for the runs that a deletion ends. The same transaction logs that the state is deleted.
    if (state === undefined) {
      const told = out.filter(({ kind }) => kind !== 'cancel' || before === undefined)
      return must(told.length === 0, 'something was sent and nothing logged')
    }
    const { runNo, succeeded, failed, cancelled, active, status } = state
    must(
      succeeded + failed + cancelled + active.length === runNo,
      `${runNo} runs are ${succeeded}+${failed}+${cancelled}+${active.length}`,
    )
    must(new Set(active.map((run) => run.runNo)).size === active.length, 'a run is active twice')
    must(
      runNo === this.#lastRunNo || definition === undefined || this.#limited,
      `the last run is ${runNo}, dispatched was ${this.#lastRunNo}`,
    )
    if (active.length > 0) {
      must(state.deleteAt === null, 'a job is to be deleted while a run is active')
      return
    }
    must(!state.waiting, 'an occurrence waits for the end of a run, and none is active')
    if (status !== 'ACTIVE' || definition?.spec === undefined) return
    must(state.queuedFor === null, 'an occurrence is queued behind a run, and none is active')
    const isDue = (state.nextDueAt ?? state.nextFireAt ?? Number.POSITIVE_INFINITY) <= this.#job.now
    const { followUps } = state
    must(state.backfill === null || isDue || followUps !== null, 'a backfill stands still, and nothing goes first')
    must(
      followUps === null || followUps.lookAt !== null || isDue,
      'follow-ups wait, there is a place, and no occurrence goes first',
    )
    must(state.nextFireAt !== null || followUps !== null, 'a job is ACTIVE that has nothing ahead and nothing to do')
  }

  /** The pages hold what the state counts, and no others are kept. Those that have a place have a timer. */
  #checkFollowUps(): void {
    const { pages, job } = this.#job
    const queue = job.state?.followUps ?? null
    const held = [...pages.values()].reduce((sum, page) => sum + page.length, 0)
    must(held - (queue?.taken ?? 0) === (queue?.count ?? 0), `${queue?.count ?? 0} follow-ups wait, pages hold ${held}`)
    must(queue === null || (queue.count > 0 && queue.bytes > 0), 'a queue without a follow-up')
    const lookAt = job.state?.status === 'INVALID' ? null : (queue?.lookAt ?? null)
    const nextAt = this.#job.nextTimerAt ?? Number.POSITIVE_INFINITY
    must(lookAt === null || nextAt <= Math.max(lookAt, this.#job.now), 'follow-ups have a place, and no timer starts them')
  }

  /** Every dispatch from a snapshot has one, and no snapshot is kept after its use. */
  #checkSnapshots(): void {
    const { state } = this.#job.job
    const ofActive = (state?.active ?? []).filter(({ snapshot }) => snapshot)
    const wanted = [
      ...new Set([...ofActive.map(({ runNo, snapshotRunNo }) => snapshotRunNo ?? runNo), ...(state?.deadRuns ?? [])]),
    ]
    const found = [...this.#job.snapshots.keys()]
    const text = (runNos: number[]): string => runNos.sort((left, right) => left - right).join()
    must(text(wanted) === text(found), `snapshots are kept of runs ${text(found)} instead of ${text(wanted)}`)
  }
}

function must(condition: boolean, broken: string): void {
  if (!condition) throw new Error(broken)
}
