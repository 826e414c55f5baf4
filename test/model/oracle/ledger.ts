/** Every run of a history and its end, as the committed changelogs show them. */
import type { ActiveRun, FinishedRun, JobState } from '../../../schemas/generated.ts'
import type { Entry, MemoryLog, Transaction } from '../../tools/memory-log.ts'
import { type Lives, lifeName, lifeNoOf, runName } from './lives.ts'
import { keyOf, placesOf, portionsOf, read, topics } from './reading.ts'

export interface Run {
  jobId: string
  lifeNo: number
  runNo: number
  trigger: ActiveRun['trigger']
  commandId: string | null
  scheduledFor: number
  end: FinishedRun | undefined
  /** The transaction that ended it. */
  endedIn: Transaction | undefined
  /** Definitions that may have been in force when it ended. */
  endedUnder: number[]
}

export interface Ledger {
  runs: Map<string, Run>
  /** When each life of a job was first logged, as the order among all appends. */
  firstLogged: Map<string, number>
  /** The last state of each life of a job. */
  states: Map<string, JobState>
  /** The reason of each dead letter. */
  letters: Map<string, string>
  /** The current state of each job that has one. */
  last: Map<string, JobState>
  /** Lives of jobs that had no room for a run of a command. */
  full: Set<string>
  problems: string[]
}

export function ledgerOf(log: MemoryLog, lives: Lives): Ledger {
  const ledger: Ledger = {
    runs: new Map(),
    firstLogged: new Map(),
    states: new Map(),
    last: new Map(),
    letters: new Map(),
    full: new Set(),
    problems: [],
  }
  for (const { log: changelog } of placesOf(log, topics.state)) {
    const before = new Map<string, JobState>()
    for (const entries of portionsOf(changelog.archive)) takeTransaction(ledger, lives, before, entries)
    for (const [id, state] of before) ledger.last.set(id, state)
  }
  return ledger
}

function takeTransaction(ledger: Ledger, lives: Lives, before: Map<string, JobState>, entries: Entry[]): void {
  const rings = new Map<string, FinishedRun[]>()
  for (const { record, transaction, order } of entries) {
    if (!record?.key) continue
    const { kind, subject: id } = keyOf(record.key)
    if (kind !== 'S' && kind !== 'R') continue
    const entry = record.value === null ? undefined : read.state(record.value)
    if (kind === 'R') {
      if (entry?.run) rings.set(id, [...(rings.get(id) ?? []), entry.run])
      // They belong to a life that ended in this transaction: nothing of the life that began in it is deleted so soon.
      else rings.delete(id)
      continue
    }
    const [was, is] = [before.get(id), entry?.state ?? undefined]
    if (is === undefined) {
      before.delete(id)
      continue
    }
    before.set(id, is)
    if (is.reason?.startsWith('A rule failed')) ledger.problems.push(`${id}: ${is.reason}`)
    const lifeNo = lifeNoOf(lives.get(id), is.specOffset)
    if (lifeNo < 0) {
      ledger.problems.push(`${id} stands at the offset ${is.specOffset}, where it was not defined`)
      continue
    }
    if (!ledger.firstLogged.has(lifeName(id, lifeNo))) ledger.firstLogged.set(lifeName(id, lifeNo), order)
    ledger.states.set(lifeName(id, lifeNo), is)
    // The changelog does not show the end of runs whose life ended in the same transaction.
    const sameLife = was !== undefined && lifeNoOf(lives.get(id), was.specOffset) === lifeNo
    const ended = [...(is.lastRun === null ? [] : [is.lastRun]), ...(sameLife || was === undefined ? (rings.get(id) ?? []) : [])]
    // A run may have begun and ended between two definitions in one transaction.
    const from = sameLife ? was.specOffset : Number.NEGATIVE_INFINITY
    const definitions = lives.get(id)?.[lifeNo]?.definitions ?? []
    const endedUnder = definitions.map(({ offset }) => offset).filter((offset) => offset >= from && offset <= is.specOffset)
    for (const { what, runNo, reason } of is.decisions) {
      if (what === 'DEAD' && runNo !== null) ledger.letters.set(runName(id, lifeNo, runNo), reason)
      if (what === 'DROPPED' && reason === 'max-concurrent-runs') ledger.full.add(lifeName(id, lifeNo))
    }
    const most = Math.max(0, ...definitions.map(({ spec }) => spec?.maxConcurrentRuns ?? 0))
    if (is.active.length > most)
      ledger.problems.push(`${id} has ${is.active.length} active runs, and no definition of it allowed more than ${most}`)
    for (const run of is.active) begin(ledger, id, lifeNo, run)
    for (const run of ended) end(ledger, id, lifeNo, run, { transaction, endedUnder })
  }
}

function begin({ runs, problems }: Ledger, jobId: string, lifeNo: number, run: ActiveRun | FinishedRun): Run {
  const name = runName(jobId, lifeNo, run.runNo)
  const { runNo, trigger, commandId, scheduledFor } = run
  const known = runs.get(name)
  if (known === undefined) {
    const made: Run = {
      jobId,
      lifeNo,
      runNo,
      trigger,
      commandId,
      scheduledFor,
      end: undefined,
      endedIn: undefined,
      endedUnder: [],
    }
    runs.set(name, made)
    return made
  }
  if (known.trigger !== trigger || known.commandId !== commandId || known.scheduledFor !== scheduledFor)
    problems.push(`${name} was another run before`)
  if (known.end !== undefined && 'attempt' in run) problems.push(`${name} had ended and is active again`)
  return known
}

function end(
  ledger: Ledger,
  jobId: string,
  lifeNo: number,
  finished: FinishedRun,
  { transaction, endedUnder }: { transaction: Transaction | undefined; endedUnder: number[] },
): void {
  const run = begin(ledger, jobId, lifeNo, finished)
  if (run.end === undefined) Object.assign(run, { end: finished, endedIn: transaction, endedUnder })
  else if (run.end.status !== finished.status || run.end.finishedAt !== finished.finishedAt)
    ledger.problems.push(`${runName(jobId, lifeNo, run.runNo)} ended as ${run.end.status} and as ${finished.status}`)
}
