/** One mistake that a developer could make in the code, and the tests that should notice it. */
export interface Mutation {
  name: string
  area: string
  file: string
  /** Occurs exactly once in the file. test/house checks this. */
  find: string
  replace: string
  why: string
  /**
   * The tests that should notice the mutation, by their path in test without `.test.ts`. `seeds 1-40` means these histories of
   * test/model/cluster.
   */
  judges: readonly string[]
}

type Change = readonly [name: string, file: string, find: string, replace: string, why: string, ...judges: string[]]

/** The mutations of one area. `judges` apply to all of them; a change may name more. */
export const area = (name: string, judges: readonly string[], changes: readonly Change[]): Mutation[] =>
  changes.map(([mutation, file, find, replace, why, ...more]) => ({
    ...{ name: mutation, area: name, file, find, replace, why },
    judges: [...judges, ...more],
  }))
