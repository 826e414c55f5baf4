/** What `import … from 'duelog/testing'` gives: Duelog in virtual time for tests. It needs neither Kafka nor the store, and loads the API at its first use. */
export { DuelogError, type ErrorCode } from '../ground/errors/index.ts'
export {
  type FakeLine,
  type FakeRun,
  type FakeRunOverrides,
  fakeRun,
  type TestRecord,
  type TestSystem,
  type TestSystemOptions,
  testSystem,
} from './index.ts'
