/** Tests of users' handlers, schedules and flows in virtual time, on the product's own code over a simulated cluster. */
export { type FakeLine, type FakeRun, type FakeRunOverrides, fakeRun } from './fake-run.ts'
export type { TestSystem, TestSystemOptions } from './options.ts'
export { testSystem } from './test-system.ts'
export type { TestRecord } from './topic-records.ts'
