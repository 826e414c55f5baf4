import { expect, test } from 'vitest'
import { differenceOf, fileNameOf, snippetsOf, uncheckedIn } from './snippets.ts'

const fence = '```'

test('blocks have their language, line, code and rule; a block in a list loses its indent', () => {
  const text = [
    ...['# Page', '', `${fence}sh`, 'npm start', fence, '', '<!-- test: exit 2 -->', `${fence}sh`, 'false', '', 'x', fence],
    ...['1. A step:', '', `   ${fence}ts`, '   // a.ts', '   let a', `   ${fence}`, '', fence, 'a ──► b', fence],
    ...['<!-- test: not run: it needs a cluster -->', `${fence}java`, 'int a;', fence],
    ...['<!-- test: starts the system -->', `${fence}sh`, 'a', fence, '<!-- test: stays -->', `${fence}sh`, 'b', fence],
  ].join('\n')
  expect(snippetsOf('a.md', text)).toEqual([
    { page: 'a.md', line: 3, language: 'sh', code: 'npm start\n', rule: { kind: 'usual' } },
    { page: 'a.md', line: 8, language: 'sh', code: 'false\n\nx\n', rule: { kind: 'exit', code: 2 } },
    { page: 'a.md', line: 15, language: 'ts', code: '// a.ts\nlet a\n', rule: { kind: 'usual' } },
    { page: 'a.md', line: 20, language: '', code: 'a ──► b\n', rule: { kind: 'usual' } },
    { page: 'a.md', line: 24, language: 'java', code: 'int a;\n', rule: { kind: 'not-run', reason: 'it needs a cluster' } },
    { page: 'a.md', line: 28, language: 'sh', code: 'a\n', rule: { kind: 'system' } },
    { page: 'a.md', line: 32, language: 'sh', code: 'b\n', rule: { kind: 'stays' } },
  ])
})

test('what no test would notice is refused', () => {
  expect(() => snippetsOf('a.md', `${fence}sh\nnpm start\n`)).toThrow('a.md:1 has a fence without an end')
  expect(() => snippetsOf('a.md', `<!-- test: skip -->\n${fence}sh\na\n${fence}`)).toThrow('says nothing known: skip')
  expect(() => snippetsOf('a.md', `<!-- test: not run: no -->\n${fence}sh\na\n${fence}`)).toThrow('says nothing known')
  expect(() => snippetsOf('a.md', `<!-- test: stays -->\n\n${fence}sh\na\n${fence}`)).toThrow('without a block under it')
  expect(() => snippetsOf('a.md', `Text <!-- test: stays -->\n`)).toThrow('in a line with other text')
})

test('an output without a command, and a command that stays and shows nothing, are found', () => {
  const block = (language: string, comment = ''): string => `${comment}\n${fence}${language}\na\n${fence}\n`
  const found = (...blocks: string[]): string[] => uncheckedIn(snippetsOf('a.md', blocks.join('')))
  expect(found(block('sh'), block('text'), block('sh', '<!-- test: stays -->'), block('text'))).toEqual([])
  expect(found(block('ts'), block('text'))).toEqual(['a.md:6 is the output of no command that runs'])
  expect(found(block('sh', '<!-- test: not run: it needs a cluster -->'), block('text'))).toHaveLength(1)
  expect(found(block('sh', '<!-- test: stays -->'), block('sh'))).toEqual(['a.md:2 stays, and shows no output'])
})

test('a file is named by the first line of its block', () => {
  const nameOf = (code: string) => snippetsOf('a.md', `${fence}ts\n${code}\n${fence}`).map(fileNameOf).join()
  expect(nameOf('// worker.ts\nlet a')).toBe('worker.ts')
  expect(nameOf('# jobs.yaml\n- id: a')).toBe('jobs.yaml')
  expect(nameOf('// the worker.ts\nlet a')).toBe('')
})

test('an output may differ in instants, widths and what … stands for, and in nothing else', () => {
  const output = 'RUN    STATUS\na/1    DEAD 2026-11-24T23:44:08.174Z\nworker@vm:11515\n\n'
  expect(differenceOf(output, 'RUN STATUS\na/1  DEAD  2030-01-01T00:00:00.000Z\nworker@…\n')).toBeUndefined()
  expect(differenceOf(output, 'RUN STATUS\n…\n')).toBeUndefined()
  expect(differenceOf(output, '…\nworker@vm:11515\n')).toBeUndefined()
  expect(differenceOf(output, 'RUN STATUS\na/1  DEAD  2030-01-01T00:00:00.000Z\n')).toContain('The page shows')
  expect(differenceOf(output, '…\na/2 …\n…\n')).toContain('and the output is')
  expect(differenceOf('a.b', 'aXb')).toContain('a.b')
  expect(differenceOf('aXb', 'a.b')).toContain('a.b')
})
