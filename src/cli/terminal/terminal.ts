/** Input, output and environment of a command; tests pass their own. */
import { Readable } from 'node:stream'

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
