/** A terminal that records its output. */
import type { Terminal } from '../../src/program/cli/terminal/terminal.ts'

export class FakeTerminal implements Terminal {
  readonly out: string[] = []
  readonly err: string[] = []
  readonly env: Record<string, string | undefined>
  readonly stdout: Terminal['stdout']
  readonly stderr: Terminal['stderr']

  constructor({ env = {}, isTTY = false }: { env?: Record<string, string>; isTTY?: boolean } = {}) {
    this.env = env
    this.stdout = { write: (text) => this.out.push(text), isTTY, columns: 80 }
    this.stderr = { write: (text) => this.err.push(text), isTTY, columns: 80 }
  }
}
