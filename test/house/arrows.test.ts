import { expect, test } from 'vitest'
import {
  arrowsOfParts,
  brokenArrows,
  codeInPorts,
  facesWithCode,
  importCycles,
  impurePlaces,
  parts,
  roomCycles,
  roomsOf,
} from './arrows.ts'
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

test('ten parts, at most 32 arrows between them, and each that is allowed is used', () => {
  const allowed = Object.entries(parts).flatMap(([from, others]) => others.map((to) => `${from} → ${to}`))
  expect(arrowsOfParts(house)).toEqual(allowed.sort())
  // Besides these, each part of src knows the tenth: schemas and streams.
  expect(allowed.length + Object.keys(parts).length).toBeLessThanOrEqual(32)
})

test('a face holds a header and re-exports only', () => {
  expect(facesWithCode(house)).toEqual([])
})

test('ports are interfaces and types only', () => {
  expect(codeInPorts(house)).toEqual([])
})

test('streams use no clock, randomness, socket, disk or environment, and doers use the clock port', () => {
  expect(impurePlaces(house)).toEqual([])
})

test('no file imports itself through others, types included', () => {
  expect(importCycles(house)).toEqual([])
})

test.each([
  ['src/server/api/a.ts', '../../scheduler/b.ts', 'server may not know scheduler'],
  ['src/server/api/a.ts', '../operations/b.ts', 'api may not know operations'],
  ['src/scheduler/a.ts', '../worker/executor/b.ts', 'scheduler may not know worker'],
  ['src/worker/retrier/a.ts', '../../program/system/index.ts', 'worker may not know program'],
  ['src/worker/executor/a.ts', '../../log/kafka/b.ts', 'worker may not know log'],
  ['src/log/store/a.ts', '../../scheduler/index.ts', 'log may not know scheduler'],
  ['src/log/store/a.ts', '../kafka/index.ts', 'store may not know kafka'],
  ['src/ground/errors/a.ts', '../config/index.ts', 'errors may not know config'],
  ['src/program/system/a.ts', '../cli/index.ts', 'system may not know cli'],
  ['src/attic/a.ts', '../ground/errors/index.ts', 'is in no part'],
  ['bench/tools/a.ts', '../../test/chaos/places.ts', 'the package has benchmarks, but no tests'],
  ['src/a.ts', './ground/errors/index.ts', 'is in no part'],
  ['src/scheduler/a.ts', '../ground/errors/errors.ts', 'others import src/ground/errors/index.ts'],
  ['src/server/api/a.ts', '../../../streams/runs/b.ts', 'others import streams/runs/index.ts'],
  ['src/server/api/routes/a.ts', '../jobs/b.ts', 'others import src/server/api/jobs/index.ts'],
  ['src/server/api/a.ts', '../../../test/api/b.ts', 'the program does not know its test'],
  ['streams/a.ts', '../src/ground/clock/index.ts', 'streams know schemas only'],
  ['streams/a.ts', 'node:fs', 'streams touch nothing outside'],
  ['schemas/a.ts', '../streams/state/index.ts', 'schemas know nobody'],
  ['src/server/api/a.ts', 'kafkajs', 'may'],
  ['src/server/api/a.ts', 'kafkajs/src/protocol', 'may'],
  ['src/log/kafka/group/a.ts', 'kafkajs', 'only'],
  ['src/log/kafka/group/a.ts', '../client/fetches.ts', 'others import src/log/kafka/client/index.ts'],
  ['src/clients/client/a.ts', '@kafkajs/confluent-schema-registry', 'may'],
  ['src/scheduler/a.ts', 'rocksdb-native', 'may'],
  ['src/clients/dashboard/a.tsx', '../client/index.ts', 'the dashboard knows the HTTP API alone'],
  ['src/clients/dashboard/a.tsx', '../../../streams/state/index.ts', 'knows the HTTP API alone'],
  ['src/clients/dashboard/a.tsx', 'node:fs', 'runs in a browser'],
  ['src/server/api/a.ts', '../../clients/dashboard/b.tsx', 'server may not know clients'],
  ['src/server/api/a.ts', 'preact', 'may'],
])('red: %s must not import %s', (path, target, why) => {
  expect(brokenArrows([importing(path, target)])).toEqual([expect.stringContaining(why)])
  expect(brokenArrows([file(path, `export type { X } from '${target}'`)])).toHaveLength(1)
  expect(brokenArrows([file(path, 'import {', '  type A,', `} from '${target}'`)])).toHaveLength(1)
  expect(brokenArrows([file(path, `const x = await import('${target}')`)])).toHaveLength(1)
  expect(brokenArrows([file(path, `// import { x } from '${target}'`)])).toEqual([])
})

