/** Exit codes of commands; docs/CLI.md has the same table. */
import { CommanderError } from 'commander'
import { DuelogError, type ErrorCode } from '../../errors/index.ts'

export const exitCodes = {
  done: { code: 0, meaning: 'Success.' },
  failed: { code: 1, meaning: 'All or a part of the command failed. The output says what was refused or is wrong.' },
  usage: { code: 2, meaning: 'The command line, or a file that it names, is wrong. Nothing was done.' },
  later: {
    code: 3,
    meaning: 'Duelog, the brokers or the registry cannot be reached or are not ready. The same command may succeed later.',
  },
  notFound: { code: 4, meaning: 'No such job or run.' },
} as const

/** SIGINT and SIGTERM: 128 plus their number, as usual. */
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
  // Commander throws help and version with code 0; all its other errors are wrong command lines.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.usage.code
  if (!(error instanceof DuelogError)) return exitCodes.failed.code
  return byErrorCode[error.code] ?? (error.retriable ? exitCodes.later.code : exitCodes.failed.code)
}
