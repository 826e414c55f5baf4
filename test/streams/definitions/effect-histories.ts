/**
 * Histories in which a field of a definition may show what it does: what leaves the owner, what it decides and says. Two definitions with
 * the same sights in all histories cannot be told apart by a user.
 */
import type { JobDefinition } from '../../../schemas/generated.ts'
import type { Decision } from '../../../streams/state/job.ts'
import { reserveStart } from '../../../streams/state/starts.ts'
import { type HistoryOptions, JobHistory } from '../runs/history.ts'

const hour = 3_600_000
/** Before the gap and before the overlap of Central Europe in 2026. */
export const spring = Date.parse('2026-03-28T12:00:00Z')
export const autumn = Date.parse('2026-10-24T12:00:00Z')

type Scenario = (spec: JobDefinition) => JobHistory

function beginAt(from: number, spec: JobDefinition, options: HistoryOptions = {}): JobHistory {
  const history = new JobHistory(options)
  history.now = from
  return history.define(spec)
}

const error = { type: 'Error', message: 'It failed.', stack: null, retryable: true, retryAfterMs: null }
const failing: HistoryOptions = { worker: { type: 'FAILED', error } }
const succeeding: HistoryOptions = { worker: { type: 'SUCCEEDED' } }
const starting: HistoryOptions = { worker: { type: 'STARTED' } }
const missing: HistoryOptions = { topicProblem: () => 'The topic is missing.' }

/** The topic exists when the job is defined, and later no more. */
function vanishing(spec: JobDefinition): JobHistory {
  const gone = { yes: false }
  const history = beginAt(spring, spec, { topicProblem: () => (gone.yes ? 'The topic is gone.' : undefined) })
  gone.yes = true
  return history
}

function triggered(history: JobHistory, times: number): JobHistory {
  for (let no = 0; no < times; no++) history.command('TRIGGER')
  return history
}

/** The same job again, with a lower version and a later time. */
function again(history: JobHistory, spec: JobDefinition): JobHistory {
  const { schedule, version } = spec
  const later = schedule.at === null ? schedule : { ...schedule, at: schedule.at + 24 * hour }
  // Without checks: the later time may be outside the window.
  return history.definition({ spec: { ...spec, schedule: later, version: version === null ? null : version - 1 } })
}

export const scenarios: Record<string, Scenario> = {
  'all runs succeed': (spec) => beginAt(spring, spec, succeeding).until(spring + 60 * hour),
  'all attempts fail': (spec) =>
    beginAt(spring, spec, failing)
      .until(spring + 10 * hour)
      .command('CANCEL'),
  'no owner for 20 h': (spec) =>
    beginAt(spring, spec, succeeding)
      .downUntil(spring + 20 * hour)
      .until(spring + 40 * hour),
  'no owner for 44 h': (spec) =>
    beginAt(spring, spec, succeeding)
      .downUntil(spring + 44 * hour)
      .until(spring + 60 * hour),
  'no worker': (spec) => triggered(beginAt(spring, spec), 3).until(spring + 40 * hour),
  'silent workers': (spec) => beginAt(spring, spec, starting).until(spring + 26 * hour),
  'defined again': (spec) => again(beginAt(spring, spec, succeeding).until(spring + 1.4 * hour), spec).until(spring + 60 * hour),
  'defined again at once': (spec) => again(beginAt(spring, spec, succeeding), spec).until(spring + 30 * hour),
  cancelled: (spec) =>
    beginAt(spring, spec, succeeding)
      .until(spring + 3 * hour)
      .command('CANCEL')
      .until(spring + 9 * hour),
  'slots are taken': (spec) => {
    const history = beginAt(spring, spec, succeeding)
    history.others = { held: 5, waiting: 0 }
    return triggered(history, 20).until(spring + 30 * hour)
  },
  'too many starts': (spec) =>
    triggered(beginAt(spring, spec), 3)
      .until(spring + hour / 2)
      .command('CANCEL'),
  'another job has started': (spec) => {
    const history = beginAt(spring, spec, succeeding)
    history.starts.set('k', reserveStart(undefined, { limit: 1, perMs: 24 * hour }, spring, spring).starts)
    return triggered(history, 1).until(spring + 3 * hour)
  },
  'the topic is missing': (spec) => beginAt(spring, spec, missing).until(spring + 10 * hour),
  'the topic vanishes': (spec) => triggered(vanishing(spec), 3).until(spring + 1.2 * hour),
  'the topic vanishes before an occurrence': (spec) => {
    const history = vanishing(spec)
    const { next } = history
    if (next === null) return history
    return triggered(history.downUntil(next - hour / 6), 1).until(next + hour / 6)
  },
  // Meanwhile nobody owns the job, because each check of the topic is a step.
  'the topic vanishes for long': (spec) =>
    triggered(vanishing(spec).command('PAUSE'), 1)
      .downUntil(spring + 27 * hour)
      .command('CANCEL')
      .until(spring + 28 * hour),
  autumn: (spec) => beginAt(autumn, spec, succeeding).until(autumn + 40 * hour),
}

/** What users, workers and readers of topics see of a history. */
export function sightOf(scenario: Scenario, spec: JobDefinition): string {
  return JSON.stringify(scenario(spec).decisions.map(seen))
}

function seen({ job, out, endedRuns, notes, refusal }: Decision): unknown {
  const { state } = job
  const told = state && {
    ...{ status: state.status, reason: state.reason, next: state.nextDueAt ?? state.nextFireAt, deleteAt: state.deleteAt },
    ...{ skipped: state.skipped, decisions: state.decisions, queuedFor: state.queuedFor, lastRun: state.lastRun?.status },
    active: state.active.map(({ runNo, status, dueAt, waitsFor, errors }) => ({ runNo, status, dueAt, waitsFor, errors })),
  }
  return {
    told,
    endedRuns,
    notes,
    refusal,
    out: out.map((output) => ('execution' in output ? { ...output, execution: output.execution } : output)),
  }
}
