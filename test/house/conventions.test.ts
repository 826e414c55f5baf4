import { expect, test } from 'vitest'
import {
  badNames,
  foreignCitations,
  functionLinesMax,
  handWrittenRoutes,
  linesMax,
  longFiles,
  longFunctions,
  machinePlaces,
  registryPlaces,
  testLinesMax,
  unfinishedPlaces,
  unfinishedTests,
  withoutHeader,
} from './conventions.ts'
import { filesIn, type HouseFile, readHouseFile, topLevel } from './tree.ts'

const house = filesIn(['schemas', 'streams', 'src', 'bench', 'test', 'docs'])
const documents = filesIn(['docs', 'docker', 'examples', '.ci'], '').filter(({ path }) => !path.endsWith('.ndjson'))
const file = (path: string, ...lines: string[]): HouseFile => ({ path, text: `${lines.join('\n')}\n` })
/**
 * The packages of a lock file that come from one fixed host, and the packages without a checksum, which the host could replace.
 */
function unsafeIn(text: string): { resolved: string[]; unsealed: string[] } {
  const { packages } = JSON.parse(text) as { packages: Record<string, { resolved?: string; integrity?: string; link?: boolean }> }
  const entries = Object.entries(packages).filter(([path, { link }]) => path !== '' && link !== true)
  return {
    resolved: entries.flatMap(([path, { resolved }]) => (resolved === undefined ? [] : [path])),
    unsealed: entries.flatMap(([path, { integrity = '' }]) => (/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity) ? [] : [path])),
  }
}
const linesOf = (count: number): string[] => new Array<string>(count).fill('x()')

/**
 * Long files that a reviewer accepted, because each has one job: a reader, a forwarder, a partition, its commit cycle, applying
 * its batch, and the reader of a worker. A file that is short again must leave the list.
 */
const longFilesLookedAt = [
  'schemas/generated.ts',
  'src/ground/answers/answers.ts',
  'src/worker/executor/consume/execution-consumer.ts',
  'src/scheduler/commit/apply-batch.ts',
  'src/scheduler/partition/partition.ts',
  'src/testing/simulation/member.ts',
]
/** Long functions that a reviewer accepted: the metrics are a table. */
const longFunctionsLookedAt = ['src/ground/metrics/metrics.ts']

test('no text says that work is unfinished', () => {
  expect(unfinishedPlaces([...house, ...documents])).toEqual([])
})

test('no test is skipped', () => {
  expect(unfinishedTests(house)).toEqual([])
})

test('every file of the program begins with a header comment', () => {
  expect(withoutHeader(house)).toEqual([])
})

test('the program contains no path of one machine and no package registry', () => {
  expect(machinePlaces(house, [])).toEqual([])
  expect(registryPlaces([...house.filter(({ path }) => !path.startsWith('test/house/')), ...documents])).toEqual([])
})

test('the lock files name no host, and have a checksum of each package', () => {
  for (const file of ['package-lock.json', 'bench/peers/package-lock.json', 'test/mutations/package-lock.json']) {
    const { resolved, unsealed } = unsafeIn(readHouseFile(file).text)
    expect(resolved, file).toEqual([])
    // The linter stays at 2.5. Some registries lack packages of 2.6 for some platforms, and the lock file then has no checksum for
    // them.
    expect(unsealed, file).toEqual([])
  }
  const found = unsafeIn(
    '{"packages":{"":{},"a":{"resolved":"https://mirror.example.org/a.tgz","integrity":"sha1-x"},"b":{"link":true}}}',
  )
  expect(found).toEqual({ resolved: ['a'], unsealed: ['a'] })
  expect(readHouseFile('.npmrc').text).toContain('omit-lockfile-registry-resolved=true')
})

test('a path of a route is written once, where the API has the route', () => {
  expect(handWrittenRoutes(house)).toEqual([])
})

test('no document outside the repository is cited', () => {
  expect(foreignCitations([...house.filter(({ path }) => !path.startsWith('test/house/')), ...documents])).toEqual([])
})

test('long files are listed', () => {
  expect(longFiles(house)).toEqual(longFilesLookedAt.toSorted())
})

