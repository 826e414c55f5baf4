/** `duelog bench` names every benchmark that there is. */
import { execFile } from 'node:child_process'
import { expect, test } from 'vitest'

const printed = (...args: string[]): Promise<string> =>
  new Promise((resolve) => {
    execFile(process.execPath, args, (_error, stdout, stderr) => resolve(`${stdout}${stderr}`))
  })

test('the help lists the cases that the benchmarks list', async () => {
  const [help, usage] = await Promise.all([
    printed('src/program/cli/duelog.ts', 'bench', '--help'),
    printed('bench/run.ts', 'no-such-case'),
  ])
  const listed = usage.match(/-- (\S+) \[--n N\]/)?.[1]?.split('|') ?? []
  expect(listed).toContain('flood-rules')
  expect(help.match(/case {2,}([\s\S]*?)\n\n/)?.[1]?.split(/,\s+/)).toEqual(listed)
})
