import { expect, test } from 'vitest'
import { brokenArrows, facesWithCode, importCycles, impurePlaces, roomCycles, roomsOf } from './arrows.ts'
import { codeOf, filesIn, type HouseFile, importsOf } from './tree.ts'

const house = filesIn(['schemas', 'streams', 'src', 'bench', 'test', 'docs'])
const file = (path: string, ...lines: string[]): HouseFile => ({ path, text: lines.join('\n') })
const importing = (path: string, target: string): HouseFile => file(path, `import { x } from '${target}'`)

test('all files are read', () => {
  expect(house.length).toBeGreaterThan(200)
  expect(roomsOf(house).size).toBeGreaterThan(40)
})

test('no arrow is broken', () => {
  expect(brokenArrows(house)).toEqual([])
})

test('a face holds a header and re-exports only', () => {
  expect(facesWithCode(house)).toEqual([])
})

test('streams use no clock, randomness, socket, disk or environment, and doers use the clock port', () => {
  expect(impurePlaces(house)).toEqual([])
})

test('no file imports itself through others, types included', () => {
  expect(importCycles(house)).toEqual([])
})

test.each([
  ['src/api/a.ts', '../scheduler/b.ts', 'api may not know scheduler'],
  ['src/scheduler/a.ts', '../executor/b.ts', 'scheduler may not know executor'],
  ['src/retrier/a.ts', '../system/index.ts', 'retrier may not know system'],
  ['src/executor/a.ts', '../kafka/b.ts', 'executor may not know kafka'],
  ['src/store/a.ts', '../scheduler/index.ts', 'store may not know scheduler'],
  ['src/errors/a.ts', '../config/index.ts', 'errors may not know config'],
  ['src/system/a.ts', '../cli/index.ts', 'system may not know cli'],
  ['src/attic/a.ts', '../errors/index.ts', 'is in no room'],
  ['bench/tools/a.ts', '../../test/chaos/places.ts', 'the package has benchmarks, but no tests'],
  ['src/a.ts', './errors/index.ts', 'is in no room'],
  ['src/scheduler/a.ts', '../errors/errors.ts', 'others import src/errors/index.ts'],
  ['src/api/a.ts', '../../streams/runs/b.ts', 'others import streams/runs/index.ts'],
  ['src/api/routes/a.ts', '../jobs/b.ts', 'others import src/api/jobs/index.ts'],
  ['src/api/a.ts', '../../test/api/b.ts', 'the program does not know its test'],
  ['streams/a.ts', '../src/clock/index.ts', 'streams know schemas only'],
  ['streams/a.ts', 'node:fs', 'streams touch nothing outside'],
  ['schemas/a.ts', '../streams/state/index.ts', 'schemas know nobody'],
  ['src/api/a.ts', 'kafkajs', 'may'],
  ['src/api/a.ts', 'kafkajs/src/protocol', 'may'],
  ['src/client/a.ts', '@kafkajs/confluent-schema-registry', 'may'],
  ['src/scheduler/a.ts', 'rocksdb-native', 'may'],
  ['src/dashboard/a.tsx', '../ports/index.ts', 'dashboard may not know ports'],
  ['src/dashboard/a.tsx', '../../streams/state/index.ts', 'knows the HTTP API alone'],
  ['src/dashboard/a.tsx', 'node:fs', 'runs in a browser'],
  ['src/api/a.ts', '../dashboard/b.tsx', 'api may not know dashboard'],
  ['src/api/a.ts', 'preact', 'may'],
])('red: %s must not import %s', (path, target, why) => {
  expect(brokenArrows([importing(path, target)])).toEqual([expect.stringContaining(why)])
  expect(brokenArrows([file(path, `export type { X } from '${target}'`)])).toHaveLength(1)
  expect(brokenArrows([file(path, 'import {', '  type A,', `} from '${target}'`)])).toHaveLength(1)
  expect(brokenArrows([file(path, `const x = await import('${target}')`)])).toHaveLength(1)
  expect(brokenArrows([file(path, `// import { x } from '${target}'`)])).toEqual([])
})

test('green: a broken arrow says which file and which target', () => {
  expect(brokenArrows([importing('src/api/a.ts', '../scheduler/b.ts')])).toEqual([
    'src/api/a.ts imports src/scheduler/b.ts: api may not know scheduler',
  ])
  expect(brokenArrows([importing('src/store/a.ts', '../ports/index.ts')])).toEqual([])
  expect(brokenArrows([importing('src/api/jobs/a.ts', './b.ts')])).toEqual([])
  expect(brokenArrows([importing('src/dashboard/a.tsx', '../../streams/text/index.ts')])).toEqual([])
})

