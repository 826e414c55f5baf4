/** What must be true of ends: each run has one, nothing of it is dispatched after it, and what follows from it follows once. */
import type { DeadLetter, JobCommand } from '../../../schemas/generated.ts'
import { isShown, type MemoryLog } from '../../tools/memory-log.ts'
import { codecs, names } from '../world.ts'
import { type Ledger, lifeName, lifeNoOf, type Run, runName } from './ledger.ts'
import { type Life, tellingsOf } from './oracle.ts'

/** `exact`: nothing was compacted away before an owner had read it. */
export function endingProblems(log: MemoryLog, lives: Map<string, Life[]>, ledger: Ledger, exact: boolean): string[] {
  const problems: string[] = []
  checkDispatches(log, lives, ledger, problems)
  checkDeadLetters(log, lives, ledger, problems)
  const commands = followUpsOf(log)
  checkTriggers(lives, ledger, commands, problems)
  if (exact) checkFollowers(lives, ledger, commands, problems)
  return problems
}

function checkDispatches(log: MemoryLog, lives: Map<string, Life[]>, { runs }: Ledger, problems: string[]): void {
  for (const { execution, sequence } of tellingsOf(log)) {
    const { jobId, runNo, specOffset } = execution
    const name = runName(jobId, lifeNoOf(lives.get(jobId), specOffset), runNo)
    const { endedIn, end } = runs.get(name) ?? {}
    if (endedIn !== undefined && endedIn.sequence < sequence)
      problems.push(`${name} was dispatched after it had ended as ${end?.status}`)
  }
}

/** A dead run has one letter, and nobody else has. */
function checkDeadLetters(log: MemoryLog, lives: Map<string, Life[]>, { runs }: Ledger, problems: string[]): void {
  const letters = new Map<string, number>()
  for (const { record } of log.allOf(names.deadLetters).flatMap((place) => place.log.archive.filter(isShown))) {
    const { jobId, runNo, execution } = codecs.deadLetter.decode(record?.value ?? Buffer.alloc(0)) as DeadLetter
    const decoded = codecs.execution.decode(execution)
    if (decoded instanceof Promise) throw new Error('An unknown schema.')
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
  return log.allOf(names.commands).flatMap((place) =>
    place.log.archive.filter(isShown).flatMap(({ record, order }) => {
      if (!record?.key || !record.value || record.value.length < 6 || record.value[0] !== 0) return []
      const command = codecs.command.decode(record.value) as JobCommand
      const { commandId, trigger } = command
      return trigger === 'FOLLOW_UP' ? [{ target: record.key.toString(), commandId, order }] : []
    }),
  )
}

/** The end of a run tells each job that is to follow once, and no other. */
function checkTriggers(lives: Map<string, Life[]>, { runs }: Ledger, commands: FollowUp[], problems: string[]): void {
  const told = new Map<string, string[]>()
  for (const { target, commandId } of commands) {
    const [, jobId = '', specOffset, runNo] = /^after:(.*)\/(\d+)\/(\d+)$/.exec(commandId) ?? []
    const name = runName(jobId, lifeNoOf(lives.get(jobId), Number(specOffset)), Number(runNo))
    told.set(name, [...(told.get(name) ?? []), target])
  }
  for (const [name, run] of runs) {
    const expected = followersOf(run, lives)
    if (expected === undefined) continue
    const actual = (told.get(name) ?? []).sort()
    if (String(actual) !== String(expected))
      problems.push(`${name} ended as ${run.end?.status} and told [${actual}] instead of [${expected}]`)
  }
}

/** The jobs that the end of a run is to trigger; undefined where the definition changed in the same transaction. */
function followersOf({ jobId, lifeNo, end, endedUnder }: Run, lives: Map<string, Life[]>): string[] | undefined {
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

/** Who was told to follow runs, if it was known to be there before and stays. */
function checkFollowers(
  lives: Map<string, Life[]>,
  { runs, firstLogged }: Ledger,
  commands: FollowUp[],
  problems: string[],
): void {
  const made = new Set([...runs.values()].map(({ jobId, commandId }) => `${jobId} ${commandId}`))
  for (const { target, commandId, order } of commands) {
    const of = lives.get(target) ?? []
    const lifeNo = of.findIndex((life, index) => {
      const logged = firstLogged.get(lifeName(target, index))
      return life.endedBy === undefined && logged !== undefined && logged < order
    })
    // One that is over, or whose topic was missing, is told in vain.
    const usable = of[lifeNo]?.definitions.every(({ spec }) => spec?.expireAt === null && spec.target.topic === null)
    if (usable && !made.has(`${target} ${commandId}`)) problems.push(`${target} was told ${commandId} and did not run`)
  }
}
