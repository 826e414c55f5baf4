/** The tests that judge streams/ under mutation: no broker, no process, nothing that takes long. */
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/streams/**/*.test.ts', 'test/model/*.test.ts'],
    pool: 'forks',
    env: { NODE_ENV: 'production' },
    testTimeout: 60_000,
  },
})
