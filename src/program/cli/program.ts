/** The commands, and the handling of their errors: one sentence on stderr and an exit code of src/program/cli/terminal/terminal.ts. */
import { Argument, Command, CommanderError, Option } from 'commander'
import pkg from '../../../package.json' with { type: 'json' }
import { DuelogError, messageOf } from '../../ground/errors/index.ts'
import {
  aclsCommand,
  auditCommand,
  backupCommand,
  benchCommand,
  carryCommand,
  demoCommand,
  generateCommand,
  reshardCommand,
  restoreCommand,
  schemasCommand,
  topicsCommand,
  unfenceCommand,
  upCommand,
} from './commands/index.ts'
import { completeCommand, completionCommand, helpAfter, helpCommand } from './completion-command.ts'
import {
  faultsCommand,
  handlersCommand,
  historyCommand,
  jobsCommand,
  operationsCommand,
  poolsCommand,
  runsCommand,
  workersCommand,
} from './jobs/index.ts'
import type { CommandFrame, CommandPlan } from './remote/index.ts'
import { scheduleCommand } from './schedule/index.ts'
import { exitCodeOf, exitTable, oneLine, processTerminal, severalLines, type Terminal, writeAsJson } from './terminal/index.ts'

/** Runs one command line (without the program's name) and resolves with the exit code. It never throws and never exits. */
export async function main(args: string[], terminal: Terminal = processTerminal): Promise<number> {
  let code = 0
  const program = programOf(terminal, (exitCode) => {
    code = exitCode
  })
  try {
    await program.parseAsync(args, { from: 'user' })
    return code
  } catch (error) {
    // Commander has already written its errors, help and version.
    if (error instanceof CommanderError) return exitCodeOf(error)
    terminal.stderr.write(`duelog: ${oneLine(sentenceOf(error))}\n`)
    // A program reads the output; the sentence beside it is for people.
    if (args.includes('--json')) writeAsJson(terminal.stdout, failureOf(error))
    if (wantsStack(args, terminal)) terminal.stderr.write(`${severalLines(stackOf(error))}\n`)
    else if (!(error instanceof DuelogError)) terminal.stderr.write('Run it again with --debug to see where it happened.\n')
    return exitCodeOf(error)
  }
}

const plans: readonly CommandPlan[] = [
  upCommand,
  demoCommand,
  jobsCommand,
  runsCommand,
  historyCommand,
  handlersCommand,
  operationsCommand,
  poolsCommand,
  workersCommand,
  faultsCommand,
  scheduleCommand,
  topicsCommand,
  schemasCommand,
  aclsCommand,
  auditCommand,
  backupCommand,
  restoreCommand,
  reshardCommand,
  unfenceCommand,
  carryCommand,
  generateCommand,
  benchCommand,
  completionCommand,
  helpCommand,
  completeCommand,
]

/** `exit` receives the exit code of the command that ran. */
export function programOf(terminal: Terminal, exit: (code: number) => void): Command {
  const frame: CommandFrame = { terminal, exit, program: () => program }
  const program = new Command('duelog')
    .description(pkg.description)
    .version(pkg.version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false)
    // An option belongs to the command that it follows.
    .enablePositionalOptions()
    .showSuggestionAfterError()
    .configureOutput({
      writeOut: (text) => terminal.stdout.write(text),
      writeErr: (text) => terminal.stderr.write(text),
      getOutHelpWidth: () => terminal.stdout.columns ?? 80,
      getErrHelpWidth: () => terminal.stderr.columns ?? 80,
    })
    .exitOverride()
    .addHelpText('after', exitHelp)
  for (const plan of plans) program.addCommand(commandOf(plan, frame), { hidden: plan.isHidden === true })
  inherit(program)
  wordErrors(program)
  return program
}

function commandOf(plan: CommandPlan, frame: CommandFrame): Command {
  const { name, description, examples, options = [], args = {}, choices, commands = [], isHidden = false, run } = plan
  const command = new Command(name).description(description).allowUnknownOption(isHidden)
  for (const option of options) command.addOption(option)
  for (const [argument, text] of Object.entries(args)) {
    const added = new Argument(argument, text)
    command.addArgument(choices === undefined ? added : added.choices(choices))
  }
  for (const each of commands) command.addCommand(commandOf(each, frame))
  if (examples !== undefined)
    command.addHelpText('after', `\nExamples:\n${examples.map((line) => `  duelog ${line}\n`).join('')}`)
  // Commander adds the command itself to the arguments and flags.
  if (run !== undefined)
    command.action(async (...words: unknown[]) => void (await run(frame, ...(words.slice(0, -1) as never[]))))
  return command
}

function wordErrors(command: Command): void {
  command.configureOutput({
    // The value of an unknown flag may be a secret.
    outputError: (text, write) =>
      write(
        text.replace(/^error: /, 'duelog: ').replace(/^(duelog: unknown option '[^'=]*)=[^']*/, '$1') + helpAfter(text, command),
      ),
  })
  for (const each of command.commands) wordErrors(each)
}

/** Gives each command the settings of the program, and each leaf command --debug. */
function inherit(parent: Command): void {
  for (const command of parent.commands) {
    command.copyInheritedSettings(parent).helpCommand(false)
    // A command that does something itself may have commands too, as `audit list`.
    if (command.commands.length === 0 || command.options.length > 0)
      command.addOption(new Option('--debug', 'show the stack trace of an error'))
    inherit(command)
  }
}

const exitHelp = `\nExit codes:\n${exitTable.map(({ code, meaning }) => `  ${String(code).padEnd(5)}${meaning}\n`).join('')}`

/** As in the lines for each of several jobs. */
function failureOf(error: unknown): object {
  const { code, retriable } = error instanceof DuelogError ? error : ({ code: 'internal', retriable: false } as const)
  return { ok: false, code, detail: sentenceOf(error), retriable }
}

function sentenceOf(error: unknown): string {
  return error instanceof DuelogError ? error.message : `unexpected error: ${messageOf(error)}`
}

function wantsStack(args: string[], { env }: Terminal): boolean {
  return args.includes('--debug') || (env.DEBUG ?? '') !== ''
}

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const cause = error.cause === undefined ? '' : `\nCaused by: ${stackOf(error.cause)}`
  return `${error.stack ?? error.message}${cause}`
}
