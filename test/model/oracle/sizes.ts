/** Checks that every record of the program fits the log, and that the failures of every run are counted correctly. */
import type { MemoryLog, Transaction } from '../../tools/memory-log.ts'
import type { Facts } from './facts.ts'
import type { Ledger } from './ledger.ts'
import { type Lives, lifeNoOf, runName } from './lives.ts'
import { isShown, placesOf, read, readable, shown, topics } from './reading.ts'
import { attemptName, type Reports } from './reports.ts'

/** The largest record that a broker takes by default, less its own overhead, in bytes. */
const recordBytesMax = 1_000_000

/** A commit cycle writes 4 MiB (docs/adr/0035). One record may be larger than was estimated. */
const transactionBytesMax = 4 * 1_048_576 + recordBytesMax
/** A commit cycle loads 8 MiB of jobs, or one job, in slices of 2 MiB (docs/adr/0047). */
const loadedBytesMax = 10 * 1_048_576
/**
 * An input buffer has 8 MiB at most (docs/adr/0047). A fetch of up to 4 MiB may be added, and the megabyte that a commit cycle
 * has taken. What waits is seen from outside (cluster/fullness.ts): a large record may count that was applied before a small one.
 */
const waitingBytesMax = 13 * 1_048_576 + recordBytesMax

export function sizeProblems(log: MemoryLog, { waiting, loads }: Facts): string[] {
  return [
    ...recordProblems(log),
    ...transactionProblems(log),
    ...waiting.flatMap(({ who, partition, bytes }) =>
      bytes > waitingBytesMax ? [`${who} had read ${bytes} bytes of inputs of ${partition} that were not folded`] : [],
    ),
    ...loads.flatMap(({ who, partition, bytes, largest }) =>
      bytes - largest > loadedBytesMax ? [`${who} had ${bytes} bytes of jobs of ${partition} in memory for one turn`] : [],
    ),
  ]
}

/** Checks the bytes that an owner wrote in one request. */
function transactionProblems(log: MemoryLog): string[] {
  const bytes = new Map<Transaction, number>()
  for (const { log: each } of placesOf(log, ''))
    for (const { transaction, record } of each.archive)
      if (transaction?.state === 'committed' && transaction.id.startsWith('model.scheduler-'))
        bytes.set(transaction, (bytes.get(transaction) ?? 0) + (record?.key?.length ?? 0) + (record?.value?.length ?? 0))
  return [...bytes].flatMap(([{ id }, sum]) => (sum > transactionBytesMax ? [`${id} wrote ${sum} bytes in one transaction`] : []))
}

function recordProblems(log: MemoryLog): string[] {
  return placesOf(log, 'model.').flatMap(({ topic, partition, log: each }) =>
    each.archive.filter(isShown).flatMap(({ offset, record }) => {
      const bytes = (record?.key?.length ?? 0) + (record?.value?.length ?? 0)
      return bytes > recordBytesMax ? [`${topic}/${partition} has a record of ${bytes} bytes at ${offset}`] : []
    }),
  )
}

/** A run that has used up its attempts had as many as its job allows. Released attempts do not count. */
export function attemptProblems(log: MemoryLog, lives: Lives, ledger: Ledger, reports: Reports): string[] {
  const problems: string[] = []
  for (const { record } of shown(log, topics.deadLetters)) {
    const letter = readable(read.deadLetter, record?.value)
    if (letter === undefined) continue
    const { jobId, runNo, attempts, errors } = letter
    const { specOffset } = read.execution(letter.execution)
    const lifeNo = lifeNoOf(lives.get(jobId), specOffset)
    const definitions = lives.get(jobId)?.[lifeNo]?.definitions ?? []
    const state = ledger.letters.get(runName(jobId, lifeNo, runNo))
    if (state !== 'attempts') continue
    let released = 0
    for (let attempt = 1; attempt < attempts; attempt++) {
      const given = reports.get(attemptName({ jobId, specOffset, runNo, attempt }))?.some(({ type }) => type === 'RELEASED')
      if (given && !errors.some((error) => error.attempt === attempt)) released++
    }
    // For an invalid definition the default counts.
    const least = Math.min(...definitions.map(({ spec }) => spec?.retry.maxAttempts ?? 5))
    if (attempts - released < least)
      problems.push(
        `${runName(jobId, lifeNo, runNo)} was given up after ${attempts} attempts, ${released} of them given back; ${least} are allowed`,
      )
  }
  return problems
}
