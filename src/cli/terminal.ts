/** Where a command writes, and what it knows of its surroundings; tests give one of their own. */

export interface Output {
  write(text: string): unknown
  isTTY?: boolean | undefined
  columns?: number | undefined
}

export interface Terminal {
  stdout: Output
  stderr: Output
  env: Record<string, string | undefined>
}

export const processTerminal: Terminal = { stdout: process.stdout, stderr: process.stderr, env: process.env }
