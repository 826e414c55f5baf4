/** Where a command writes, and what it knows of its surroundings; tests give one of their own. */
import { Readable } from 'node:stream'

export interface Output {
  write(text: string): unknown
  isTTY?: boolean | undefined
  columns?: number | undefined
}

export interface Terminal {
  /** Absent: there is nothing to read. */
  stdin?: Readable
  stdout: Output
  stderr: Output
  env: Record<string, string | undefined>
}

export const processTerminal: Terminal = {
  // Opened at its first use: a command that reads nothing must not wait for its end.
  get stdin() {
    return process.stdin
  },
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
}

export const inputOf = ({ stdin }: Terminal): Readable => stdin ?? Readable.from([])
