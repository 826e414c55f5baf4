/** Checks of ends: each run has one end, nothing of it is dispatched after it, and each follow-up happens once. */
import type { MemoryLog } from '../../tools/memory-log.ts'
import { sentExecutionsOf } from './dispatches.ts'
import type { Ledger, Run } from './ledger.ts'
import { type Lives, lifeName, lifeNoOf, runName } from './lives.ts'
import { read, readable, shown, topics } from './reading.ts'

/** `exact`: no record was removed by compaction before an owner had read it. */
export function endingProblems(log: MemoryLog, lives: Lives, ledger: Ledger, exact: boolean): string[] {
  const problems: string[] = []
  checkDispatches(log, lives, ledger, problems)
  checkDeadLetters(log, lives, ledger, problems)
  const commands = followUpsOf(log)
  checkTriggers(lives, ledger, commands, problems)
  if (exact) checkFollowers(lives, ledger, commands, problems)
  return problems
}

function checkDispatches(log: MemoryLog, lives: Lives, { runs }: Ledger, problems: string[]): void {
  for (const { execution, sequence } of sentExecutionsOf(log)) {
    const { jobId, runNo, specOffset } = execution
    const name = runName(jobId, lifeNoOf(lives.get(jobId), specOffset), runNo)
    const { endedIn, end } = runs.get(name) ?? {}
    if (endedIn !== undefined && endedIn.sequence < sequence)
      problems.push(`${name} was dispatched after it had ended as ${end?.status}`)
  }
}

/** A dead run has one dead letter, and no other run has one. */
function checkDeadLetters(log: MemoryLog, lives: Lives, { runs }: Ledger, problems: string[]): void {
  const letters = new Map<string, number>()
  for (const { record } of shown(log, topics.deadLetters)) {
    const letter = readable(read.deadLetter, record?.value)
    if (letter === undefined) continue
    const { jobId, runNo, execution } = letter
    const decoded = read.execution(execution)
    const name = runName(jobId, lifeNoOf(lives.get(jobId), decoded.specOffset), runNo)
    letters.set(name, (letters.get(name) ?? 0) + 1)
    const status = runs.get(name)?.end?.status
    if (status !== undefined && status !== 'DEAD') problems.push(`${name} has a dead letter and ended as ${status}`)
  }
  for (const [name, { end }] of runs) {
    const count = letters.get(name) ?? 0
    if (count !== (end?.status === 'DEAD' ? 1 : 0) && end !== undefined)
      problems.push(`${name} ended as ${end.status} with ${count} dead letters`)
  }
}

interface FollowUp {
  target: string
  commandId: string
  /** Order of the command among all appends. */
  order: number
}

function followUpsOf(log: MemoryLog): FollowUp[] {
  return shown(log, topics.commands).flatMap(({ record, order }) => {
    const command = readable(read.command, record?.value)
    if (!record?.key || command?.trigger !== 'FOLLOW_UP') return []
    return [{ target: record.key.toString(), commandId: command.commandId, order }]
  })
}

/** The end of a run triggers each of its follow-up jobs once, and no other job. */
function checkTriggers(lives: Lives, { runs }: Ledger, commands: FollowUp[], problems: string[]): void {
  const told = new Map<string, string[]>()
  for (const { target, commandId } of commands) {
    const [, jobId = '', runNo, firstOffset] = /^after:(.*)\/(\d+)@(\d+)-[^/]*$/.exec(commandId) ?? []
    const name = runName(jobId, lifeNoOf(lives.get(jobId), Number(firstOffset)), Number(runNo))
    told.set(name, [...(told.get(name) ?? []), target])
  }
  for (const [name, run] of runs) {
    const expected = followersOf(run, lives)
    if (expected === undefined) continue
    const actual = (told.get(name) ?? []).sort()
    if (String(actual) !== String(expected))
      problems.push(`${name} ended as ${run.end?.status} and triggered [${actual}] instead of [${expected}]`)
  }
}

/** The jobs that the end of a run must trigger; undefined if the definition changed in the same transaction. */
function followersOf({ jobId, lifeNo, end, endedUnder }: Run, lives: Lives): string[] | undefined {
  if (end === undefined) return undefined
  const definitions = lives.get(jobId)?.[lifeNo]?.definitions ?? []
  const possible = endedUnder.map((specOffset) => {
    const spec = definitions.find(({ offset }) => offset === specOffset)?.spec
    if (spec === undefined || end.status === 'CANCELLED' || end.status === 'DISPATCHED') return []
    return [...(end.status === 'SUCCEEDED' ? spec.onSuccess : spec.onFailure)].sort()
  })
  const [first] = possible
  return possible.every((each) => String(each) === String(first)) ? first : undefined
}

/** A triggered job runs if it existed before and stays. */
function checkFollowers(lives: Lives, { runs, firstLogged, full }: Ledger, commands: FollowUp[], problems: string[]): void {
  const made = new Set([...runs.values()].map(({ jobId, commandId }) => `${jobId} ${commandId}`))
  for (const { target, commandId, order } of commands) {
    const of = lives.get(target) ?? []
    const lifeNo = of.findIndex((life, index) => {
      const logged = firstLogged.get(lifeName(target, index))
      return life.endedBy === undefined && logged !== undefined && logged < order
    })
    // A job that is over, whose topic is missing, or that has no room does not run.
    if (full.has(lifeName(target, lifeNo))) continue
    const usable = of[lifeNo]?.definitions.every(({ spec }) => spec?.expireAt === null && spec.target.topic === null)
    if (usable && !made.has(`${target} ${commandId}`)) problems.push(`${target} was triggered by ${commandId} and did not run`)
  }
}
