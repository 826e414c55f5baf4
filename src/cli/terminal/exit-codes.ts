/** How a command ends; docs/CLI.md has the same table. */
import { CommanderError } from 'commander'
import { DuelogError, type ErrorCode } from '../../errors/index.ts'

export const exitCodes = {
  done: { code: 0, meaning: 'All of it was done.' },
  failed: { code: 1, meaning: 'It failed, or a part of it did; what was refused, or what is wrong, is named.' },
  usage: { code: 2, meaning: 'The command line, or a file that it names, is wrong. Nothing was done.' },
  later: {
    code: 3,
    meaning: 'Duelog, the brokers or the registry cannot be reached or are not ready. The same command may succeed later.',
  },
  notFound: { code: 4, meaning: 'There is no such job or run.' },
} as const

/** SIGINT and SIGTERM are 128 and their number, as everywhere. */
const bySignal = {
  interrupted: { code: 130, meaning: 'Ended by SIGINT.' },
  terminated: { code: 143, meaning: 'Ended by SIGTERM.' },
}

export const exitTable: readonly { code: number; meaning: string }[] = [...Object.values(exitCodes), ...Object.values(bySignal)]

const byErrorCode: Partial<Record<ErrorCode, number>> = {
  'bad-usage': exitCodes.usage.code,
  'not-found': exitCodes.notFound.code,
}

export function exitCodeOf(error: unknown): number {
  // Help and version are thrown with code 0; what else commander throws is a wrong command line.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.usage.code
  if (!(error instanceof DuelogError)) return exitCodes.failed.code
  return byErrorCode[error.code] ?? (error.retriable ? exitCodes.later.code : exitCodes.failed.code)
}
