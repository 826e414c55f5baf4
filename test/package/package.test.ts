/** The package as npm makes it, in a project of somebody else: what Node runs below node_modules, and what the compiler sees of it. */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import pkg from '../../package.json' with { type: 'json' }
import { duelogEnvironment } from '../setup/environment.ts'
import { modules, packed } from '../setup/packed.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
let folder = ''
let copy = ''
let tarball = ''
let clientTarball = ''

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'duelog-package-'))
  ;({ copy, tarball } = await packed())
  execFileSync(process.execPath, ['package/client-package.ts'], { cwd: copy, env: duelogEnvironment(), stdio: 'pipe' })
  const pack = ['pack', './dist-client', '--silent', '--pack-destination', folder]
  execFileSync('npm', pack, { cwd: copy, env: duelogEnvironment(), stdio: 'pipe' })
  clientTarball = join(folder, (await readdir(folder)).find((name) => name.startsWith('duelog-client-')) ?? '')
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** A project that has installed the package under this name, with these of its dependencies. */
async function project(name: string, dependencies: readonly string[], pack = tarball, as = 'duelog'): Promise<string> {
  const place = join(folder, name)
  const own = join(place, 'node_modules', as)
  await mkdir(own, { recursive: true })
  execFileSync('tar', ['-xzf', pack, '-C', own, '--strip-components=1'])
  for (const dependency of dependencies) {
    const link = join(place, 'node_modules', dependency)
    await mkdir(dirname(link), { recursive: true })
    await symlink(join(modules, dependency), link)
  }
  await writeFile(join(place, 'package.json'), '{ "type": "module" }')
  return place
}

/** What the compiler says about consumer.ts in a strict project there. */
async function compiled(place: string): Promise<string> {
  await writeFile(join(place, 'program.ts'), await readFile(new URL('consumer.ts', import.meta.url)))
  const compilerOptions = {
    module: 'nodenext',
    target: 'es2022',
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    skipLibCheck: false,
    types: [],
  }
  await writeFile(join(place, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['program.ts'] }))
  return spawnSync(process.execPath, [join(modules, 'typescript/bin/tsc'), '-p', place], { encoding: 'utf8' }).stdout
}

const everything = Object.keys(pkg.dependencies)
const clientNeeds = ['kafkajs', '@kafkajs/confluent-schema-registry', 'avsc', 'croner']

describe('the package', () => {
  it('compiles in a strict project, and checks payloads by handler', async () => {
    const place = await project('typed', everything)
    expect(await compiled(place)).toBe('')
  })

  it('has the dashboard, built anew, and nothing that lay in dist before; the clone keeps its own', async () => {
    const listed = execFileSync('tar', ['-tzf', tarball], { encoding: 'utf8' }).split('\n')
    expect(listed).toContain('package/dist/dashboard/index.html')
    expect(listed.filter((path) => /dashboard\/assets\/.*\.(js|css)$/.test(path)).length).toBeGreaterThan(1)
    expect(listed.filter((path) => path.includes('left-over'))).toEqual([])
    expect(await readdir(join(copy, 'dist/dashboard'))).toContain('index.html')
    expect(await readFile(join(copy, 'package.json'), 'utf8')).toBe(await readFile(join(root, 'package.json'), 'utf8'))
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
      expect(() => execFileSync(process.execPath, [join(place, 'other.mjs')], { stdio: 'pipe' })).toThrow(
        /Cannot find package '(pino|@opentelemetry\/api)'/,
      )
    }
  })

  it('gives a worker that needs neither the store nor the server nor the command line', async () => {
    const place = await project('worker', [...clientNeeds, '@opentelemetry/api', 'pino', 'prom-client'])
    const program = `import { createWorker } from 'duelog/worker'; console.log(typeof createWorker({ brokers: 'b:1', handlers: {} }).start)`
    await writeFile(join(place, 'program.mjs'), program)
    expect(execFileSync(process.execPath, [join(place, 'program.mjs')], { encoding: 'utf8' })).toBe('function\n')
  })

  it('gives a program that runs as a whole, with processes of its own', async () => {
    const place = await project('whole', everything)
    const program = join(place, 'node_modules/duelog', 'dist/src/program/cli/duelog.js')
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
        if (told.includes('A child process is ready.') && /"msg":"ready"/.test(told)) break
      }
      expect(told).toContain('A child process is ready.')
      // Child processes have addresses of their own.
      const url = told.match(/"url":"(http:[^"]+)"[^\n]*"msg":"ready"/)?.[1] ?? ''
      const page = await (await fetch(`${url}/`, { headers: { accept: 'text/html' } })).text()
      const script = page.match(/src="(\/assets\/[^"]+\.js)"/)?.[1] ?? ''
      expect((await fetch(`${url}${script}`)).headers.get('content-type')).toContain('javascript')
      child.kill('SIGTERM')
      expect(await closed).toEqual([0, null])
    } finally {
      child.kill('SIGKILL')
    }
  })
})

