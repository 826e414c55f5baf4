/** `duelog bench`: a benchmark in its own process, as it is measured everywhere. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { DuelogError } from '../../../ground/errors/index.ts'
import { modulePath, watchSignals } from '../../../ground/process/index.ts'
import type { CommandPlan } from '../remote/index.ts'
import { exitCodes, integer } from '../terminal/index.ts'
import { benchCases } from './bench-cases.ts'

export const benchCommand: CommandPlan = {
  name: 'bench',
  description:
    'Run a benchmark and print one line of JSON for each result. It starts its own broker and registry unless KAFKA_BROKERS and SCHEMA_REGISTRY_URL are set.',
  examples: ['bench storm', 'bench precision --runs 3'],
  options: [
    integer('--n <n>', 'size of the case: number of jobs or seconds', undefined, 1, 100_000_000),
    integer('--runs <n>', 'number of runs; their median comes last', 1, 1, 100),
  ],
  args: { '<case>': benchCases.join(', ') },
  run: async ({ exit }, name: string, { n, runs }: { n?: number; runs: number }) => {
    const script = modulePath('../../../../bench/run', import.meta.url)
    if (!existsSync(script)) throw new DuelogError('bad-usage', 'This installation has no benchmarks. Run them from a clone.')
    const signals = watchSignals()
    try {
      const args = [script, name, '--runs', String(runs), ...(n === undefined ? [] : ['--n', String(n)])]
      const child = spawn(process.execPath, args, { stdio: 'inherit' })
      // A terminal signals the child too. A signal to this process alone is passed on.
      signals.stop.addEventListener('abort', () => child.kill('SIGTERM'), { once: true })
      const [code] = (await once(child, 'exit')) as [number | null]
      exit(signals.exitCode ?? code ?? exitCodes.failed.code)
    } finally {
      signals.dispose()
    }
  },
}
