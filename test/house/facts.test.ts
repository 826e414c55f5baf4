import { expect, test } from 'vitest'
import { madeFiles, withLimits } from '../../docs/generate.ts'
import { attemptErrorTypes } from '../../docs/pages/errors.ts'
import { generate, generateSettings, generateTexts } from '../../schemas/generate.ts'
import { jobDefinitionSchema } from '../../schemas/generated.ts'
import { systemClock } from '../../src/ground/clock/clock.ts'
import { errorTable } from '../../src/ground/errors/errors.ts'
import { newMetrics } from '../../src/ground/metrics/metrics.ts'
import { builtInHandlers } from '../../src/worker/executor/handlers/built-in.ts'
import { filesIn, type HouseFile, readHouseFile, withoutComments } from './tree.ts'

const program = filesIn(['src', 'streams'])

/** The codes in the first column of the Markdown table whose heading is `head`. */
function firstColumn(text: string, head: string): string[] {
  const start = text.indexOf(`| ${head} |`)
  const table = text.slice(start, text.indexOf('\n\n', start) < 0 ? undefined : text.indexOf('\n\n', start))
  return Array.from(table.matchAll(/^\| `([^`]+)`/gm), (match) => match[1] ?? '')
}

/** Error types that the program itself writes into attempts. */
function writtenErrorTypes(files: readonly HouseFile[]): string[] {
  const found = files
    .filter(({ path }) => /^(src\/worker\/executor|streams\/runs)\//.test(path))
    .flatMap(({ text }) =>
      Array.from(
        withoutComments(text).matchAll(
          /\brunError\(\s*'([\w-]+)'|\btype: '([A-Z][A-Za-z]*[a-z][A-Za-z]*)'|\bthis\.name = '([A-Za-z]+)'/g,
        ),
        (match) => match[1] ?? match[2] ?? match[3] ?? '',
      ),
    )
  return [...new Set(found)].sort()
}

/** The last part of the name of each field of a record, and of the records in it. */
function fieldNames(type: unknown): string[] {
  if (Array.isArray(type)) return type.flatMap(fieldNames)
  if (typeof type !== 'object' || type === null) return []
  const { fields, items, type: inner } = type as { fields?: { name: string; type: unknown }[]; items?: unknown; type?: unknown }
  return [
    ...(fields ?? []).flatMap((field) => [field.name, ...fieldNames(field.type)]),
    ...fieldNames(items),
    ...fieldNames(inner),
  ]
}

const unproved = (names: readonly string[], proofs: readonly HouseFile[]): string[] =>
  names.filter((name) => !proofs.some(({ text }) => new RegExp(`\\b${name}\\b`).test(withoutComments(text))))

/** The properties of newMetrics that no code sets. */
function unsetMetrics(names: readonly string[], files: readonly HouseFile[]): string[] {
  const code = files.filter(({ path }) => path !== 'src/ground/metrics/metrics.ts').map(({ text }) => withoutComments(text))
  return names.filter(
    (name) => !code.some((text) => new RegExp(`\\bmetrics\\??\\.${name}\\b|\\b${name}\\.(labels|set|inc|observe)\\b`).test(text)),
  )
}

test('the generated files of schemas are up to date', () => {
  expect(readHouseFile('schemas/generated.ts').text).toBe(generate())
  expect(readHouseFile('schemas/texts.ts').text).toBe(generateTexts())
  expect(readHouseFile('schemas/settings.ts').text).toBe(generateSettings())
})

test.each([...madeFiles()])('%s is up to date; npm run generate updates it', (path, text) => {
  expect(readHouseFile(path).text).toBe(text)
})

test('every error code is documented, and no other', () => {
  const documented = firstColumn(readHouseFile('docs/ERRORS.md').text, 'Code')
  expect(documented.toSorted()).toEqual(Object.keys(errorTable).sort())
})

test('every error code is used', () => {
  const code = program.filter(({ path }) => path !== 'src/ground/errors/errors.ts').map(({ text }) => text)
  expect(Object.keys(errorTable).filter((name) => !code.some((text) => text.includes(`'${name}'`)))).toEqual([])
})

test('every type that Duelog writes into failed attempts is documented', () => {
  const documented = firstColumn(readHouseFile('docs/ERRORS.md').text, 'Type')
  expect(documented.toSorted()).toEqual(Object.keys(attemptErrorTypes).sort())
  expect(documented.sort()).toEqual(writtenErrorTypes(program))
})

test('every field of a definition is used by a test of a whole Duelog on the real broker', () => {
  const proofs = filesIn(['test/semantics', 'test/targets'], '.test.ts')
  expect(unproved(fieldNames(jobDefinitionSchema), proofs)).toEqual([])
})

test('every metric is measured', () => {
  const names = Object.keys(newMetrics()).filter((name) => name !== 'registry' && name !== 'sources')
  expect(unsetMetrics(names, program)).toEqual([])
})

test('the library names the built-in handlers', () => {
  const open = async (): Promise<never> => expect.unreachable()
  const names = Object.keys(
    builtInHandlers({ httpDeny: [], httpSigningKey: undefined, writer: open, prefix: '', clock: systemClock }),
  )
  const line = readHouseFile('docs/LIBRARY.md')
    .text.split('\n')
    .find((text) => text.includes('The built-in ones ('))
  expect(names.length).toBeGreaterThan(4)
  for (const name of names) expect(line).toContain(name)
})

test('red: a table without a row, a type that is only written, a metric that nobody sets, a field that no test uses', () => {
  const schema = {
    type: 'record',
    fields: [{ name: 'outer', type: ['null', { type: 'array', items: { fields: [{ name: 'inner' }] } }] }],
  }
  expect(unproved(fieldNames(schema), [{ path: 'a.test.ts', text: 'put({ outer: 1 }) // inner' }])).toEqual(['inner'])
  expect(firstColumn('x\n\n| Code | A |\n|---|---|\n| `a` | 1 |\n| `b` | 2 |\n\n| Code2 |\n| `c` |', 'Code')).toEqual(['a', 'b'])
  const planted = {
    path: 'src/worker/executor/a.ts',
    text: "fail(runError('NewKind', 'x'), { type: 'OtherKind' }, { type: 'FAILED' })",
  }
  expect(writtenErrorTypes([planted])).toEqual(['NewKind', 'OtherKind'])
  const user = { path: 'src/a.ts', text: 'metrics.runs.inc() // metrics.lost.inc()' }
  expect(unsetMetrics(['runs', 'lost'], [user, { path: 'src/ground/metrics/metrics.ts', text: 'metrics.lost.inc()' }])).toEqual([
    'lost',
  ])
})

test('red: a table of limits in the README that is older than the schema', () => {
  const current = readHouseFile('README.md').text
  const older = current.replace('| Payload | 5', '| Payload | 4')
  expect(older).not.toBe(current)
  expect(withLimits(older)).toBe(current)
  expect(() => withLimits('# No marks')).toThrow('README.md must have')
})
