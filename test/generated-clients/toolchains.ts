/** Makes a client of a description with openapi-generator and builds a program on it, as its users do in each language. */
import { execFile } from 'node:child_process'
import { copyFile, mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { duelogEnvironment } from '../setup/environment.ts'

const here = fileURLToPath(new URL('.', import.meta.url))
const typescript = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url))
const exec = promisify(execFile)
const stepMsMax = 240_000
/** A JVM that lives for seconds gains nothing from compiling well. */
const quickJvm = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-XX:-UsePerfData']

export type Language = 'python' | 'go' | 'java' | 'typescript'

/** How the built program is started; its arguments follow. */
export interface Program {
  command: string
  args: string[]
}

/** What it printed. Rejects with what it said, and with what to install where it is not there. */
export async function run(command: string, args: readonly string[], cwd?: string): Promise<string> {
  const options = {
    cwd,
    timeout: stepMsMax,
    maxBuffer: 2 ** 24,
    env: { ...duelogEnvironment(), GOFLAGS: '-mod=mod', LC_ALL: 'C.UTF-8' },
  }
  const { stdout } = await exec(command, args, options).catch(
    (error: NodeJS.ErrnoException & { stdout?: string; stderr?: string }) => {
      if (error.code === 'ENOENT')
        throw new Error(`Generated clients cannot be tested: there is no \`${command}\` on the PATH. Install ${needed[command]}.`)
      throw new Error(`${command} ${args.join(' ')} failed:\n${error.stdout ?? ''}${error.stderr || error.message}`)
    },
  )
  return stdout
}

const needed: Record<string, string> = {
  mvn: 'Maven',
  java: 'a JDK of version 17 or later',
  javac: 'a JDK of version 17 or later',
  go: 'Go 1.23 or later',
  python3: 'Python 3.9 or later with its venv module',
}

/** Brings the generator and the jars of the Java client into the folder, from Maven's own cache where it has them. */
export async function fetchJars(folder: string): Promise<void> {
  await mkdir(folder)
  const pom = join(here, 'java.pom.xml')
  await run('mvn', ['-B', '-q', '--strict-checksums', '-f', pom, 'process-resources', `-Dduelog.target=${folder}`])
}

const generators: Record<Language, { name: string; options: string[] }> = {
  python: { name: 'python', options: [] },
  go: { name: 'go', options: ['--git-host=example.org', '--git-user-id=duelog', '--git-repo-id=client'] },
  java: { name: 'java', options: [] },
  typescript: { name: 'typescript-fetch', options: [] },
}

async function generate(language: Language, document: string, jars: string, into: string): Promise<void> {
  const generator = (await readdir(jars)).find((name) => name.startsWith('openapi-generator-cli-'))
  const { name, options } = generators[language]
  const bare = 'apiTests=false,modelTests=false,apiDocs=false,modelDocs=false'
  const args = [...quickJvm, '-jar', join(jars, String(generator)), 'generate', '-g', name, '-i', document, '-o', into]
  await run('java', [...args, '--global-property', bare, ...options])
}

/** The folder is empty; jars are those of fetchJars. */
export async function buildClient(language: Language, document: string, jars: string, folder: string): Promise<Program> {
  await mkdir(folder)
  await generate(language, document, jars, join(folder, 'client'))
  return builders[language](folder, jars)
}

const roundTrip = (name: string): string => join(here, 'round-trips', name)

const builders: Record<Language, (folder: string, jars: string) => Promise<Program>> = {
  async python(folder) {
    const python = join(folder, 'venv', 'bin', 'python')
    await run('python3', ['-m', 'venv', join(folder, 'venv')])
    await run(python, ['-m', 'pip', 'install', '--quiet', '--requirement', join(folder, 'client', 'requirements.txt')])
    await run(python, ['-m', 'compileall', '-q', join(folder, 'client', 'openapi_client')])
    await copyFile(roundTrip('python.py'), join(folder, 'client', 'round_trip.py'))
    return { command: python, args: [join(folder, 'client', 'round_trip.py')] }
  },
  async go(folder) {
    const client = join(folder, 'client')
    await mkdir(join(client, 'round-trip'))
    await copyFile(roundTrip('go.go'), join(client, 'round-trip', 'main.go'))
    await run('go', ['build', '-o', join(folder, 'round-trip'), './round-trip'], client)
    return { command: join(folder, 'round-trip'), args: [] }
  },
  async java(folder, jars) {
    const libraries = (await readdir(jars)).filter((name) => !name.startsWith('openapi-generator-cli-'))
    const classes = join(folder, 'classes')
    const path = [classes, ...libraries.map((name) => join(jars, name))].join(':')
    const sources = join(folder, 'client', 'src', 'main', 'java')
    const files = (await readdir(sources, { recursive: true })).filter((name) => name.endsWith('.java'))
    await writeFile(join(folder, 'sources'), [...files.map((name) => join(sources, name)), roundTrip('java.java')].join('\n'))
    await mkdir(classes)
    const quiet = ['-nowarn', '-proc:none', ...quickJvm.map((flag) => `-J${flag}`)]
    await run('javac', [...quiet, '-encoding', 'UTF-8', '-d', classes, '-cp', path, `@${join(folder, 'sources')}`])
    return { command: 'java', args: [...quickJvm, '-cp', path, 'RoundTrip'] }
  },
  async typescript(folder) {
    await copyFile(roundTrip('typescript.ts'), join(folder, 'round-trip.ts'))
    await writeFile(join(folder, 'package.json'), '{ "type": "commonjs" }')
    const types = ['--types', 'node', '--typeRoots', fileURLToPath(new URL('../../node_modules/@types', import.meta.url))]
    const target = ['--target', 'es2022', '--module', 'nodenext', '--lib', 'es2022,dom', '--outDir', join(folder, 'built')]
    await run(
      process.execPath,
      [typescript, '--strict', '--skipLibCheck', ...types, ...target, join(folder, 'round-trip.ts')],
      folder,
    )
    await writeFile(join(folder, 'built', 'package.json'), '{ "type": "commonjs" }')
    return { command: process.execPath, args: [join(folder, 'built', 'round-trip.js')] }
  },
}
