/**
 * Checks the lists of mutations. A mutation proves nothing when the code no longer has its text, and CI does not run the
 * mutations.
 */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { listFaults, mutated, seedsOf, type TextOf } from '../mutations/list-faults.ts'
import { area, type Mutation } from '../mutations/mutation.ts'
import { mutations } from '../mutations/scheduler-list.ts'
import { readHouseFile } from './tree.ts'

const textOf: TextOf = (path) =>
  existsSync(fileURLToPath(new URL(`../../${path}`, import.meta.url))) ? readHouseFile(path).text : undefined

/** The faults of a list with one mutation of an invented project. The mutation has no fault besides the given changes. */
function faults(...changes: Partial<Mutation>[]): string[] {
  const project = new Map([
    ['src/a.ts', 'export const most: number = 2\nexport const least = 1 + 1\n'],
    ['test/a.test.ts', ''],
  ])
  const sound = { name: 'more', area: 'sizes', file: 'src/a.ts', find: 'most: number = 2', replace: 'most: number = 3' }
  const made = changes.map((change) => ({ ...sound, why: 'it is more', judges: ['a', 'seeds 1-40'], ...change }))
  return listFaults(made, (path) => project.get(path))
}

test('each mutation of the list applies in exactly one place, and has a judge', () => {
  expect(mutations.length).toBeGreaterThan(120)
  expect(listFaults(mutations, textOf)).toEqual([])
})

test.each<[string, Partial<Mutation>, string]>([
  ['a text that is gone', { find: 'most: number = 4' }, 'more: its text stands 0 times in src/a.ts, not once'],
  ['a text that stands twice', { find: 'export const' }, 'more: its text stands 2 times in src/a.ts, not once'],
  ['no text', { find: '' }, 'more: its text stands 0 times in src/a.ts, not once'],
  ['no change', { replace: 'most: number = 2' }, 'more: it changes nothing'],
  ['a change that is no code', { replace: 'most: = 3' }, 'more: src/a.ts is no code with it'],
  ['a file that is gone', { file: 'src/b.ts' }, 'more: src/b.ts is not there'],
  ['a judge that is gone', { judges: ['a', 'b'] }, 'more: its judge b is not there'],
  ['seeds that are none', { judges: ['seeds 40-1'] }, 'more: its judge seeds 40-1 is not there'],
  ['seeds without an end', { judges: ['seeds 1'] }, 'more: its judge seeds 1 is not there'],
  ['no judge', { judges: [] }, 'more: nobody judges it'],
  ['the name of an area', { name: 'sizes' }, 'sizes: an area has this name'],
])('red: %s', (_, change, fault) => {
  expect(faults(change)).toEqual([fault])
})

test('red: a duplicate name, with a green list beside it', () => {
  expect(faults({}, { replace: 'most: number = 4' })).toEqual(['more: another mutation has this name'])
  expect(faults({}, { name: 'fewer', replace: 'most: number = 1' })).toEqual([])
})

test('the judges of an area judge each of its mutations, and a mutation replaces exactly the text that is listed', () => {
  const [made] = area('sizes', ['a'], [['more', 'src/a.ts', '2', "$& + '$1'", 'it is more', 'seeds 2-9']])
  expect(made?.judges).toEqual(['a', 'seeds 2-9'])
  expect(seedsOf('seeds 2-9')).toEqual([2, 9])
  expect(mutated('a = 2', '2', made?.replace ?? '')).toBe("a = $& + '$1'")
})
