/** `duelog demo`: the main job on real input, from nothing; the exit code says whether each occurrence ran exactly once and on time. */
import { Command, InvalidArgumentError, Option } from 'commander'
import { pino } from 'pino'
import { runDemo } from '../demo/demo.ts'
import { firstLines } from './first-lines.ts'
import { watchSignals } from './signals.ts'
import type { Terminal } from './terminal.ts'

const ERRORS_SHOWN_MAX = 5

export function demoCommand(terminal: Terminal, exit: (code: number) => void): Command {
  return new Command('demo')
    .description(
      'Run a day of 688 real periodic jobs in one minute, on a broker of its own, and prove that each ran exactly once.',
    )
    .addOption(new Option('--seconds <n>', 'seconds that the day takes').default(60).argParser(integer(1, 3_600)).hideHelp())
    .addOption(new Option('--jobs <n>', 'periodic jobs taken').default(688).argParser(integer(1, 688)).hideHelp())
    .action(async ({ seconds, jobs }: { seconds: number; jobs: number }) => {
      const signals = watchSignals()
      // Only what breaks: the bar has the screen.
      const logger = pino({ level: 'error' }, firstLines(terminal.stderr, ERRORS_SHOWN_MAX))
      try {
        const outcome = await runDemo({ seconds, jobs, output: terminal.stdout, signal: signals.stop, logger })
        exit(outcome === 'proved' ? 0 : (signals.exitCode ?? 1))
      } finally {
        signals.dispose()
      }
    })
}

function integer(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (!Number.isInteger(value) || value < min || value > max)
      throw new InvalidArgumentError(`Allowed: an integer from ${min} to ${max}.`)
    return value
  }
}
