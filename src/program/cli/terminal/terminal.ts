/** Input, output and environment of a command, which tests replace, and exit codes; docs/CLI.md has the same table of them. */
import { Readable, type Writable } from 'node:stream'
import { CommanderError } from 'commander'
import { DuelogError, type ErrorCode, messageOf } from '../../../ground/errors/index.ts'

export interface Output {
  write(text: string): unknown
  isTTY?: boolean | undefined
  columns?: number | undefined
}

export interface Terminal {
  /** Absent when there is no input. */
  stdin?: Readable
  stdout: Output
  stderr: Output
  env: Record<string, string | undefined>
}

export const processTerminal: Terminal = {
  // Opened on first use: a command that reads nothing must not wait for its end.
  get stdin() {
    return process.stdin
  },
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
}

export const inputOf = ({ stdin }: Terminal): Readable => stdin ?? Readable.from([])

/** A reader such as `head` may close its end early. The command continues its work, and its exit code reports the result. */
export function letReadersLeave(): void {
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') return
      if (stream === process.stdout) process.stderr.write(`duelog: The output cannot be written: ${messageOf(error)}.\n`)
      process.exit(exitCodes.failed.code)
    })
}

/** Resolves when the readers have all output, or are gone. A pipe takes 64 KiB at once; process.exit drops the rest. */
export async function allRead(): Promise<void> {
  await Promise.all(
    [process.stdout, process.stderr].map((stream) => new Promise<void>((resolve) => stream.write('', () => resolve()))),
  )
}

/** Waits until the buffered output is written. Resolves with whether the reader still reads. */
export async function hasReader(output: Output): Promise<boolean> {
  const stream = output as Output & Partial<Pick<Writable, 'destroyed' | 'writableNeedDrain' | 'once' | 'off'>>
  if (stream.writableNeedDrain === true && stream.destroyed !== true)
    await new Promise<void>((resolve) => {
      const settle = (): void => {
        for (const event of ['drain', 'close']) stream.off?.(event, settle)
        resolve()
      }
      for (const event of ['drain', 'close']) stream.once?.(event, settle)
    })
  return stream.destroyed !== true
}

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