test('red: only its parent room may import a room inside a room', () => {
  const faces = [file('src/scheduler/index.ts'), file('src/scheduler/timers/index.ts')]
  const found = brokenArrows([
    ...faces,
    importing('src/cli/a.ts', '../system/index.ts'),
    importing('src/system/a.ts', '../scheduler/timers/index.ts'),
  ])
  expect(found).toEqual(['src/system/a.ts imports src/scheduler/timers/index.ts: others import src/scheduler/index.ts'])
})

test('red: a folder whose files others import needs a face', () => {
  expect(brokenArrows([file('src/api/index.ts'), importing('src/api/a.ts', './jobs/b.ts')])).toEqual([
    'src/api/a.ts imports src/api/jobs/b.ts: others import src/api/jobs/index.ts',
  ])
})

test.each([
  ['export const limit = 1'],
  ["import { a } from './a.ts'", 'export { a }'],
  ["export { a } from './a.ts'", "console.log('loaded')"],
  ['export function a() {}'],
])('red: a face must not hold code: %s', (...lines) => {
  expect(facesWithCode([file('src/api/index.ts', '/** The API. */', ...lines)])).toEqual(['src/api/index.ts'])
})

test('red: a face needs a header comment', () => {
  expect(facesWithCode([file('src/api/index.ts', "export { a } from './a.ts'")])).toEqual(['src/api/index.ts'])
})

test('green: a face re-exports by name, by type and as a whole', () => {
  const exports = ["export { a, type B } from './a.ts'", 'export type {', '  C,', "} from './c.ts'", "export * from './d.ts'"]
  expect(facesWithCode([file('src/api/index.ts', '/** The API. */', ...exports)])).toEqual([])
  expect(facesWithCode([file('src/api/server.ts', 'export const limit = 1')])).toEqual([])
})

test('red: rooms must not import each other in a cycle', () => {
  const cycle = [importing('src/api/jobs/a.ts', '../owners/index.ts'), importing('src/api/owners/b.ts', '../jobs/index.ts')]
  expect(roomCycles(cycle)).toEqual(['src/api/jobs → src/api/owners → src/api/jobs'])
})

test.each([
  'const now = Date.now()',
  'const now = new Date()',
  'const share = Math.random()',
  'const home = process.env.HOME',
  'setTimeout(() => {}, 1)',
  'const t = performance.now()',
  'await fetch(url)',
  ['const text = `', '{Date.now()}`'].join('$'),
])('red: streams must not say %s', (line) => {
  expect(impurePlaces([file('streams/a.ts', '', line)])).toEqual([expect.stringMatching(/^streams\/a\.ts:2 /)])
})

test('red: a doer must not ask the wall clock itself', () => {
  expect(impurePlaces([file('src/scheduler/a.ts', 'const now = Date.now()')])).toEqual(['src/scheduler/a.ts:1 Date.now'])
  expect(impurePlaces([file('src/clock/clock.ts', 'const now = Date.now()')])).toEqual([])
})

test('words in comments and strings do not count', () => {
  const text = ["/** Like Date.now() of old. */ const a = 'Math.random' // process.env", 'const b = "setTimeout"'].join('\n')
  expect(impurePlaces([{ path: 'streams/a.ts', text }])).toEqual([])
  expect(codeOf(text).split('\n')).toHaveLength(2)
})

test('red: a cycle over types is a cycle', () => {
  const cycle = [
    importing('src/api/a.ts', './b.ts'),
    file('src/api/b.ts', "import type { C } from './c.ts'"),
    importing('src/api/c.ts', './a.ts'),
  ]
  expect(importCycles(cycle)).toEqual(['src/api/a.ts → src/api/b.ts → src/api/c.ts → src/api/a.ts'])
  expect(importCycles(cycle.slice(0, 2))).toEqual([])
})

test('every form of import is found', () => {
  const text = [
    "import './a.ts'",
    "export * from './b.ts'",
    "import x, { type y } from 'c'",
    "import z from '@d/e' with { type: 'json' }",
  ]
  expect(importsOf(file('src/x.ts', ...text))).toEqual(['src/a.ts', 'src/b.ts', 'c', '@d/e'])
})
