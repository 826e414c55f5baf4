/** What a change of many jobs does to one job. */
import type { JobCommand } from '../../../schemas/index.ts'
import { completeCommand } from '../../../streams/definitions/index.ts'
import { type Job, markOf, pristineState } from '../../../streams/state/index.ts'
import type { AnnouncedAction, CutOff, JobFilter } from '../../ports/index.ts'
import { isChosen, wouldChange } from '../queries/index.ts'

export type Verdict = { kind: 'wanted' } | { kind: 'done' } | { kind: 'refused'; code: string } | { kind: 'other' }

interface Wanted {
  action: AnnouncedAction
  filter: JobFilter
  cutOff: CutOff
  /** The same for each job: a job takes it once. */
  commandId: string
}

export class ChangeRule {
  readonly command: JobCommand
  readonly #wanted: Wanted
  readonly #mark: number

  constructor(wanted: Wanted, nowMs: number) {
    const { action, commandId } = wanted
    this.#wanted = wanted
    this.#mark = markOf(commandId)
    // Until its tombstone is read, a job that is deleted is one that nobody runs any more.
    this.command = completeCommand({ type: action === 'DELETE' ? 'CANCEL' : action, commandId, at: nowMs })
  }

  /** Whether the job has taken the change. */
  hasReached({ state }: Job): boolean {
    return state?.recentCommands.includes(this.#mark) ?? false
  }

  judge(job: Job): Verdict {
    const { action, filter, cutOff, commandId } = this.#wanted
    if (this.hasReached(job)) {
      const refusal = job.state?.decisions.find((one) => one.commandId === commandId)
      return refusal === undefined ? { kind: 'done' } : { kind: 'refused', code: refusal.reason }
    }
    const state = job.state ?? pristineState(job)
    // Others do not fire, and wait for their tombstones.
    const isWanted = action === 'DELETE' ? state.status === 'ACTIVE' : wouldChange(action, state)
    return isWanted && isChosen(job, state, { action, filter, cutOff }) ? { kind: 'wanted' } : { kind: 'other' }
  }
}
