/** The virtual time of src/testing, for tests of other rooms. */
export * from '../../src/testing/simulation/manual-clock.ts'
