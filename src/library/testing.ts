/** What `import … from 'duelog/testing'` gives: Duelog in virtual time for tests. It needs neither Kafka nor the store nor the server. */
export { DuelogError, type ErrorCode } from '../errors/index.ts'
export {
  type FakeLine,
  type FakeRun,
  type FakeRunOverrides,
  fakeRun,
  type TestLogLine,
  type TestRecord,
  type TestSystem,
  type TestSystemOptions,
  type TestWorker,
  testSystem,
} from '../testing/index.ts'