/** What an installation of these packages takes on the disk, by the packages that they need in turn, in bytes. */
async function installedBytes(names: readonly string[]): Promise<number> {
  const lock = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dependencies?: Record<string, string> }>
  }
  const places = new Set<string>()
  const add = (name: string, from: string): void => {
    // As Node looks for it: in the package that needs it, and then in each folder above.
    for (let above = from; ; above = above.slice(0, Math.max(0, above.lastIndexOf('node_modules/') - 1))) {
      const place = `${above === '' ? '' : `${above}/`}node_modules/${name}`
      const entry = lock.packages[place]
      if (entry === undefined && above !== '') continue
      if (entry === undefined || places.has(place)) return
      places.add(place)
      for (const needed of Object.keys(entry.dependencies ?? {})) add(needed, place)
      return
    }
  }
  for (const name of names) add(name, '')
  let bytes = 0
  for (const place of places)
    for (const entry of await readdir(join(root, place), { recursive: true, withFileTypes: true })) {
      const isNested = entry.parentPath.slice(join(root, place).length).includes('node_modules')
      if (entry.isFile() && !isNested) bytes += (await stat(join(entry.parentPath, entry.name))).size
    }
  return bytes
}

describe('the package of the client', () => {
  const needs = async (place: string, as: string): Promise<string[]> => {
    const manifest = JSON.parse(await readFile(join(place, 'node_modules', as, 'package.json'), 'utf8')) as typeof pkg
    return Object.keys(manifest.dependencies)
  }

  it('needs neither the store nor the server, and takes at most 60 MB', async () => {
    const place = await project('light', [], clientTarball, 'duelog-client')
    const names = await needs(place, 'duelog-client')
    for (const name of ['rocksdb-native', 'fastify', 'jose', 'commander']) expect(names).not.toContain(name)
    const own = await readdir(join(place, 'node_modules'), { recursive: true, withFileTypes: true })
    const sizes = await Promise.all(
      own.map(async (entry) => (entry.isFile() ? (await stat(join(entry.parentPath, entry.name))).size : 0)),
    )
    const bytes = sizes.reduce((sum, size) => sum + size, await installedBytes(names))
    expect(bytes).toBeGreaterThan(5_000_000)
    expect(bytes).toBeLessThan(60_000_000)
  })

  it('compiles in a strict project, also under the name of the whole package', async () => {
    const place = await project('light-typed', [], clientTarball, 'duelog')
    for (const name of await needs(place, 'duelog')) {
      const link = join(place, 'node_modules', name)
      await mkdir(dirname(link), { recursive: true })
      await symlink(join(modules, name), link)
    }
    expect(await compiled(place)).toBe('')
  })

  it('gives a client that schedules on a real broker, and a worker', async () => {
    const place = await project(
      'light-client',
      [...clientNeeds, '@opentelemetry/api', 'pino', 'prom-client'],
      clientTarball,
      'duelog-client',
    )
    const cluster = { brokers: process.env.DUELOG_TEST_BROKERS, registryUrl: process.env.DUELOG_TEST_REGISTRY }
    const options = { ...cluster, topicPrefix: `package-light-${process.pid}-${Date.now()}.` }
    const program = `
      import { createWorker } from 'duelog-client'
      import { createClient, DuelogError } from 'duelog-client/client'
      const client = createClient(${JSON.stringify(options)})
      const job = { id: 'a', schedule: { everyMs: 60000 }, target: { handler: 'noop' } }
      const error = await client.schedule(job).catch((thrown) => thrown)
      console.log(error instanceof DuelogError, error.code)
      await client.close()
      const worker = createWorker({ ...${JSON.stringify(options)}, handlers: {} })
      console.log(await worker.start().then(() => 'started', (thrown) => thrown.code))
      await worker.close()`
    await writeFile(join(place, 'program.mjs'), program)
    const said = execFileSync(process.execPath, [join(place, 'program.mjs')], { encoding: 'utf8', env: duelogEnvironment() })
    // The worker logs to standard output too.
    expect(said.split('\n').filter((line) => !line.startsWith('{'))).toEqual(['true unsafe-topic', 'unsafe-topic', ''])
  })

  it('gives tests in virtual time, without a broker and the store, with two packages that programs do not need', async () => {
    const needed = [...clientNeeds, '@opentelemetry/api', 'pino', 'prom-client']
    const bare = await project('light-bare', needed, clientTarball, 'duelog-client')
    const refused = `
      import { fakeRun, testSystem } from 'duelog-client/testing'
      const error = await testSystem({ handlers: {} }).get('a').catch((thrown) => thrown)
      console.log(fakeRun('Bob').payload, error.code, error.message.includes('npm install --save-dev fastify ajv'))`
    await writeFile(join(bare, 'program.mjs'), refused)
    expect(execFileSync(process.execPath, [join(bare, 'program.mjs')], { encoding: 'utf8', env: duelogEnvironment() })).toBe(
      'Bob bad-config true\n',
    )
    const place = await project('light-testing', [...needed, 'fastify', 'ajv'], clientTarball, 'duelog-client')
    const program = `
      import { fakeRun, testSystem } from 'duelog-client/testing'
      const duelog = testSystem({ handlers: { greet: ({ payload }) => 'hello ' + payload } })
      await duelog.schedule({ id: 'a', schedule: { delayMs: 3600000 }, target: { handler: 'greet' }, payload: 'Ada' })
      await duelog.advanceBy(3600000)
      console.log((await duelog.run('a', 1)).result, fakeRun('Bob').payload)`
    await writeFile(join(place, 'program.mjs'), program)
    const said = execFileSync(process.execPath, [join(place, 'program.mjs')], { encoding: 'utf8', env: duelogEnvironment() })
    expect(said).toBe('hello Ada Bob\n')
  })
})
