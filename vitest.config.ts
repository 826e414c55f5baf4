import { configDefaults, defineConfig } from 'vitest/config'
import { LongestFirst } from './test/setup/longest-first.ts'

/**
 * Files whose code keeps nothing. They share modules, which would be loaded again for each file otherwise. Those of test/scheduler share
 * none, because they read metrics, which are those of the module.
 */
const pure = ['streams', 'concurrency', 'pauses', 'clock', 'config'].map((room) => `test/${room}/**/*.test.ts`)

/**
 * Rooms whose files may run one after the other in one process: nothing that a file leaves there changes the next one. To start a
 * process for each file and load the sources anew takes most of the time of these. The other files read metrics of a module, replace
 * modules or timers, or end processes.
 */
const serial = ['api/**/!(broker|gone-callers)', 'auditor/**/!(audit)', 'dashboard/**/*', 'executor/**/!(priorities)'].map(
  (place) => `test/${place}.test.ts`,
)

/** Files of few cases that wait for most of their time: for sessions and leases that end, for seconds of a schedule, for a page. */
const waiting = [
  'chaos/chaos',
  'dashboard/{bulk,dashboard,job-views,run-page}',
  'docker/topology',
  'examples/python-worker',
  'executor/{broker,processes,vanished-runs,worker-deaths}',
  'auditor/{moving,role}',
  'faults/{broken-disk,broker-bounce,clock,graceful-end,handover,random-kills,stale-reads,standby,stop-without-brokers,zombie}',
  'semantics/*',
  'system/missing-handlers',
  'targets/*',
].map((place) => `test/${place}.test.ts`)

const shared = {
  pool: 'forks',
  // vitest's own value makes kafkajs retry as it does in its own tests.
  env: { NODE_ENV: 'production' },
  // Two cores carry the broker, the registry and the tests. With two files that wait, a third of their time is idle.
  maxWorkers: 2,
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
    sequence: { sequencer: LongestFirst },
    projects: [
      { test: { ...shared, name: 'waiting', include: waiting, maxWorkers: 3, sequence: { groupOrder: 0 } } },
      {
        test: {
          ...shared,
          name: 'real',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...waiting, ...pure, ...serial],
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...shared,
          name: 'serial',
          include: serial,
          exclude: [...configDefaults.exclude, ...waiting],
          isolate: false,
          restoreMocks: true,
          sequence: { groupOrder: 2 },
        },
      },
      // A mock of one file would be that of the next one too.
      { test: { ...shared, name: 'pure', include: pure, isolate: false, restoreMocks: true, sequence: { groupOrder: 3 } } },
    ],
  },
})
