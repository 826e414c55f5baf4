import { describe, expect, it } from 'vitest'
import { createProgram, main } from '../../src/cli/program.ts'
import { flagOf } from '../../src/config/flags.ts'
import { settings } from '../../src/config/settings.ts'
import { FakeTerminal } from './fake-terminal.ts'

async function run(args: string[], env: Record<string, string> = {}) {
  const terminal = new FakeTerminal({ env })
  const code = await main(args, terminal)
  return { code, out: terminal.out.join(''), err: terminal.err.join('') }
}

describe('the command line', () => {
  it('has each setting of the schema as a flag of up, and no other but --verbose', () => {
    const up = createProgram(new FakeTerminal(), () => {}).commands.find((command) => command.name() === 'up')
    const flags = up?.options.map(({ long }) => long)
    expect(flags?.sort()).toEqual([...settings.map(flagOf), '--verbose'].sort())
  })
  it('names in the help of up where each flag stands in the environment, with its default', async () => {
    const { out, code } = await run(['up', '--help'])
    expect(code).toBe(0)
    for (const { name } of settings) expect(out).toContain(name)
    expect(out.replaceAll(/\s+/g, ' ')).toContain('[DUELOG_HTTP_PORT, default 8080]')
  })
  it('lists only what it can do', async () => {
    const { out, code } = await run(['--help'])
    expect(code).toBe(0)
    expect([...out.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => name)).toEqual(['up', 'demo', 'generate'])
  })
  it('prints its version', async () => {
    expect(await run(['--version'])).toMatchObject({ code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) })
  })
  it('shows the help on stderr and fails when nothing is asked of it', async () => {
    expect(await run([])).toMatchObject({ code: 1, out: '', err: expect.stringContaining('Usage: duelog') })
  })
  it('refuses an unknown command', async () => {
    expect(await run(['upp'])).toMatchObject({ code: 1, err: "duelog: unknown command 'upp'\n(Did you mean up?)\n" })
  })
  it('refuses an unknown flag and names the nearest', async () => {
    expect(await run(['up', '--htp-port', '1'])).toMatchObject({ code: 1, err: expect.stringContaining('--http-port') })
  })
  it('refuses a bad number for the demo', async () => {
    expect(await run(['demo', '--seconds', '0'])).toMatchObject({ code: 1, err: expect.stringContaining('from 1 to 3600') })
  })
})

describe('a setting that is wrong', () => {
  it('ends the start with one sentence on stderr and exit code 1', async () => {
    const { code, out, err } = await run(['up'], { DUELOG_HTTP_PORT: 'abc' })
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toMatch(/^duelog: DUELOG_HTTP_PORT .*"abc".*\n$/)
  })
  it('counts the same when it is a flag, which wins over the environment', async () => {
    const { code, err } = await run(['up', '--http-port', '99999'], { DUELOG_HTTP_PORT: '8080' })
    expect(code).toBe(1)
    expect(err).toContain('"99999"')
  })
  it('shows where with --verbose or DEBUG', async () => {
    expect((await run(['up', '--verbose'], { DUELOG_HTTP_PORT: 'abc' })).err).toContain('    at ')
    expect((await run(['up'], { DUELOG_HTTP_PORT: 'abc', DEBUG: '1' })).err).toContain('    at ')
  })
})
