/** Completion candidates, from the tree of commands and through the scripts in real shells where those are installed. */
import { execFileSync } from 'node:child_process'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { candidatesOf } from '../../src/cli/completion/candidates.ts'
import { programOf } from '../../src/cli/program.ts'
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
  it('has a script for each shell, and refuses others', async () => {
    for (const shell of ['bash', 'zsh', 'fish'])
      expect((await duelogHere(['completion', shell])).out).toContain('duelog complete --')
    expect(await duelogHere(['completion', 'cmd'])).toMatchObject({ code: 2, err: expect.stringContaining('bash, zsh, fish') })
  })
  it('works in bash itself', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'duelog-completion-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    const duelog = join(folder, 'duelog')
    const source = fileURLToPath(new URL('../../src/cli/duelog.ts', import.meta.url))
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