test('green: a broken arrow says which file and which target', () => {
  expect(brokenArrows([importing('src/server/api/a.ts', '../../scheduler/b.ts')])).toEqual([
    'src/server/api/a.ts imports src/scheduler/b.ts: server may not know scheduler',
  ])
  expect(brokenArrows([importing('src/log/store/a.ts', '../../ground/ports/index.ts')])).toEqual([])
  expect(brokenArrows([importing('src/server/api/jobs/a.ts', './b.ts')])).toEqual([])
  expect(brokenArrows([importing('src/clients/dashboard/a.tsx', '../../../streams/text/index.ts')])).toEqual([])
})

test('red: only its parent room may import a room inside a room', () => {
  const faces = [file('src/scheduler/index.ts'), file('src/scheduler/timers/index.ts')]
  const found = brokenArrows([
    ...faces,
    importing('src/program/cli/a.ts', '../system/index.ts'),
    importing('src/program/system/a.ts', '../../scheduler/timers/index.ts'),
  ])
  expect(found).toEqual(['src/program/system/a.ts imports src/scheduler/timers/index.ts: others import src/scheduler/index.ts'])
})

test('red: a folder whose files others import needs a face', () => {
  expect(brokenArrows([file('src/server/api/index.ts'), importing('src/server/api/a.ts', './jobs/b.ts')])).toEqual([
    'src/server/api/a.ts imports src/server/api/jobs/b.ts: others import src/server/api/jobs/index.ts',
  ])
})

test.each([
  ['export const limit = 1'],
  ["import { a } from './a.ts'", 'export { a }'],
  ["export { a } from './a.ts'", "console.log('loaded')"],
  ['export function a() {}'],
])('red: a face must not hold code: %s', (...lines) => {
  expect(facesWithCode([file('src/server/api/index.ts', '/** The API. */', ...lines)])).toEqual(['src/server/api/index.ts'])
})

test.each([
  'export const limit = 1',
  'export function orderOf() {}',
  'export class Port {}',
  'const limit = 1',
  "export { limit } from './a.ts'",
  "import { limit } from '../records/index.ts'",
])('red: ports must not say %s', (line) => {
  const port = [
    '/** A port. */',
    "import type { X } from './x.ts'",
    'export interface Port {',
    '  x: X',
    '}',
    'export type Y =',
    '  | 1',
    line,
  ]
  expect(codeInPorts([file('src/ground/ports/a.ts', ...port)])).toEqual([expect.stringContaining('a.ts:8 ')])
  expect(codeInPorts([file('src/ground/records/a.ts', line)])).toEqual([])
})

test('red: a face needs a header comment', () => {
  expect(facesWithCode([file('src/server/api/index.ts', "export { a } from './a.ts'")])).toEqual(['src/server/api/index.ts'])
})

test('green: a face re-exports by name, by type and as a whole', () => {
  const exports = ["export { a, type B } from './a.ts'", 'export type {', '  C,', "} from './c.ts'", "export * from './d.ts'"]
  expect(facesWithCode([file('src/server/api/index.ts', '/** The API. */', ...exports)])).toEqual([])
  expect(facesWithCode([file('src/server/api/server.ts', 'export const limit = 1')])).toEqual([])
})

test('red: rooms must not import each other in a cycle', () => {
  const cycle = [
    importing('src/server/api/jobs/a.ts', '../owners/index.ts'),
    importing('src/server/api/owners/b.ts', '../jobs/index.ts'),
  ]
  expect(roomCycles(cycle)).toEqual(['src/server/api/jobs → src/server/api/owners → src/server/api/jobs'])
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
  expect(impurePlaces([file('src/ground/clock/clock.ts', 'const now = Date.now()')])).toEqual([])
})

test('words in comments and strings do not count', () => {
  const text = ["/** Like Date.now() of old. */ const a = 'Math.random' // process.env", 'const b = "setTimeout"'].join('\n')
  expect(impurePlaces([{ path: 'streams/a.ts', text }])).toEqual([])
  expect(codeOf(text).split('\n')).toHaveLength(2)
})

test('red: a cycle over types is a cycle', () => {
  const cycle = [
    importing('src/server/api/a.ts', './b.ts'),
    file('src/server/api/b.ts', "import type { C } from './c.ts'"),
    importing('src/server/api/c.ts', './a.ts'),
  ]
  expect(importCycles(cycle)).toEqual(['src/server/api/a.ts → src/server/api/b.ts → src/server/api/c.ts → src/server/api/a.ts'])
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
