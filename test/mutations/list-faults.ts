/**
 * Finds faults in a list of mutations without running any. test/house uses it in CI, and scheduler.ts uses it before it judges a
 * mutation.
 */
import { stripTypeScriptTypes } from 'node:module'
import type { Mutation } from './mutation.ts'

/** Text of a file of the project, by its path from the root. Undefined if the file does not exist. */
export type TextOf = (path: string) => string | undefined

/** The faults of each mutation, and names that two mutations have, or a mutation and an area. */
export function listFaults(mutations: readonly Mutation[], textOf: TextOf): string[] {
  const names = mutations.map(({ name }) => name)
  const areas = new Set(mutations.map(({ area }) => area))
  return [
    ...names.filter((name, at) => names.indexOf(name) !== at).map((name) => `${name}: another mutation has this name`),
    ...names.filter((name) => areas.has(name)).map((name) => `${name}: an area has this name`),
    ...mutations.flatMap((mutation) => faultsOf(mutation, textOf).map((fault) => `${mutation.name}: ${fault}`)),
  ]
}

export function faultsOf({ file, find, replace, judges }: Mutation, textOf: TextOf): string[] {
  return [
    ...textFaults(file, find, replace, textOf(file)),
    ...(judges.length === 0 ? ['nobody judges it'] : []),
    ...judges.filter((judge) => !exists(judge, textOf)).map((judge) => `its judge ${judge} is not there`),
  ]
}

function textFaults(file: string, find: string, replace: string, text: string | undefined): string[] {
  if (text === undefined) return [`${file} is not there`]
  const times = find === '' ? 0 : text.split(find).length - 1
  if (times !== 1) return [`its text stands ${times} times in ${file}, not once`]
  if (find === replace) return ['it changes nothing']
  return isCode(mutated(text, find, replace)) ? [] : [`${file} is no code with it`]
}

/** The text with the mutation. A function gives the replacement, because `replace` would interpret `$` in a string. */
export function mutated(text: string, find: string, replace: string): string {
  return text.replace(find, () => replace)
}

/** Whether a judge is a range of histories of test/model/cluster, and not a test. */
export function isSeeds(judge: string): boolean {
  return judge.startsWith('seeds ')
}

/** First and last seed of such a judge. Undefined if it names none. */
export function seedsOf(judge: string): [first: number, last: number] | undefined {
  const [, first, last] = /^seeds (\d+)-(\d+)$/.exec(judge) ?? []
  return first === undefined || last === undefined ? undefined : [Number(first), Number(last)]
}

export function testFile(judge: string): string {
  return `test/${judge}.test.ts`
}

function exists(judge: string, textOf: TextOf): boolean {
  if (!isSeeds(judge)) return textOf(testFile(judge)) !== undefined
  const [first, last] = seedsOf(judge) ?? [1, 0]
  return first <= last
}

function isCode(text: string): boolean {
  try {
    stripTypeScriptTypes(text)
    return true
  } catch {
    return false
  }
}
