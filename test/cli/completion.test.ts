/** Completion candidates, from the tree of commands and through the scripts in real shells where those are installed. */
import { execFileSync } from 'node:child_process'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { candidatesOf } from '../../src/program/cli/completion-command.ts'
import { programOf } from '../../src/program/cli/program.ts'
import { duelogHere } from './built-program.ts'
import { FakeTerminal } from './fake-terminal.ts'

const program = programOf(new FakeTerminal(), () => {})
const words = (...typed: string[]): string[] => candidatesOf(program, typed).map(({ word }) => word)

describe('completion', () => {
  it('offers the commands that begin as typed, and none that is hidden', () => {
    expect(words('')).toContain('jobs')
    expect(words('')).not.toContain('complete')
    expect(words('sch')).toEqual(['schedule', 'schemas'])
    expect(words('jobs', 're')).toEqual(['resume'])
  })
  it('offers the options of the command once a dash is typed', () => {
    expect(words('jobs', 'list', '--st')).toEqual(['--status', '--stale'])
    expect(words('jobs', 'list', '')).toEqual([])
    expect(words('runs', 'redrive', 'a/1', '--')).toEqual(expect.arrayContaining(['--dead', '--json', '--help']))
  })
  it('offers the choices of an option, and nothing for values that it cannot know', () => {
    expect(words('jobs', 'list', '--status', '')).toEqual(['ACTIVE', 'PAUSED', 'COMPLETED', 'INVALID'])
    expect(words('jobs', 'list', '--status', 'PA')).toEqual(['PAUSED'])
    expect(words('jobs', 'list', '--tag', '')).toEqual([])
    expect(words('jobs', 'list', '--tag', 'list', '--ha')).toEqual(['--handler'])
  })
  it('prints the description beside each word, in one line', async () => {
    const { out } = await duelogHere(['complete', '--', 'jobs', 'pa'])
    expect(out).toBe('pause\tStop jobs from firing until they are resumed\n')
  })
  it('asks the server for ids and tags, and offers none that a shell would run', async () => {
    const asked: string[] = []
    const jobs = [
      { id: 'report-7', definition: { tags: ['reports', 'eu'] } },
      { id: 'report-$(touch pwned)', definition: { tags: ['re`ports`'] } },
      { id: 'report 8', definition: null },
      { id: '{eu}/report', definition: { tags: ['reports'] } },
    ]
    const server = createServer((request, response) => {
      asked.push(request.url ?? '')
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ jobs, cursor: null }))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const env = { DUELOG_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
    const offered = async (...typed: string[]): Promise<string[]> =>
      (await duelogHere(['complete', '--', ...typed], { env })).out
        .split('\n')
        .slice(0, -1)
        .map((line) => line.trim())
    expect(await offered('jobs', 'why', 'rep')).toEqual(['report-7'])
    expect(await offered('jobs', 'rm', 'x', '')).toEqual(['report-7', '{eu}/report'])
    expect(await offered('jobs', 'list', '--tag', 're')).toEqual(['reports'])
    expect(asked).toEqual(['/v1/jobs?limit=50&idPrefix=rep', '/v1/jobs?limit=50', '/v1/jobs?limit=200'])
    // Files, options and other values are not asked for.
    for (const typed of [
      ['jobs', 'apply', ''],
      ['jobs', 'why', '--'],
      ['jobs', 'list', '--limit', ''],
      ['jobs', ''],
    ])
      await offered(...typed)
    expect(asked).toHaveLength(3)
  })
  it('offers nothing if no server answers', async () => {
    const env = { DUELOG_URL: 'http://127.0.0.1:1' }
    expect(await duelogHere(['complete', '--', 'jobs', 'why', ''], { env })).toMatchObject({ code: 0, out: '', err: '' })
  })
  it('has a script for each shell, and refuses others', async () => {
    for (const shell of ['bash', 'zsh', 'fish'])
      expect((await duelogHere(['completion', shell])).out).toContain('duelog complete --')
    expect(await duelogHere(['completion', 'cmd'])).toMatchObject({ code: 2, err: expect.stringContaining('bash, zsh, fish') })
  })
  it('works in bash itself', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'duelog-completion-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    const duelog = join(folder, 'duelog')
    const source = fileURLToPath(new URL('../../src/program/cli/duelog.ts', import.meta.url))
    await writeFile(duelog, `#!/bin/sh\nexec '${process.execPath}' '${source}' "$@"\n`)
    await chmod(duelog, 0o755)
    const script = `
      source <(duelog completion bash)
      COMP_WORDS=(duelog jobs list --status P); COMP_CWORD=4
      _duelog
      printf '%s\\n' "\${COMPREPLY[@]}"`
    const path = [folder, process.env.PATH].join(delimiter)
    expect(execFileSync('bash', ['-c', script], { encoding: 'utf8', env: { ...process.env, PATH: path } })).toBe('PAUSED\n')
  })
})
