/** The commands and what becomes of their errors: one sentence on stderr and exit code 1. */
import { Command, CommanderError, Option } from 'commander'
import pkg from '../../package.json' with { type: 'json' }
import { DuelogError, messageOf } from '../errors.ts'
import { demoCommand } from './demo-command.ts'
import { generateCommand } from './generate-command.ts'
import { processTerminal, type Terminal } from './terminal.ts'
import { upCommand } from './up-command.ts'

/** Runs one command line without the program's name; resolves with the exit code. It writes, but never throws and never exits. */
export async function main(args: string[], terminal: Terminal = processTerminal): Promise<number> {
  let code = 0
  const program = createProgram(terminal, (exitCode) => {
    code = exitCode
  })
  try {
    await program.parseAsync(args, { from: 'user' })
    return code
  } catch (error) {
    // Commander has written its own errors, and help or version, which it throws with code 0.
    if (error instanceof CommanderError) return error.exitCode
    terminal.stderr.write(`duelog: ${sentenceOf(error)}\n`)
    if (wantsStack(args, terminal)) terminal.stderr.write(`${stackOf(error)}\n`)
    else if (!(error instanceof DuelogError)) terminal.stderr.write('--verbose shows where it happened.\n')
    return 1
  }
}

/** `exit` is told the exit code of the command that ran. */
export function createProgram(terminal: Terminal, exit: (code: number) => void): Command {
  const program = new Command('duelog')
    .description(pkg.description)
    .version(pkg.version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false)
    .showSuggestionAfterError()
    .configureOutput({
      writeOut: (text) => terminal.stdout.write(text),
      writeErr: (text) => terminal.stderr.write(text),
      outputError: (text, write) => write(text.replace(/^error: /, 'duelog: ')),
      getOutHelpWidth: () => terminal.stdout.columns ?? 80,
      getErrHelpWidth: () => terminal.stderr.columns ?? 80,
    })
    .exitOverride()
  for (const command of [upCommand(terminal, exit), demoCommand(terminal, exit), generateCommand(terminal, exit)]) {
    command.addOption(new Option('--verbose', 'show where an error happened'))
    program.addCommand(command.copyInheritedSettings(program))
  }
  return program
}

function sentenceOf(error: unknown): string {
  return error instanceof DuelogError ? error.message : `something failed that should not: ${messageOf(error)}`
}

function wantsStack(args: string[], { env }: Terminal): boolean {
  return args.includes('--verbose') || (env.DEBUG ?? '') !== ''
}

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const cause = error.cause === undefined ? '' : `\nCaused by: ${stackOf(error.cause)}`
  return `${error.stack ?? error.message}${cause}`
}
