import { configDefaults, defineConfig } from 'vitest/config'
import { alone } from './test/setup/file-lists.ts'
import { FileOrder } from './test/setup/file-order.ts'
import { isLong } from './test/setup/long.ts'

const aloneFiles = alone.map((place) => `test/${place}.test.ts`)

/** Three brokers, those of other versions, and compilers of four languages: only the long run has these. */
const onlyLong = [
  ...['chaos/chaos', 'docker/topology', 'generated-clients/generated-clients', 'kafka/client/canaries/versions-of-kafka'],
].map((place) => `test/${place}.test.ts`)

/** What `npm run test:long` runs: these, and the files with a long form of their own (test/setup/long.ts). */
const long = [
  ...onlyLong,
  ...['executor/worker-deaths', 'faults/*', 'model/**/*', 'streams/**/{fuzz,*-differential}'].map(
    (place) => `test/${place}.test.ts`,
  ),
]

const shared = {
  pool: 'forks',
  // vitest's own value makes kafkajs retry as it does in its own tests.
  env: { NODE_ENV: 'production' },
  // Two cores carry the broker, the registry and the tests. A third file uses them while the others wait.
  maxWorkers: 3,
  // Of the concurrent cases of a file: each of those brings processes of its own.
  maxConcurrency: 3,
  // These limits end a test that hangs; no test asserts by them. A poll ends before its test, and says what it saw last.
  testTimeout: 180_000,
  expect: { poll: { timeout: 60_000 } },
  hookTimeout: 120_000,
} as const

export default defineConfig({
  test: {
    globalSetup: ['test/setup/global.ts'],
    teardownTimeout: 60_000,
    sequence: { sequencer: FileOrder },
    projects: isLong
      ? [{ test: { ...shared, name: 'long', include: long } }]
      : [
          {
            test: {
              ...shared,
              name: 'shared',
              include: ['test/**/*.test.ts'],
              exclude: [...configDefaults.exclude, ...onlyLong, ...aloneFiles],
              isolate: false,
              // A mock of one file would be that of the next one too.
              restoreMocks: true,
              unstubEnvs: true,
            },
          },
          { test: { ...shared, name: 'alone', include: aloneFiles } },
        ],
  },
})
