import { execFileSync } from 'node:child_process'
import type { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { flagOf, settings } from '../../src/ground/config/settings.ts'
import { main, programOf } from '../../src/program/cli/program.ts'
import { FakeTerminal } from './fake-terminal.ts'

const ofSystem = settings.filter(({ client, secret }) => client !== true && secret !== true)
const secrets = settings.filter(({ secret }) => secret === true)

async function run(args: string[], env: Record<string, string> = {}) {
  const terminal = new FakeTerminal({ env })
  const code = await main(args, terminal)
  return { code, out: terminal.out.join(''), err: terminal.err.join('') }
}

describe('the command line', () => {
  it('has each setting of the system but secrets as a flag of up, and no other but --debug', () => {
    const up = programOf(new FakeTerminal(), () => {}).commands.find((command) => command.name() === 'up')
    const flags = up?.options.filter(({ hidden }) => !hidden).map(({ long }) => long)
    expect(flags?.sort()).toEqual([...ofSystem.map(flagOf), '--debug'].sort())
  })
  it('names in the help of up the environment variable and the default of each flag', async () => {
    const { out, code } = await run(['up', '--help'])
    expect(code).toBe(0)
    for (const { name } of ofSystem) expect(out).toContain(name)
    expect(out.replaceAll(/\s+/g, ' ')).toContain('[DUELOG_HTTP_PORT, default 8080]')
  })
  it('lists only what it can do', async () => {
    const { out, code } = await run(['--help'])
    expect(code).toBe(0)
    expect([...out.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => name)).toEqual([
      ...[
        'up',
        'demo',
        'jobs',
        'runs',
        'history',
        'handlers',
        'operations',
        'pools',
        'workers',
        'faults',
        'schedule',
        'topics',
        'schemas',
        'acls',
      ],
      ...['audit', 'backup', 'restore', 'reshard', 'unfence', 'carry', 'generate', 'bench', 'completion', 'help'],
    ])
  })
  it('loads no Kafka client and no server for a command over HTTP', () => {
    const program = JSON.stringify(new URL('../../src/program/cli/program.ts', import.meta.url))
    const script = `
      const { registerHooks } = await import('node:module')
      const loaded = []
      registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
      const { main } = await import(${program})
      await main(['jobs', 'list', '--url', 'http://127.0.0.1:1'])
      console.log(loaded.join('\\n'))`
    const args = ['--input-type=module', '-e', script]
    const loaded = execFileSync(process.execPath, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
    expect(loaded).toContain('/src/program/cli/program.ts')
    expect(loaded).toContain('/node_modules/commander/')
    expect(loaded).not.toMatch(/node_modules\/(kafkajs|fastify|rocksdb-native)\//)
  })
  it('prints the help of a command on stdout', async () => {
    const help = await run(['help', 'jobs'])
    expect(help).toMatchObject({ code: 0, err: '', out: expect.stringContaining('Usage: duelog jobs') })
    expect((await run(['help'])).out).toContain('Usage: duelog ')
    expect((await run(['jobs', '--help'])).out).toBe(help.out)
    const deep = await run(['help', 'jobs', 'apply'])
    expect(deep).toMatchObject({ code: 0, err: '', out: expect.stringContaining('Usage: duelog jobs apply ') })
    expect((await run(['jobs', 'apply', '--help'])).out).toBe(deep.out)
  })

  it('says which command does not exist, and which one was perhaps meant', async () => {
    const usage = (err: string) => ({ code: 2, out: '', err: `duelog: ${err}\n` })
    expect(await run(['help', 'jbos'])).toEqual(usage('duelog has no command "jbos". Did you mean jobs?'))
    expect(await run(['help', 'jobs', 'aply'])).toEqual(usage('duelog jobs has no command "aply". Did you mean apply?'))
    expect(await run(['help', 'jobs', 'get', 'x'])).toEqual(usage('duelog jobs get has no command "x".'))
    expect(await run(['help', 'complete'])).toMatchObject({ code: 2, out: '' })
  })
  it('prints its version', async () => {
    expect(await run(['--version'])).toMatchObject({ code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) })
  })
  it('shows the help on stderr and fails without a command', async () => {
    expect(await run([])).toMatchObject({ code: 2, out: '', err: expect.stringContaining('Usage: duelog') })
    expect(await run(['jobs'])).toMatchObject({ code: 2, out: '', err: expect.stringContaining('Usage: duelog jobs') })
  })
  it('refuses an unknown command', async () => {
    expect(await run(['upp'])).toMatchObject({ code: 2, err: "duelog: unknown command 'upp'\n(Did you mean up?)\n" })
  })
  it('names the commands of an unknown name that stand elsewhere', async () => {
    const unknown = (name: string, hint: string) => ({ code: 2, out: '', err: `duelog: unknown command '${name}'\n${hint}` })
    expect(await run(['why', 'report-7'])).toEqual(unknown('why', '(Did you mean jobs why?)\n'))
    expect(await run(['plan'])).toEqual(unknown('plan', '(Did you mean jobs plan or topics plan?)\n'))
    expect(await run(['jobs', 'redrive'])).toEqual(unknown('redrive', '(Did you mean runs redrive?)\n'))
    expect(await run(['list'])).toEqual(unknown('list', ''))
    expect(await run(['complete-me'])).toMatchObject({ code: 2, err: expect.not.stringContaining('complete\n') })
  })
  it('shows the usage below a wrong number of arguments', async () => {
    const usage = 'Usage: duelog runs logs [options] <run>\n'
    expect(await run(['runs', 'logs', 'import-7', '1'])).toMatchObject({
      code: 2,
      err: expect.stringMatching(/^duelog: too many .*\n/),
    })
    expect((await run(['runs', 'logs', 'import-7', '1'])).err).toContain(usage)
    expect((await run(['runs', 'logs'])).err).toBe(`duelog: missing required argument 'run'\n${usage}`)
  })
  it.each(secrets.filter(({ client }) => client !== true))(
    'refuses the secret $name as a flag, and says what to do instead',
    async ({ name }) => {
      const flag = flagOf({ name })
      for (const command of [['up'], ['topics', 'plan']]) {
        for (const given of [[`${flag}=hidden`], [flag, 'hidden'], [flag]]) {
          const { code, out, err } = await run([...command, ...given])
          expect({ code, out }).toEqual({ code: 2, out: '' })
          expect(err).toMatch(new RegExp(`^duelog: ${flag} is no flag: .*Set ${name} in the environment, .*${name}_FILE`))
          expect(err).not.toContain('hidden')
        }
      }
      expect((await run(['up', '--help'])).out).not.toContain(`${flag} `)
    },
  )
  it.each([
    ['jobs', 'list'],
    ['runs', 'list'],
    ['jobs', 'apply', '-'],
  ])('refuses a token as a flag of %s %s', async (...command) => {
    const { code, err } = await run([...command, '--token', 'hidden'])
    expect(code).toBe(2)
    expect(err).toMatch(/--token is no flag: .*Set DUELOG_TOKEN .*DUELOG_TOKEN_FILE/)
    expect(err).not.toContain('hidden')
  })
  it('repeats no value of an unknown flag, and no password in an address', async () => {
    expect((await run(['up', '--api-tokenz=hidden'])).err).toMatch(/^duelog: unknown option '--api-tokenz'/)
    const { code, err } = await run(['jobs', 'list', '--url', 'http://me:hidden@127.0.0.1:1'])
    expect(code).toBe(2)
    expect(err).not.toContain('hidden')
    expect((await run(['jobs', 'list'], { DUELOG_TOKEN_FILE: '/nowhere/token' })).err).toMatch(
      /DUELOG_TOKEN_FILE .*cannot be read/,
    )
  })
  it('refuses an unknown flag and names the nearest', async () => {
    expect(await run(['up', '--htp-port', '1'])).toMatchObject({ code: 2, err: expect.stringContaining('--http-port') })
  })
  it('refuses a bad number for the demo', async () => {
    expect(await run(['demo', '--seconds', '0'])).toMatchObject({ code: 2, err: expect.stringContaining('from 1 to 3600') })
  })
})

describe('the help of every command', () => {
  const leaves = (command: Command): Command[] =>
    command.commands.length === 0 ? [command] : command.commands.flatMap((child) => leaves(child as Command))
  const all = leaves(programOf(new FakeTerminal(), () => {})).filter((command) => command.name() !== 'complete')
  const pathOf = (command: Command): string[] => (command.parent === null ? [] : [...pathOf(command.parent), command.name()])

  it.each(all.map((command) => [pathOf(command).join(' '), command] as const))(
    'duelog %s has examples that it understands',
    async (path, command) => {
      const { out, code } = await run([...path.split(' '), '--help'])
      expect(code).toBe(0)
      expect(out).toMatch(/^Usage: duelog /)
      const examples = /\nExamples:\n([\s\S]+)$/.exec(out)?.[1]?.trimEnd().split('\n') ?? []
      expect(examples.length).toBeGreaterThan(0)
      const known = command.options.flatMap(({ long }) => long ?? [])
      for (const example of examples) {
        expect(example).toContain(`duelog ${path}`)
        expect(known).toEqual(expect.arrayContaining(example.match(/(?<= )--[a-z-]+/g) ?? []))
      }
    },
  )
})

describe('a Duelog that is unreachable', () => {
  it('is reported in one sentence, with its own exit code', async () => {
    expect(await run(['jobs', 'list', '--url', 'http://127.0.0.1:9'])).toEqual({
      code: 3,
      out: '',
      err: expect.stringMatching(/^duelog: Cannot reach Duelog at http:\/\/127\.0\.0\.1:9 \([^\n]+\)\. Start it with [^\n]+\n$/),
    })
  })
  it('is looked for at the port that the environment gives to a Duelog of this machine', async () => {
    const err = expect.stringContaining('Cannot reach Duelog at http://127.0.0.1:9 ')
    expect(await run(['jobs', 'list'], { DUELOG_HTTP_PORT: '9' })).toMatchObject({ code: 3, err })
    const other = { DUELOG_HTTP_PORT: '7', DUELOG_URL: 'http://127.0.0.1:9' }
    expect(await run(['jobs', 'list'], other)).toMatchObject({ code: 3, err })
  })
  it.each(['ftp://127.0.0.1', 'nowhere', 'http://user:secret@127.0.0.1'])('%s is no address', async (url) => {
    expect(await run(['jobs', 'list'], { DUELOG_URL: url })).toMatchObject({
      code: 2,
      err: expect.stringMatching(/^duelog: DUELOG_URL is /),
    })
  })
})

describe('a setting that is wrong', () => {
  it('ends the start with one sentence on stderr and exit code 1', async () => {
    const { code, out, err } = await run(['up'], { DUELOG_HTTP_PORT: 'abc' })
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toMatch(/^duelog: DUELOG_HTTP_PORT .*"abc".*\n$/)
  })
  it('is refused in the same way as a flag, which overrides the environment', async () => {
    const { code, err } = await run(['up', '--http-port', '99999'], { DUELOG_HTTP_PORT: '8080' })
    expect(code).toBe(1)
    expect(err).toContain('"99999"')
  })
  it('shows a stack with --debug or DEBUG', async () => {
    expect((await run(['up', '--debug'], { DUELOG_HTTP_PORT: 'abc' })).err).toContain('    at ')
    expect((await run(['up'], { DUELOG_HTTP_PORT: 'abc', DEBUG: '1' })).err).toContain('    at ')
  })
})
