/** What must be true of runs that somebody asked for again: backfills and redrives. */
import type { DeadLetter, JobCommand } from '../../../schemas/generated.ts'
import { nextFire } from '../../../streams/schedules/next-fire.ts'
import { partitionOf } from '../../../streams/topics.ts'
import { isShown, type MemoryLog } from '../../tools/memory-log.ts'
import { codecs, names } from '../world.ts'
import { type Ledger, lifeName, lifeNoOf, type Run } from './ledger.ts'
import { dispatchesOf, type Life } from './oracle.ts'

/** `whole`: jobs whose backfills nothing ends early. `onTime`: the owners' clocks were right. */
export interface Circumstances {
  whole(jobId: string): boolean
  onTime: boolean
}

export function madeAgainProblems(
  log: MemoryLog,
  lives: Map<string, Life[]>,
  ledger: Ledger,
  circumstances: Circumstances,
): string[] {
  const problems: string[] = []
  checkBackfills(log, lives, ledger, circumstances, problems)
  checkRedrives(log, lives, problems)
  return problems
}

function checkBackfills(
  log: MemoryLog,
  lives: Map<string, Life[]>,
  { runs, states }: Ledger,
  { whole, onTime }: Circumstances,
  problems: string[],
): void {
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
      // Also where somebody who got no answer has sent it again.
      if (times.filter((other) => other === time).length > 1) problems.push(`${name} ran ${time} twice`)
      if (!commands.some(({ from, to }) => time >= (from ?? 0) && time < (to ?? 0)))
        problems.push(`${name} ran ${time}, which nobody asked for`)
    }
    const life = lives.get(jobId)?.[lifeNo]
    const [command] = commands
    if (life === undefined || life.endedBy !== undefined || command === undefined || commands.length > 1) continue
    const goesOn = states.get(lifeName(jobId, lifeNo))?.backfill?.commandId === commandId
    if (life.definitions.length > 1 || !whole(jobId) || !onTime || goesOn) continue
    const all = occurrences(life, command.from ?? 0, command.to ?? 0)
    // The rest of a backfill is dropped when its job expires.
    const expected = life.definitions[0]?.spec?.expireAt === null ? all : all?.slice(0, times.length)
    if (expected !== undefined && String(expected) !== String(times.sort((left, right) => left - right)))
      problems.push(`${name} ran [${times}] instead of [${expected}]`)
  }
}

function backfillsAsked(log: MemoryLog): Map<string, JobCommand[]> {
  const asked = new Map<string, JobCommand[]>()
  for (const { record } of log.allOf(names.commands).flatMap((place) => place.log.archive.filter(isShown))) {
    if (!record?.key || !record.value || record.value[0] !== 0 || record.value.length < 6) continue
    // What is moved stands in both partitions and is one command.
    if (partitionOf(record.key, log.partitions) !== record.partition) continue
    const command = codecs.command.decode(record.value) as JobCommand
    if (command.type !== 'BACKFILL') continue
    const name = `${record.key} ${command.commandId}`
    asked.set(name, [...(asked.get(name) ?? []), command])
  }
  return asked
}

/** Nominal times in a range, by counting; undefined where they have another origin than the calendar. */
function occurrences({ definitions }: Life, from: number, to: number): number[] | undefined {
  const [definition] = definitions
  const spec = definition?.spec
  if (definition === undefined || spec === undefined) return undefined
  const { schedule, startAt, endAt } = spec
  const within = (time: number): boolean => time >= from && time < to && time >= (startAt ?? time) && time <= (endAt ?? time)
  const found: number[] = []
  if (schedule.everyMs !== null) {
    const origin = schedule.anchor ?? startAt ?? definition.appendedAt
    for (
      let time = origin - Math.ceil((origin - from) / schedule.everyMs) * schedule.everyMs;
      time < to;
      time += schedule.everyMs
    )
      if (within(time)) found.push(time)
    return found
  }
  if (schedule.cron === null) return undefined
  for (let time = nextFire(spec, 0, from - 1); time !== null && time < to; time = nextFire(spec, 0, time))
    if (within(time)) found.push(time)
  return found
}

/** A redrive is made as a run that died was, and each of those is made again once. */
function checkRedrives(log: MemoryLog, lives: Map<string, Life[]>, problems: string[]): void {
  const died = new Map<string, number>()
  const nameOf = (jobId: string, specOffset: number, scheduledFor: number, payload: Buffer | null): string =>
    `${lifeName(jobId, lifeNoOf(lives.get(jobId), specOffset))} of ${scheduledFor} with ${payload}`
  for (const { record } of log.allOf(names.deadLetters).flatMap((place) => place.log.archive.filter(isShown))) {
    const letter = codecs.deadLetter.decode(record?.value ?? Buffer.alloc(0)) as DeadLetter
    const execution = codecs.execution.decode(letter.execution)
    if (execution instanceof Promise) throw new Error('An unknown schema.')
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
