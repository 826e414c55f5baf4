/** Checks that every command that was taken is in force: what a transaction has decided holds from then on. */
import type { JobCommand, JobState } from '../../../schemas/generated.ts'
import type { MemoryLog } from '../../tools/memory-log.ts'
import { dispatchesOf } from './dispatches.ts'
import type { Facts } from './facts.ts'
import type { Ledger } from './ledger.ts'
import { type Lives, lifeName, lifeNoOf } from './lives.ts'
import { partitionOfJob } from './partitions.ts'
import { isJobId, read, readable, shown, topics } from './reading.ts'
import type { Change, Decided } from './transactions.ts'

interface Taken {
  jobId: string
  command: JobCommand
  offset: number
  order: number
  /**
   * The sender got no answer and sent the command again. The repeat does nothing, unless the job did not exist the first time.
   */
  isRepeated: boolean
}

export function commandProblems(
  log: MemoryLog,
  lives: Lives,
  ledger: Ledger,
  transactions: Decided[],
  { exact, whole }: Facts,
): string[] {
  const problems: string[] = []
  const commands = commandsOf(log)
  checkOnce(ledger, whole ? [] : commands, problems)
  // If an offset was used twice, it does not say which record is meant.
  if (!exact || !whole) return problems
  for (const partition of new Set(transactions.map(({ partition }) => partition))) {
    const mine = transactions.filter((each) => each.partition === partition)
    checkInForce(
      lives,
      commands.filter(({ jobId }) => partitionOfJob(jobId, log.partitions) === partition),
      mine,
      problems,
    )
  }
  checkTakeovers(log, lives, commands, transactions, problems)
  return problems
}

function commandsOf(log: MemoryLog): Taken[] {
  const sent = new Set<string>()
  return shown(log, topics.commands).flatMap(({ record, visibleOrder: order }) => {
    const command = readable(read.command, record?.value)
    if (record === undefined || command === undefined || !isJobId(record.key)) return []
    const jobId = record.key.toString()
    // A record that belongs to another partition was moved there.
    if (partitionOfJob(jobId, log.partitions) !== record.partition) return []
    const name = `${jobId} ${command.commandId}`
    const isRepeated = sent.has(name)
    sent.add(name)
    return [{ jobId, command, offset: record.offset, order, isRepeated }]
  })
}

/** The state in which a command holds a job. */
interface Hold {
  by: 'PAUSE' | 'CANCEL'
  commandId: string
  /** A definition from this one on ends a CANCEL. */
  jobsOffset: number
  lifeNo: number
}

function checkInForce(lives: Lives, commands: Taken[], transactions: Decided[], problems: string[]): void {
  const holds = new Map<string, Hold>()
  for (const decided of transactions) {
    const { position, positionBefore, changes } = decided
    for (const change of changes) checkChange(change, holds, lives, problems)
    if (position === undefined) continue
    const from = positionBefore?.commandsOffset ?? 0
    const taken = commands.filter(({ offset }) => offset >= from && offset < position.commandsOffset)
    const ordered = new Set(taken.map((each) => each.jobId))
    const hasDefinitions = position.jobsOffset !== (positionBefore?.jobsOffset ?? 0)
    for (const change of hasDefinitions ? [] : changes)
      if (!ordered.has(change.jobId)) checkWaiting(change.jobId, 0, change, problems)
    for (const jobId of ordered) {
      const change = changes.find((each) => each.jobId === jobId)
      checkTaken(
        jobId,
        taken.filter((each) => each.jobId === jobId),
        change,
        decided,
        { holds, lives, problems },
      )
    }
  }
}

/** While a job is held, no run of its schedule begins. */
function checkChange({ jobId, before, after, ended }: Change, holds: Map<string, Hold>, lives: Lives, problems: string[]): void {
  const hold = holds.get(jobId)
  if (hold === undefined) return
  const lifeNo = lifeNoOf(lives.get(jobId), after?.specOffset ?? -1)
  const isRevived = hold.by === 'CANCEL' && (after?.specOffset ?? -1) >= hold.jobsOffset
  if (after === undefined || lifeNo !== hold.lifeNo || isRevived) return void holds.delete(jobId)
  const runs = [...after.active, ...ended, ...(after.lastRun === null ? [] : [after.lastRun])]
  const begun = runs.filter(({ runNo, trigger }) => trigger === 'SCHEDULE' && runNo > (before?.runNo ?? 0))
  // A RESUME in the same transaction is checked below.
  const goesOn = hold.by === 'PAUSE' && after.status !== 'PAUSED' && !after.pausedByCommand
  for (const { runNo } of begun)
    if (!goesOn) problems.push(`${lifeName(jobId, lifeNo)}/${runNo} began after the ${hold.by} ${hold.commandId} had been taken`)
}

