/** The random numbers of src/testing, for tests of other rooms. */
export * from '../../src/testing/simulation/chance.ts'
