/**
 * The tests that judge mutations of streams/: no broker, no process, and nothing slow. A mutant costs as much as the tests that
 * reach it. So a run over one folder names its tests first, and the other tests judge only the mutants that survive.
 *
 * DUELOG_MUTATIONS_TESTS     paths in test/, separated by commas: `streams/runs,streams/state`. Default: streams and model
 * DUELOG_MUTATIONS_LONG=1    adds the slow tests: random definitions, calendars of other libraries, random histories
 */
import { configDefaults, defineConfig } from 'vitest/config'

const long = [
  '**/*-differential.test.ts',
  '**/fuzz.test.ts',
  '**/timers-lead-on.test.ts',
  '**/identity.test.ts',
  'test/model/partition.test.ts',
]
const { DUELOG_MUTATIONS_TESTS: chosen = 'streams,model/*.test.ts', DUELOG_MUTATIONS_LONG } = process.env

export default defineConfig({
  test: {
    include: chosen.split(',').map((path) => (path.endsWith('.ts') ? `test/${path}` : `test/${path}/**/*.test.ts`)),
    exclude: [...configDefaults.exclude, ...(DUELOG_MUTATIONS_LONG === '1' ? [] : long)],
    // Rules have no state, so modules need not be loaded again for each file.
    isolate: false,
    env: { NODE_ENV: 'production' },
    testTimeout: 60_000,
  },
})