interface Books {
  holds: Map<string, Hold>
  lives: Lives
  problems: string[]
}

/** The effects of the commands of one job that one transaction has taken. */
function checkTaken(jobId: string, taken: Taken[], change: Change | undefined, decided: Decided, books: Books): void {
  const { holds, lives, problems } = books
  const lifeNo = lifeNoOf(lives.get(jobId), change?.after?.specOffset ?? -1)
  const [before, after] = [change?.before, change?.after]
  const { position, positionBefore } = decided
  // If one transaction takes definitions as well, their order cannot be seen from outside.
  const [from, to] = [positionBefore?.jobsOffset ?? 0, position?.jobsOffset ?? 0]
  const isNew = (lives.get(jobId) ?? []).some(
    ({ definitions, endedBy }) =>
      definitions.some(({ offset }) => offset >= from && offset < to) || (endedBy?.offset ?? -1) >= from,
  )
  // The job does not exist, or was deleted and defined again in the meantime. The order cannot be seen from outside.
  if (
    after === undefined ||
    lifeNo < 0 ||
    isNew ||
    lifeNo !== lifeNoOf(lives.get(jobId), before?.specOffset ?? after.specOffset)
  ) {
    holds.delete(jobId)
    return
  }
  const name = lifeName(jobId, lifeNo)
  // A command that was sent before the first definition may have been taken before the job existed.
  const definedAt = before === undefined ? (lives.get(jobId)?.[lifeNo]?.definitions[0]?.order ?? 0) : 0
  for (const { command, isRepeated, order } of taken)
    if (!isRepeated && order > definedAt) checkMade(name, command, change as Change, problems)
  const arrived = taken.filter(({ command, isRepeated }) => !isRepeated && command.trigger === 'FOLLOW_UP').length
  checkWaiting(name, arrived, change as Change, problems)
  const last = taken.findLast(({ command: { type } }) => type === 'PAUSE' || type === 'RESUME' || type === 'CANCEL')
  if (last === undefined) return
  const isRefused = after.decisions.some((decision) => decision.commandId === last.command.commandId)
  if (last.isRepeated || isRefused) return void holds.delete(jobId)
  const { type, commandId } = last.command
  if (type === 'RESUME') return void (holds.get(jobId)?.by === 'PAUSE' && holds.delete(jobId))
  if (type === 'PAUSE' && !after.pausedByCommand && after.status !== 'COMPLETED')
    problems.push(`${name} is ${after.status} although it has taken the PAUSE ${commandId}`)
  // CANCEL, and a PAUSE of a job that is active.
  const redefined = before !== undefined && before.specOffset !== after.specOffset
  if (type === 'CANCEL' && !redefined) {
    const old = after.active.filter(({ runNo, trigger }) => runNo <= (before?.runNo ?? 0) && trigger === 'SCHEDULE')
    for (const { runNo } of old) problems.push(`${name}/${runNo} goes on although the CANCEL ${commandId} was taken`)
    if (after.nextFireAt !== null) problems.push(`${name} has a next time although it has taken the CANCEL ${commandId}`)
  }
  if (redefined || (type === 'PAUSE' && !after.pausedByCommand)) holds.delete(jobId)
  else holds.set(jobId, { by: type as Hold['by'], commandId, jobsOffset: position?.jobsOffset ?? 0, lifeNo })
}

/** Each follow-up that came has made a run, or waits. One that waited has made a run, or waits still. */
function checkWaiting(name: string, arrived: number, { before, after, ended }: Change, problems: string[]): void {
  if (before === undefined || after === undefined || before.specOffset !== after.specOffset) return
  const runs = new Map(
    [...after.active, ...ended, ...(after.lastRun === null ? [] : [after.lastRun])].map((run) => [run.runNo, run]),
  )
  const begun = [...runs.values()].filter(({ runNo }) => runNo > before.runNo)
  // Not all ended runs are seen, or some follow-ups were refused: how many cannot be said, because a state has the last refusals only.
  if (begun.length < after.runNo - before.runNo || refusals(before) !== refusals(after)) return
  const made = begun.filter(({ trigger }) => trigger === 'FOLLOW_UP').length
  const [waited, waits] = [before.followUps?.count ?? 0, after.followUps?.count ?? 0]
  if (waited + arrived !== made + waits)
    problems.push(`${name}: ${waited} follow-ups waited and ${arrived} came; ${made} have made a run, and ${waits} wait`)
}

