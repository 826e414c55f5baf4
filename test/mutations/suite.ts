/**
 * The tests that judge streams/ under mutation: no broker, no process, nothing that takes long. A mutant costs what the tests cost that
 * reach it, so a run over one folder may name its tests first, and the others judge what these let live:
 *
 *   DUELOG_MUTATIONS_TESTS     paths in test/, by commas: `streams/runs,streams/limits`. Default: streams and model
 *   DUELOG_MUTATIONS_LONG=1    also those that take many seconds each: random definitions, calendars of other libraries, random histories
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
    // Rules have no state, so modules need not be read anew for each file.
    isolate: false,
    env: { NODE_ENV: 'production' },
    testTimeout: 60_000,
  },
})
