import { defineConfig } from 'vitest/config'
import { LongestFirst } from './test/setup/longest-first.ts'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/setup/global.ts'],
    pool: 'forks',
    sequence: { sequencer: LongestFirst },
    // vitest's own value makes kafkajs retry as it does in its own tests.
    env: { NODE_ENV: 'production' },
    // Two cores carry the broker, the registry and the tests.
    maxWorkers: 2,
    // Of the concurrent cases of a file: each of those brings processes of its own.
    maxConcurrency: 3,
    // These limits end a test that hangs; no test asserts by them. A poll ends before its test, and says what it saw last.
    testTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
    hookTimeout: 120_000,
    teardownTimeout: 60_000,
  },
})
