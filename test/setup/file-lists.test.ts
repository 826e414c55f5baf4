import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { alone, computing, waiting } from './file-lists.ts'

const folder = fileURLToPath(new URL('..', import.meta.url))
const below = (pattern: string): string[] => globSync(pattern, { cwd: folder })
const files = below('**/*.test.ts')

test('each place in the lists has a file', () => {
  const namesOf = (place: string): string[] =>
    /\{(.*)\}/
      .exec(place)?.[1]
      ?.split(',')
      .map((name) => place.replace(/\{.*\}/, name)) ?? [place]
  expect(alone.flatMap(namesOf).filter((place) => below(`${place}.test.ts`).length === 0)).toEqual([])
  const isThere = (place: string): boolean => files.some((file) => new RegExp(`^${place}\\.test\\.ts$`).test(file))
  expect([...waiting, ...computing].filter((place) => !isThere(place))).toEqual([])
})

test('a file that replaces modules, or sets the tracer of its process, shares no process', () => {
  const replaces = (file: string): boolean =>
    /\bvi\.(mock|doMock|resetModules)\(|\brecordSpans\(|\bsetGlobal/.test(readFileSync(`${folder}${file}`, 'utf8'))
  const own = new Set(alone.flatMap((place) => below(`${place}.test.ts`)))
  expect(files.filter((file) => replaces(file) && !own.has(file) && !file.startsWith('setup/'))).toEqual([])
})
