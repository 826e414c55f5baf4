/** `duelog demo`: runs real jobs from scratch. The exit code says whether each occurrence ran exactly once and on time. */
import { pino } from 'pino'
import { readConfig } from '../../../ground/config/index.ts'
import { watchSignals } from '../../../ground/process/index.ts'
import type { CommandPlan } from '../remote/index.ts'
import { integer, type Output } from '../terminal/index.ts'

const errorsShownMax = 5

export const demoCommand: CommandPlan = {
  name: 'demo',
  description: 'Run a day of 688 real periodic jobs in one minute, on its own broker, and prove that each ran exactly once.',
  examples: ['demo'],
  options: [
    integer('--seconds <n>', 'seconds that the day takes', 60, 1, 3_600).hideHelp(),
    integer('--jobs <n>', 'number of periodic jobs', 688, 1, 688).hideHelp(),
  ],
  run: async ({ terminal, exit }, { seconds, jobs }: { seconds: number; jobs: number }) => {
    // Loaded on demand, so that the other commands start a second sooner.
    const { runDemo } = await import('../../demo/index.ts')
    const signals = watchSignals()
    // Only errors, because the progress bar uses the screen.
    const logger = pino({ level: 'error' }, firstLines(terminal.stderr, errorsShownMax))
    try {
      const { DUELOG_HTTP_PORT } = terminal.env
      const { httpPort } = readConfig(DUELOG_HTTP_PORT === undefined ? {} : { DUELOG_HTTP_PORT })
      const outcome = await runDemo({ seconds, jobs, output: terminal.stdout, signal: signals.stop, logger, httpPort })
      exit(outcome === 'proved' ? 0 : (signals.exitCode ?? 1))
    } finally {
      signals.dispose()
    }
  },
}

/** Output that shows only the first lines of a log, because one failure may cause thousands of lines. */
export function firstLines(output: Output, linesMax: number): { write(line: string): void } {
  let lines = 0
  return {
    write(line) {
      lines++
      if (lines <= linesMax) output.write(line)
      else if (lines === linesMax + 1) output.write('Further errors are not shown.\n')
    },
  }
}
