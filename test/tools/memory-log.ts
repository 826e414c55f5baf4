/** The log in memory of src/testing, for tests of other rooms. */
export * from '../../src/testing/simulation/memory-log.ts'