test('long functions are listed', () => {
  const found = longFunctions(house.filter(({ path }) => /^(src|streams|docs)\//.test(path)))
  expect([...new Set(found.map((place) => place.split(':')[0]))], found.join('\n')).toEqual(longFunctionsLookedAt)
})

test('names are kebab-case and not generic', () => {
  expect(badNames(house)).toEqual([])
})

test('the root folder has the files that newcomers look for', () => {
  expect(topLevel()).toEqual(
    expect.arrayContaining([
      'README.md',
      'CHANGELOG.md',
      'LICENSE',
      'AGENTS.md',
      'package.json',
      'tsconfig.json',
      '.ci',
      'docker',
    ]),
  )
})

test('red: words for unfinished work', () => {
  expect(unfinishedPlaces([file('src/a.ts', '/** A. */', `// ${'TO'}${'DO'}: later`)])).toEqual([`src/a.ts:2 ${'TO'}${'DO'}`])
  expect(unfinishedPlaces([file('docs/a.md', `${'FIX'}${'ME'}`)])).toHaveLength(1)
})

test.each(['only', 'skip', 'todo'])('red: a test with .%s', (word) => {
  expect(unfinishedTests([file('test/a.test.ts', `test.${word}('x', () => {})`)])).toEqual([`test/a.test.ts:1 test.${word}`])
  expect(unfinishedTests([file('test/a.test.ts', `test('x.${word}', () => {})`)])).toEqual([])
})

test('red: a file without a header, a green one with it', () => {
  const green = [file('src/a.ts', '/** A. */', 'const a = 1'), file('src/b.ts', '#!/usr/bin/env node', '/** B. */')]
  expect(withoutHeader([file('streams/a.ts', 'const a = 1'), ...green])).toEqual(['streams/a.ts'])
})

test('red: a machine path, unless it is exempt or in a comment', () => {
  const planted = file('src/a.ts', "const cache = '/tmp/cache'", '// see /work/shared', 'const route = "/v1/jobs"')
  expect(machinePlaces([planted], [])).toEqual(["src/a.ts:1 '/tmp/cache'"])
  expect(machinePlaces([planted], [/^src\/a\.ts:1 /])).toEqual([])
})

test('red: a path of a route by hand', () => {
  const planted = ["await fetch('/v1/jobs')", `get(path\`/v1/jobs/${'$'}{id}\`)`, '// see GET /v1/proof', "'/internal/v1/counts'"]
  const found = [1, 2, 3].map((line) => expect.stringMatching(`^src/program/cli/a.ts:${line} /v1/`))
  expect(handWrittenRoutes([file('src/program/cli/a.ts', ...planted)])).toEqual(found)
  expect(
    handWrittenRoutes([file('src/server/api/routes/a.ts', ...planted), file('src/ground/answers/api.ts', ...planted)]),
  ).toEqual([])
})

test('red: the host of a package registry', () => {
  expect(registryPlaces([file('src/a.ts', `const host = 'registry.${'npm'}js.org'`)])).toHaveLength(1)
  expect(registryPlaces([file('src/a.ts', "const registryUrl = 'http://127.0.0.1:18081'")])).toEqual([])
})

test('red: a citation of a document elsewhere', () => {
  expect(foreignCitations([file('src/a.ts', '/** As design §4 says. */')])).toEqual(['src/a.ts:1 design §4'])
  expect(foreignCitations([file('src/a.ts', '/** By design, as ADR 0003 says. */')])).toEqual([])
})

test('red: a file one line too long', () => {
  const files = [
    file('src/a.ts', ...linesOf(linesMax + 1)),
    file('src/b.ts', ...linesOf(linesMax)),
    file('test/c.ts', ...linesOf(testLinesMax + 1)),
    file('test/d.ts', ...linesOf(testLinesMax)),
  ]
  expect(longFiles(files)).toEqual(['src/a.ts', 'test/c.ts'])
})

test.each([
  'export async function a(): Promise<void> {',
  'const a = (b: number): void => {',
  '): Promise<void> {',
  '  async #a(b: number): Promise<void> {',
  '  static override a<B>(b: B): void {',
])('red: a function one line too long: %s', (line) => {
  const indent = /^ */.exec(line)?.[0] ?? ''
  const body = linesOf(functionLinesMax - 2).map((text) => `${indent}  ${text}`)
  expect(longFunctions([file('src/a.ts', line, ...body, `${indent}}`)])).toEqual([])
  expect(longFunctions([file('src/a.ts', '', line, ...body, `${indent}  x()`, `${indent}}`)])).toEqual([
    `src/a.ts:2 ${functionLinesMax + 1} lines`,
  ])
})

test.each(['src/jobUtil.ts', 'src/utils/a.ts', 'src/Reader.ts', 'src/helpers.ts'])('red: the name %s', (path) => {
  expect(badNames([file(path)])).toEqual([path])
})
