/** Input, output and environment of a command; tests pass their own. */
import { Readable, type Writable } from 'node:stream'
import { messageOf } from '../../errors/index.ts'
import { exitCodes } from './exit-codes.ts'

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
