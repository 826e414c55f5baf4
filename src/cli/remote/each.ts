/** A command for several jobs or runs. An error of one does not stop the others, and is printed with its name. */
import { DuelogError } from '../../errors/index.ts'
import { exitCodeOf, exitCodes, oneLine, painterOf } from '../terminal/index.ts'
import type { Shell } from './remote-command.ts'

export interface Done {
  /** Printed by --json besides the name. */
  facts: object
  /** Printed after the name without --json. */
  text: string
}

/** `names` are IDs; `field` is their key in --json. Rejects when the server becomes unreachable. */
export async function forEach(
  shell: Shell,
  field: 'id' | 'runId',
  names: readonly string[],
  act: (name: string) => Promise<Done>,
): Promise<void> {
  const { terminal, json, exit } = shell
  const paint = painterOf(terminal.stderr, terminal.env)
  const codes = new Set<number>()
  for (const name of names) {
    try {
      const { facts, text } = await act(name)
      terminal.stdout.write(
        json ? `${JSON.stringify({ [field]: name, ok: true, ...facts })}\n` : `${oneLine(`${name} ${text}`)}\n`,
      )
    } catch (error) {
      // With a single name, its error is the error of the command.
      if (!(error instanceof DuelogError) || error.code === 'unreachable' || (names.length === 1 && !json)) throw error
      codes.add(exitCodeOf(error))
      const { code, message: detail, retriable } = error
      if (json) terminal.stdout.write(`${JSON.stringify({ [field]: name, ok: false, code, detail, retriable })}\n`)
      else terminal.stderr.write(`${paint('red', 'failed')} ${oneLine(`${name}: ${detail}`)}\n`)
    }
  }
  const [code] = codes
  if (code !== undefined) exit(codes.size === 1 && names.length === 1 ? code : exitCodes.failed.code)
}
