/** The package as npm makes it, in a project of somebody else: what Node runs below node_modules, and what the compiler sees of it. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import pkg from '../../package.json' with { type: 'json' }
import { duelogEnvironment } from '../setup/environment.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const modules = join(root, 'node_modules')
const parts = [
  'schemas',
  'streams',
  'src',
  'bench',
  'examples',
  'package',
  'package.json',
  'tsconfig.json',
  'README.md',
  'CHANGELOG.md',
]

let folder = ''
let tarball = ''

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'duelog-package-'))
  // Packed from a copy: the manifest changes while it goes on, and other tests read it.
  const copy = join(folder, 'copy')
  await Promise.all(parts.map((part) => cp(join(root, part), join(copy, part), { recursive: true })))
  await symlink(modules, join(copy, 'node_modules'))
  const before = await readFile(join(copy, 'package.json'), 'utf8')
  execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: copy, env: duelogEnvironment(), stdio: 'pipe' })
  expect(await readFile(join(copy, 'package.json'), 'utf8')).toBe(before)
  tarball = join(folder, (await readdir(folder)).find((name) => name.endsWith('.tgz')) ?? '')
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** A project that has installed the package, with these of its dependencies. */
async function project(name: string, dependencies: readonly string[]): Promise<string> {
  const place = join(folder, name)
  const own = join(place, 'node_modules', 'duelog')
  await mkdir(own, { recursive: true })
  execFileSync('tar', ['-xzf', tarball, '-C', own, '--strip-components=1'])
  for (const dependency of dependencies) {
    const link = join(place, 'node_modules', dependency)
    await mkdir(dirname(link), { recursive: true })
    await symlink(join(modules, dependency), link)
  }
  await writeFile(join(place, 'package.json'), '{ "type": "module" }')
  return place
}

const everything = Object.keys(pkg.dependencies)
const clientNeeds = ['kafkajs', '@kafkajs/confluent-schema-registry', 'avsc', 'croner']

describe('the package', () => {
  it('compiles in a strict project, and checks payloads by handler', async () => {
    const place = await project('typed', everything)
    await writeFile(join(place, 'program.ts'), await readFile(new URL('consumer.ts', import.meta.url)))
    const compilerOptions = { module: 'nodenext', target: 'es2022', strict: true, noEmit: true, skipLibCheck: false, types: [] }
    await writeFile(join(place, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['program.ts'] }))
    expect(execFileSync(process.execPath, [join(modules, 'typescript/bin/tsc'), '-p', place], { encoding: 'utf8' })).toBe('')
  })

  it('is taken by CommonJS as well, and by compilers that leave modules to a bundler', async () => {
    const place = await project('other', everything)
    const program =
      "const { createClient, createWorker } = require('duelog'); console.log(typeof createClient, typeof createWorker, Object.keys(require('duelog/client')).length, Object.keys(require('duelog/worker')).length)"
    await writeFile(join(place, 'program.cjs'), program)
    expect(execFileSync(process.execPath, ['program.cjs'], { cwd: place, encoding: 'utf8' })).toMatch(
      /^function function \d+ \d+\n$/,
    )
    await writeFile(join(place, 'program.cts'), await readFile(new URL('consumer.ts', import.meta.url)))
    await writeFile(join(place, 'program.ts'), await readFile(new URL('consumer.ts', import.meta.url)))
    const settings = { target: 'es2022', strict: true, noEmit: true, types: [] }
    for (const [module, moduleResolution, file] of [
      ['nodenext', 'nodenext', 'program.cts'],
      ['preserve', 'bundler', 'program.ts'],
    ]) {
      const compilerOptions = { ...settings, module, moduleResolution }
      await writeFile(join(place, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: [file] }))
      expect(execFileSync(process.execPath, [join(modules, 'typescript/bin/tsc'), '-p', place], { encoding: 'utf8' })).toBe('')
    }
  })

  it('gives a client that needs neither the store nor the server, which schedules on a real broker', async () => {
    const place = await project('client', clientNeeds)
    const cluster = { brokers: process.env.DUELOG_TEST_BROKERS, registryUrl: process.env.DUELOG_TEST_REGISTRY }
    const options = { ...cluster, topicPrefix: `package-${process.pid}-${Date.now()}.` }
    const program = `
      import { createClient, DuelogError } from 'duelog/client'
      const client = createClient(${JSON.stringify(options)})
      const job = { id: 'a', schedule: { everyMs: 60000 }, target: { handler: 'noop' } }
      // There are no topics: far enough to have loaded all that writing needs.
      const error = await client.schedule(job).catch((thrown) => thrown)
      console.log(error instanceof DuelogError, error.code)
      await client.close()`
    await writeFile(join(place, 'program.mjs'), program)
    const said = execFileSync(process.execPath, [join(place, 'program.mjs')], { encoding: 'utf8', env: duelogEnvironment() })
    expect(said).toBe('true unsafe-topic\n')
    for (const entry of ['duelog', 'duelog/worker']) {
      await writeFile(join(place, 'other.mjs'), `await import('${entry}')`)
      expect(() => execFileSync(process.execPath, [join(place, 'other.mjs')], { stdio: 'pipe' })).toThrow('pino')
    }
  })

  it('gives a worker that needs neither the store nor the server nor the command line', async () => {
    const place = await project('worker', [...clientNeeds, 'pino', 'prom-client'])
    const program = `import { createWorker } from 'duelog/worker'; console.log(typeof createWorker({ brokers: 'b:1', handlers: {} }).start)`
    await writeFile(join(place, 'program.mjs'), program)
    expect(execFileSync(process.execPath, [join(place, 'program.mjs')], { encoding: 'utf8' })).toBe('function\n')
  })

  it('gives a program that runs as a whole, with processes of its own', async () => {
    const place = await project('whole', everything)
    const program = join(place, 'node_modules/duelog', 'dist/src/cli/duelog.js')
    expect(execFileSync(process.execPath, [program, '--version'], { encoding: 'utf8' })).toBe(`${pkg.version}\n`)
    const settings = {
      KAFKA_BROKERS: process.env.DUELOG_TEST_BROKERS ?? '',
      SCHEMA_REGISTRY_URL: process.env.DUELOG_TEST_REGISTRY ?? '',
      DUELOG_TOPIC_PREFIX: `package-up-${process.pid}-${Date.now()}.`,
      DUELOG_DATA_DIR: join(place, 'data'),
      DUELOG_EXECUTOR_PROCESSES: '1',
    }
    const child = spawn(process.execPath, [program, 'up', '--http-port', '0', '--partitions', '1', '--replication', '1'], {
      env: duelogEnvironment(settings),
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const closed = once(child, 'close') as Promise<[number | null, string | null]>
    try {
      let told = ''
      for await (const piece of child.stdout) {
        told += piece
        if (told.includes('The executor process is ready.')) break
      }
      expect(told).toContain('The executor process is ready.')
      child.kill('SIGTERM')
      expect(await closed).toEqual([0, null])
    } finally {
      child.kill('SIGKILL')
    }
  })
})
