/** Files that others wrote: encodings, ends of lines, ids that are there twice, aliases of YAML. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, describe, expect, test } from 'vitest'
import { type JobText, openJobs } from '../../../src/program/cli/jobs/job-files.ts'

const folder = mkdtempSync(join(tmpdir(), 'duelog-job-files-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function file(name: string, content: string | Buffer): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

async function all(jobs: AsyncIterable<JobText>): Promise<JobText[]> {
  const found: JobText[] = []
  for await (const job of jobs) found.push(job)
  return found
}

async function read(...files: string[]): Promise<JobText[]> {
  const { jobs } = await openJobs(files, undefined, Readable.from([]))
  return all(jobs)
}

async function readInput(content: string | Buffer): Promise<JobText[]> {
  const { jobs } = await openJobs(['-'], undefined, Readable.from([Buffer.from(content)]))
  return all(jobs)
}

const ids = (jobs: JobText[]): unknown[] => jobs.map(({ id }) => id)
const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1')

describe('a file that is not UTF-8', () => {
  test.each([
    ['latin1.ndjson', '{"id":"plain"}\n{"id":"g/caf\xe9"}\n{"id":"g/caf\xe8"}\n', 2],
    ['latin1.yaml', '- id: plain\n- id: g/caf\xe9\n- id: g/caf\xe8\n', 2],
    ['latin1.json', '[\n{"id":"plain"},\n{"id":"g/caf\xe9"}]', 3],
  ])('%s is refused with its line, before a job is given', async (name, text, line) => {
    await expect(openJobs([file(name, latin1(text))], undefined, Readable.from([]))).rejects.toThrow(
      `${name}:${line} is not UTF-8`,
    )
    await expect(readInput(latin1(text))).rejects.toThrow(`-:${line} is not UTF-8`)
  })
  test('says so if it is UTF-16', async () => {
    const text = Buffer.from('\ufeff- id: a\n', 'utf16le')
    await expect(read(file('utf16.yaml', text))).rejects.toThrow('utf16.yaml:1 is UTF-16, not UTF-8. Save the file as UTF-8.')
  })
  test('may begin with a byte order mark', async () => {
    const texts = {
      'mark.yaml': '- id: é\n- id: b\n',
      'mark.json': '[{"id":"é"},{"id":"b"}]',
      'mark.ndjson': '{"id":"é"}\n{"id":"b"}\n',
    }
    for (const [name, text] of Object.entries(texts)) {
      expect(ids(await read(file(name, `\ufeff${text}`)))).toEqual(['é', 'b'])
      expect(ids(await readInput(`\ufeff${text}`))).toEqual(['é', 'b'])
    }
  })
})

describe('lines of NDJSON', () => {
  test('end at a line feed alone, not at the separators of Unicode', async () => {
    const jobs = await read(file('separators.ndjson', '{"id":"a\u2028b","payload":"\u2029"}\r\n\n{"id":"c"}'))
    expect(jobs.map(({ id, line, json }) => [id, line, JSON.parse(json).payload])).toEqual([
      ['a\u2028b', 1, '\u2029'],
      ['c', 3, undefined],
    ])
  })
  test('have a limit, so that a file without line feeds does not fill the memory', async () => {
    const long = `{"id":"a"}\n{"payload":"${'x'.repeat(1024 * 1024)}"}\n`
    await expect(read(file('long.ndjson', long))).rejects.toThrow('long.ndjson:2 has more than 1048576 bytes')
  })
})

describe('an id that is there twice', () => {
  test('is refused with both places, also over two files', async () => {
    const yaml = file('twins.yaml', '- id: a\n- id: b\n- id: a\n')
    await expect(read(yaml)).rejects.toThrow(`${yaml}:3 has the id "a" of ${yaml}:1.`)
    const [one, two] = [file('one.ndjson', '{"id":"a"}\n'), file('two.json', '{"id":"a"}')]
    await expect(read(one, two)).rejects.toThrow(`${two}:1 has the id "a" of ${one}:1.`)
    await expect(readInput('{"id":"a"}\n{"id":"a"}\n')).rejects.toThrow('-:2 has the id "a" of -:1.')
  })
  test('is looked for before a job is given, unless the file is a pipe, which can be read once', async () => {
    const pipe = join(folder, 'pipe.ndjson')
    execFileSync('mkfifo', [pipe])
    const opened = openJobs([pipe], undefined, Readable.from([]))
    execFileSync('sh', ['-c', `printf '{"id":"a"}\\n' > "$0" &`, pipe], { stdio: 'ignore' })
    const { jobs, bytes } = await opened
    expect(bytes).toBeUndefined()
    expect(ids(await all(jobs))).toEqual(['a'])
  })
})

describe('aliases of YAML', () => {
  test('may be used by any number of jobs', async () => {
    const jobs = Array.from({ length: 5_000 }, (_, no) => `- { id: job-${no}, target: *log }`)
    const found = await read(file('shared.yaml', ['- { id: first, target: &log { handler: log } }', ...jobs].join('\n')))
    expect(found).toHaveLength(5_001)
    expect(JSON.parse(found.at(-1)?.json ?? '')).toEqual({ id: 'job-4999', target: { handler: 'log' } })
  })
  test('count as what they stand for: a job that they make too large is refused with its line', async () => {
    const levels = Array.from({ length: 12 }, (_, no) => `  l${no + 1}: &l${no + 1} [${Array(10).fill(`*l${no}`).join(', ')}]`)
    const bomb = file('bomb.yaml', ['- id: ok', '- id: bomb', '  l0: &l0 lol', ...levels].join('\n'))
    await expect(read(bomb)).rejects.toThrow(
      /bomb\.yaml:\d+ cannot be used: with its aliases, this job has more than 1048576 bytes\./,
    )
  })
  test('without an anchor that ends before them are refused, also in the node of their own', async () => {
    await expect(read(file('own.yaml', '- id: a\n  payload: &p [*p]\n'))).rejects.toThrow('own.yaml:2 cannot be used: ')
    await expect(read(file('none.yaml', '- id: a\n  payload: *p\n'))).rejects.toThrow('none.yaml:2 cannot be used: ')
  })
  test('deep nesting is refused', async () => {
    const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`
    const deep = [
      file('deep.yaml', `id: a\npayload: ${nested(50_000)}`),
      file('deep.json', `{"id":"a","payload":${nested(50_000)}}`),
    ]
    for (const path of deep) await expect(read(path)).rejects.toThrow(/deep\.yaml:\d+ cannot be used|deep\.json is refused/)
    await expect(read(file('less.yaml', `id: a\npayload: ${nested(200)}`))).rejects.toThrow('nested deeper than 129')
    const chain = Array.from({ length: 20_000 }, (_, no) => `- { id: a${no + 1}, p: &p${no + 1} [*p${no}] }`)
    await expect(read(file('chain.yaml', ['- { id: a0, p: &p0 x }', ...chain].join('\n')))).rejects.toThrow(
      'nested deeper than 129',
    )
    expect(await read(file('flat.yaml', `id: a\npayload: ${nested(100)}`))).toHaveLength(1)
  })
})
