/** The oracle implements the documents a second time. It cannot detect a mistake in code that it shares with the program. */
import { expect, test } from 'vitest'
import { filesIn, type HouseFile, withoutComments } from './tree.ts'

const oracle = filesIn(['test']).filter(({ path }) => path.startsWith('test/model/oracle/'))
/** Packages that read the records of the program, or compute the same results, by other means. */
const packages = ['avsc', 'cron-parser', 'rrule-temporal']

/** Every import of more than types, except Node's own modules, those packages, and the oracle itself. */
function shared({ path, text }: HouseFile): string[] {
  const imports = withoutComments(text).matchAll(
    /^\s*(?:import|export)\b([^'"`;]*?)\bfrom\s*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/gm,
  )
  return Array.from(imports, ([, names = '', target, late]) => ({ names, target: target ?? late ?? '' }))
    .filter(({ names, target }) => !/^\s*type\b/.test(names) && !target.startsWith('node:') && !packages.includes(target))
    .filter(({ target }) => !/^\.\/[a-z-]+\.ts$/.test(target))
    .map(({ target }) => `${path} shares ${target}`)
}

test('the oracle shares no function with the program, only types and schema files', () => {
  expect(oracle.length).toBeGreaterThan(8)
  expect(oracle.flatMap(shared)).toEqual([])
})

test.each([
  ["import { nextFire } from '../../../streams/schedules/next-fire.ts'"],
  ["import { type Clock, systemClock } from '../../../src/clock.ts'"],
  ["const late = await import('../../../streams/topics.ts')"],
  ["import { isShown, type Entry } from '../../tools/memory-log.ts'"],
])('the test would find %s', (line) => {
  expect(shared({ path: 'test/model/oracle/a.ts', text: line })).toHaveLength(1)
})
