/** `duelog demo`: the main job on real input, from nothing; the exit code says whether each occurrence ran exactly once and on time. */
import { Command } from 'commander'
import { pino } from 'pino'
import { withExamples } from '../remote/index.ts'
import { integer, type Terminal, watchSignals } from '../terminal/index.ts'
import { firstLines } from './first-lines.ts'

const errorsShownMax = 5

export function demoCommand(terminal: Terminal, exit: (code: number) => void): Command {
  return withExamples(
    new Command('demo').description(
      'Run a day of 688 real periodic jobs in one minute, on a broker of its own, and prove that each ran exactly once.',
    ),
    ['demo'],
  )
    .addOption(integer('--seconds <n>', 'seconds that the day takes', 60, 1, 3_600).hideHelp())
    .addOption(integer('--jobs <n>', 'periodic jobs taken', 688, 1, 688).hideHelp())
    .action(async ({ seconds, jobs }: { seconds: number; jobs: number }) => {
      // Loaded only here: the other commands begin a second sooner without it.
      const { runDemo } = await import('../../demo/index.ts')
      const { readConfig } = await import('../../config/index.ts')
      const signals = watchSignals()
      // Only what breaks: the bar has the screen.
      const logger = pino({ level: 'error' }, firstLines(terminal.stderr, errorsShownMax))
      try {
        const { DUELOG_HTTP_PORT } = terminal.env
        const { httpPort } = readConfig(DUELOG_HTTP_PORT === undefined ? {} : { DUELOG_HTTP_PORT })
        const outcome = await runDemo({ seconds, jobs, output: terminal.stdout, signal: signals.stop, logger, httpPort })
        exit(outcome === 'proved' ? 0 : (signals.exitCode ?? 1))
      } finally {
        signals.dispose()
      }
    })
}
