/** Checks of runs that a command repeats: backfills and redrives. */
import type { JobCommand } from '../../../schemas/generated.ts'
import type { MemoryLog } from '../../tools/memory-log.ts'
import { timesInRange } from './calendar.ts'
import { dispatchesOf } from './dispatches.ts'
import type { Facts } from './facts.ts'
import type { Ledger, Run } from './ledger.ts'
import { type Life, type Lives, lifeName, lifeNoOf } from './lives.ts'
import { partitionOfJob } from './partitions.ts'
import { markOf, read, readable, shown, topics } from './reading.ts'

export function madeAgainProblems(log: MemoryLog, lives: Lives, ledger: Ledger, facts: Facts): string[] {
  const problems: string[] = []
  checkBackfills(log, lives, ledger, facts, problems)
  checkRedrives(log, lives, problems)
  return problems
}

function checkBackfills(log: MemoryLog, lives: Lives, { runs, states }: Ledger, facts: Facts, problems: string[]): void {
  const asked = backfillsAsked(log)
  const made = new Map<string, Run[]>()
  for (const run of runs.values()) {
    if (run.trigger !== 'BACKFILL') continue
    const name = `${lifeName(run.jobId, run.lifeNo)} ${run.commandId}`
    made.set(name, [...(made.get(name) ?? []), run])
  }
  for (const [name, of] of made) {
    const [first] = of
    if (first === undefined) continue
    const { jobId, lifeNo, commandId } = first
    const commands = asked.get(`${jobId} ${commandId}`) ?? []
    const times = of.map(({ scheduledFor }) => scheduledFor)
    for (const time of times) {
      // This holds also if a sender without an answer has sent it again.
      if (times.filter((other) => other === time).length > 1) problems.push(`${name} ran ${time} twice`)
      if (!commands.some(({ from, to }) => time >= (from ?? 0) && time < (to ?? 0)))
        problems.push(`${name} ran ${time}, which nobody asked for`)
    }
    const life = lives.get(jobId)?.[lifeNo]
    const [command] = commands
    if (life === undefined || life.endedBy !== undefined || command === undefined || commands.length > 1) continue
    const goesOn = states.get(lifeName(jobId, lifeNo))?.backfill?.commandId === commandId
    if (life.definitions.length > 1 || !facts.exact || facts.cancelled.has(jobId) || facts.aheadMs + facts.behindMs > 0 || goesOn)
      continue
    const all = occurrences(life, command.from ?? 0, command.to ?? 0)
    // The rest of a backfill is dropped when its job expires.
    const expected = life.definitions[0]?.spec?.expireAt === null ? all : all?.slice(0, times.length)
    if (expected !== undefined && String(expected) !== String(times.sort((left, right) => left - right)))
      problems.push(`${name} ran [${times}] instead of [${expected}]`)
  }
}

function backfillsAsked(log: MemoryLog): Map<string, JobCommand[]> {
  const asked = new Map<string, JobCommand[]>()
  for (const { record } of shown(log, topics.commands)) {
    const command = readable(read.command, record?.value)
    if (!record?.key || command?.type !== 'BACKFILL') continue
    // A moved command is in both partitions and is one command.
    if (partitionOfJob(record.key.toString(), log.partitions) !== record.partition) continue
    const name = `${record.key} ${command.commandId}`
    asked.set(name, [...(asked.get(name) ?? []), command])
  }
  return asked
}

/** Nominal times in a range; undefined if they do not come from the calendar. */
function occurrences({ definitions: [definition] }: Life, from: number, to: number): number[] | undefined {
  const { spec, appendedAt } = definition ?? {}
  if (spec === undefined || appendedAt === undefined || (spec.schedule.everyMs === null && spec.schedule.cron === null))
    return undefined
  return timesInRange(spec, appendedAt, from, to)
}

/** A redrive repeats a dead run with its input, and each dead run is repeated once. */
function checkRedrives(log: MemoryLog, lives: Lives, problems: string[]): void {
  const died = new Map<string, number>()
  const nameOf = (jobId: string, specOffset: number, scheduledFor: number, payload: Buffer | null): string =>
    `${lifeName(jobId, lifeNoOf(lives.get(jobId), specOffset))} of ${scheduledFor} with ${markOf(payload)}`
  for (const { record } of shown(log, topics.deadLetters)) {
    const letter = readable(read.deadLetter, record?.value)
    if (letter === undefined) continue
    const execution = read.execution(letter.execution)
    const name = nameOf(letter.jobId, execution.specOffset, execution.scheduledFor, execution.payload)
    died.set(name, (died.get(name) ?? 0) + 1)
  }
  for (const { execution } of dispatchesOf(log)) {
    if (execution.trigger !== 'REDRIVE' || execution.attempt > 1) continue
    const name = nameOf(execution.jobId, execution.specOffset, execution.scheduledFor, execution.payload)
    const left = died.get(name) ?? 0
    if (left === 0) problems.push(`The run of ${name} was redriven and had not died, or was redriven before`)
    died.set(name, left - 1)
  }
}
