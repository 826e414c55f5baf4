/** Whether every record that the program wrote fits the log, and every run's failures are counted as they were. */
import type { MemoryLog, Transaction } from '../../tools/memory-log.ts'
import type { Ledger } from './ledger.ts'
import { type Lives, lifeNoOf, runName } from './lives.ts'
import { isShown, placesOf, read, readable, shown, topics } from './reading.ts'
import { attemptName, type Reports } from './reports.ts'

/** What a broker takes by default, less what it adds itself, in bytes. */
const recordBytesMax = 1_000_000

/** A turn writes 4 MiB, or one job (docs/adr/0035); one job writes several records of less than 1 MB each. */
const transactionBytesMax = 8 * 1_048_576

export function sizeProblems(log: MemoryLog): string[] {
  return [...recordProblems(log), ...transactionProblems(log)]
}

function transactionProblems(log: MemoryLog): string[] {
  const bytes = new Map<Transaction, number>()
  for (const { log: each } of placesOf(log, ''))
    for (const { transaction, record } of each.archive)
      if (transaction?.id.startsWith('model.scheduler-'))
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

/** A run that has used up its attempts had as many as its job allows, those not counted that a worker gave back. */
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
    // With a definition that cannot be used the default counts.
    const least = Math.min(...definitions.map(({ spec }) => spec?.retry.maxAttempts ?? 5))
    if (attempts - released < least)
      problems.push(
        `${runName(jobId, lifeNo, runNo)} was given up after ${attempts} attempts, ${released} of them given back; ${least} are allowed`,
      )
  }
  return problems
}