const refusals = ({ decisions }: JobState): string =>
  JSON.stringify(decisions.filter(({ what, commandId }) => what === 'DROPPED' && commandId === null))

/** A TRIGGER that was taken has made a run, or gives the reason why not. A run that was to be cancelled has ended. */
function checkMade(name: string, command: JobCommand, { before, after, ended }: Change, problems: string[]): void {
  if (after === undefined) return
  const { type, commandId, runNo } = command
  const runs = [...after.active, ...ended, ...(after.lastRun === null ? [] : [after.lastRun])]
  if (
    type === 'CANCEL_RUN' &&
    before?.active.some((run) => run.runNo === runNo) &&
    after.active.some((run) => run.runNo === runNo)
  ) {
    problems.push(`${name}/${runNo} goes on although the CANCEL_RUN ${commandId} was taken`)
  }
  if (type !== 'TRIGGER') return
  const refused = after.decisions.some((decision) => decision.commandId === commandId) || command.trigger === 'FOLLOW_UP'
  const made = runs.some((run) => run.commandId === commandId)
  const full = after.decisions.length >= 12 || runs.length >= 10
  // The command was taken while the job did not exist. A definition after it came in the same transaction.
  if (before === undefined && after.runNo === 0) return
  if (!made && !refused && !full) problems.push(`${name} has taken the TRIGGER ${commandId} and made no run`)
}

/** Number of commands that a job remembers (docs/TOPICS.md). */
const remembered = 32

/**
 * A command makes one run, even when it is sent several times. `readAgain`: commands that may be read again where a log has lost
 * its tail.
 */
function checkOnce({ runs }: Ledger, readAgain: Taken[], problems: string[]): void {
  const made = new Map<string, number>()
  for (const { jobId, lifeNo, runNo, commandId, trigger } of runs.values()) {
    if (commandId === null || trigger === 'BACKFILL' || trigger === 'SCHEDULE') continue
    const name = `${lifeName(jobId, lifeNo)} ${commandId}`
    const known = made.get(name)
    if (known !== undefined && !isForgotten(jobId, commandId, readAgain))
      problems.push(`${name} has made the runs ${known} and ${runNo}`)
    made.set(name, runNo)
  }
}

/** Whether the job has taken so many other commands since then that it does not remember this one. */
function isForgotten(jobId: string, commandId: string, commands: Taken[]): boolean {
  const mine = commands.filter((each) => each.jobId === jobId).map(({ command }) => command.commandId)
  const first = mine.indexOf(commandId)
  return first >= 0 && new Set(mine.slice(first + 1)).size >= remembered
}

/** Checks that the records that were in the log at a takeover count for everything that the new owner does by itself. */
function checkTakeovers(log: MemoryLog, lives: Lives, commands: Taken[], transactions: Decided[], problems: string[]): void {
  const claims = transactions.filter(({ isClaim }) => isClaim)
  for (const { execution, sequence } of dispatchesOf(log)) {
    const { jobId, trigger, runNo, specOffset, attempt } = execution
    if (trigger !== 'SCHEDULE' || attempt > 1) continue
    const partition = partitionOfJob(jobId, log.partitions)
    const claim = claims.findLast((each) => each.partition === partition && (each.transaction?.sequence ?? 0) < sequence)
    const life = lives.get(jobId)?.find(({ definitions }) => definitions.some(({ offset }) => offset === specOffset))
    if (
      claim === undefined ||
      life === undefined ||
      life.definitions.length !== 1 ||
      (life.definitions[0]?.order ?? 0) > claim.from
    )
      continue
    const mine = commands.filter((each) => each.jobId === jobId)
    const since = mine.filter(({ order }) => order > (life.definitions[0]?.order ?? 0))
    const hold = since
      .filter(({ order }) => order < claim.from)
      .findLast(({ command: { type } }) => type === 'PAUSE' || type === 'RESUME')
    const resumed = since.some(({ command, order }) => command.type === 'RESUME' && order > claim.from)
    if (hold?.command.type === 'PAUSE' && !resumed && !hold.isRepeated && !isCompleted(jobId, hold, transactions))
      problems.push(
        `${lifeName(jobId, 0)}/${runNo} was dispatched by an owner that took over after the PAUSE ${hold.command.commandId}`,
      )
  }
}

/** A PAUSE of a COMPLETED job does nothing. */
const isCompleted = (jobId: string, { offset }: Taken, transactions: Decided[]): boolean =>
  transactions
    .filter(({ position }) => (position?.commandsOffset ?? 0) <= offset)
    .flatMap(({ changes }) => changes)
    .findLast((change) => change.jobId === jobId)?.after?.status === 'COMPLETED'
