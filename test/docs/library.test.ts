import { expect, test } from 'vitest'
import { declarationOf, libraryPage, membersOf, reexportsOf } from '../../docs/pages/library.ts'
import * as client from '../../src/clients/library/client.ts'
import * as worker from '../../src/clients/library/worker.ts'
import * as testing from '../../src/testing/library.ts'
import { readHouseFile } from '../house/tree.ts'

const page = libraryPage()
const headings = page.split('\n').filter((line) => line.startsWith('### '))

test('every value and every type that an entry exports has one section', () => {
  const values = [client, testing, worker].flatMap((entry) => Object.keys(entry))
  // By another way than that of the page: every word inside of the braces of the entries.
  const entries = ['clients/library/client', 'testing/library', 'clients/library/worker']
  const types = entries.flatMap((name) => {
    const code = readHouseFile(`src/${name}.ts`).text.replace(/\/\*[\s\S]*?\*\//g, '')
    return code.replace(/from '[^']*'/g, '').match(/\b(?!export\b|type\b)\w+/g)
  })
  const wanted = new Set([...values, ...types].map((name) => `### ${name}`))
  expect([...headings].sort()).toEqual([...wanted].sort())
})

test('every method of a client is there, with its signature in one line', () => {
  const made = client.createClient({ url: 'http://127.0.0.1:1' })
  const names = Object.keys(made)
  expect(names.length).toBeGreaterThan(20)
  // What a client over HTTP alone refuses is of JobRecords.
  const sections = ['Client', 'JobRecords']
    .map((name) => new RegExp(`### ${name}\n[\\s\\S]*?(?=\n### )`).exec(page)?.[0])
    .join('')
  for (const name of names) expect(sections).toMatch(new RegExp(`\\| \`${name}[<(]`))
})

const source = `
/** What it is,
 * in two lines. */
export interface Wide<Payload = unknown> extends Base {
  /** One. */
  readonly one: string
  two?:
    | { a: (x: number) => void }
    /** Not of two. */
    | { b: 1 }
  three(
    first: Payload,
  ): Promise<void>
  plain: 1
}

/** Overloaded. */
export function both(a: string): void
export function both(a: number): void
export function both(a: unknown): void {
  console.log(a)
}
export type Last = 'x' | 'y'
`
const read = (path: string): string =>
  ({ 'a/own.ts': source, 'a/index.ts': "export { type Wide, both } from './own.ts'\n" })[path] ?? ''

test('a declaration is found through other files, with its comment, and ends where it ends', () => {
  expect([...reexportsOf('a/index.ts', read('a/index.ts'))]).toEqual([
    ['Wide', 'a/own.ts'],
    ['both', 'a/own.ts'],
  ])
  const wide = declarationOf('Wide', 'a/index.ts', read)
  expect(wide).toMatchObject({ kind: 'interface', comment: 'What it is, in two lines.' })
  expect(membersOf(wide.texts[0] ?? '')).toEqual([
    { name: 'one', type: 'readonly one: string', comment: 'One.' },
    { name: 'two', type: 'two?: | { a: (x: number) => void } | { b: 1 }', comment: '' },
    { name: 'three', type: 'three(first: Payload): Promise<void>', comment: '' },
    { name: 'plain', type: 'plain: 1', comment: '' },
  ])
  expect(declarationOf('both', 'a/index.ts', read).texts).toHaveLength(3)
  expect(declarationOf('Last', 'a/own.ts', read)).toMatchObject({ kind: 'type', comment: '', texts: ["type Last = 'x' | 'y'"] })
  expect(() => declarationOf('None', 'a/index.ts', read)).toThrow('a/index.ts neither declares nor exports None')
})

test('the fields of what calls give back are listed, also of types inside them', () => {
  const partOf = (name: string): string => page.split(new RegExp(`\n####? ${name}\n`))[1]?.split(/\n####? /)[0] ?? ''
  expect(partOf('JobInfo')).toContain('| `nextFireAt: string \\| null` |')
  expect(partOf('RunInfo')).toContain('| `errors: AttemptError[]` | The last five failed attempts. |')
  expect(partOf('Operation')).toContain('| `action: ')
  expect(partOf('AttemptError')).toContain('| `message: string` |')
  const answers = readHouseFile('src/ground/answers/answers.ts').text
  const named = new Set(
    ['JobInfo', 'RunInfo', 'Plan', 'Operation'].flatMap((name) => partOf(name).match(/\b[A-Z]\w+(?=\[\]| \\\||`)/g) ?? []),
  )
  for (const name of named) if (answers.includes(`export type ${name} = {`)) expect(partOf(name), name).not.toBe('')
})
