/**
 * The tests that judge streams/ under mutation: no broker, no process, nothing that takes long. DUELOG_MUTATIONS_LONG=1 adds those that
 * compare calendars with other libraries: for streams/schedules.
 */
import { configDefaults, defineConfig } from 'vitest/config'

const long = ['test/streams/**/*-differential.test.ts', 'test/streams/**/fuzz.test.ts']

export default defineConfig({
  test: {
    include: ['test/streams/**/*.test.ts', 'test/model/*.test.ts'],
    exclude: [...configDefaults.exclude, ...(process.env.DUELOG_MUTATIONS_LONG === '1' ? [] : long)],
    pool: 'threads',
    // Modules are read once for all files: rules have no state, and a mutant takes half as long.
    isolate: false,
    env: { NODE_ENV: 'production' },
    testTimeout: 60_000,
  },
})
