/** Every picture of the documents exists and has a description; those that are drawn by hand are well-formed and readable on light and dark pages. */
import { existsSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { filesIn, readHouseFile } from '../house/tree.ts'
import { picturesOf, svgProblems } from './pictures.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const pages = [readHouseFile('README.md'), ...filesIn(['docs', 'examples'], '.md')]
const pictures = pages.flatMap(({ path, text }) => picturesOf(path, text))
const placeOf = (page: string, target: string): string => posix.join(posix.dirname(page), target)
const drawn = filesIn(['docs'], '.svg').filter(({ path }) => path.startsWith('docs/pictures/'))

test('each picture of a page exists and is described', () => {
  expect(pictures.length).toBeGreaterThan(8)
  for (const { page, alt, target } of pictures) {
    expect(existsSync(`${root}${placeOf(page, target)}`), `${page}: ${target}`).toBe(true)
    expect(alt.length, `${page}: the description of ${target}`).toBeGreaterThan(15)
  }
})

test('each drawing is on a page, well-formed, self-contained, and has colors for dark pages', () => {
  const shown = new Set(pictures.map(({ page, target }) => placeOf(page, target)))
  expect(drawn.length).toBeGreaterThan(0)
  for (const { path, text } of drawn) {
    expect(shown, path).toContain(path)
    expect(svgProblems(text), path).toEqual([])
    expect(text.length, `${path} is small`).toBeLessThan(8_000)
  }
})

test('drawings that no page could show are found', () => {
  const of = (inner: string): string[] =>
    svgProblems(
      `<svg xmlns="x" viewBox="0 0 10 10" role="img" aria-label="A job becomes a run of a worker."><style>@media (prefers-color-scheme:dark){}</style>${inner}</svg>\n`,
    )
  expect(of('<rect x="1"/><text x="1">a &amp; b</text>')).toEqual([])
  expect(of('<g><rect x="1"></g>')).toHaveLength(1)
  expect(of('<rect x=1/>')).toHaveLength(1)
  expect(of('<rect x="1" x="2"/>')).toHaveLength(1)
  expect(of('<text>a & b</text>')).toHaveLength(1)
  expect(of('<g>')).toHaveLength(1)
  expect(of('<script>1</script>')).toHaveLength(1)
  expect(of('<image href="http://x/a.png"/>')).toHaveLength(1)
  expect(svgProblems('<svg><rect/></svg>')).toHaveLength(3)
})
