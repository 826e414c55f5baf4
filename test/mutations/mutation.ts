/** One change of the code that a colleague could make by mistake, and who ought to notice it. */
export interface Mutation {
  name: string
  area: string
  file: string
  /** Stands once in the file: test/house sees to it. */
  find: string
  replace: string
  why: string
  /** Tests that ought to notice, by their path in test without `.test.ts`; `seeds 1-40`: these histories of test/model/cluster. */
  judges: readonly string[]
}

type Change = readonly [name: string, file: string, find: string, replace: string, why: string, ...judges: string[]]

/** Mutations of one area. `judges` are those of all of them; a change may name more. */
export const area = (name: string, judges: readonly string[], changes: readonly Change[]): Mutation[] =>
  changes.map(([mutation, file, find, replace, why, ...more]) => ({
    ...{ name: mutation, area: name, file, find, replace, why },
    judges: [...judges, ...more],
  }))
