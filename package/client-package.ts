/**
 * Builds dist-client, the npm package `duelog-client`: `createClient` and `createWorker` from the same source as in `duelog`,
 * without the server, its store and its command line. It holds the modules that the entries of the library reach, and depends on
 * the packages that these modules import (ADR 0076). `npm pack ./dist-client` and `npm publish ./dist-client` take the folder.
 */
import { copyFile, glob, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { compileTo, root } from './compile.ts'
import { builtManifest } from './manifest.ts'

const folder = `${root}dist-client`
const compiled = 'dist-client/dist'
const filesOf = (...names: string[]): string[] =>
  names.flatMap((name) => ['.js', '.d.ts'].map((end) => `${compiled}/src/${name}${end}`))
/** The declarations need the types of Node, which no module imports by this name. */
const typesOfNode = '@types/node'

/** What a module or declaration imports: statements begin a line, and only calls and types of `import()` are inside of one. */
const imports =
  /^(?:import|export)\s+(?:type\s+)?(?:[\w$]+\s*,?\s*)?(?:\{[^}]*\}|\*(?:\s+as\s+[\w$]+)?)?\s*from\s+['"]([^'"]+)['"]/gm
const effects = /^import\s+['"]([^'"]+)['"]/gm
const calls = /\b(?:import|require)\(\s*['"]([^'"]+)['"]\s*\)/g

/** `name` or `@scope/name` of a specifier; undefined for modules of Node. */
function packageOf(specifier: string): string | undefined {
  if (specifier.startsWith('node:')) return undefined
  const [first = '', second = ''] = specifier.split('/')
  return first.startsWith('@') ? `${first}/${second}` : first
}

/** The files that the given files reach, these included, and the packages that they import: `packages` for sure, `called` where they call for them. */
async function reachedFrom(files: readonly string[]) {
  const [reached, packages, called] = [new Set<string>(), new Set<string>(), new Set<string>()]
  const open = [...files]
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (reached.has(file)) continue
    reached.add(file)
    const text = await readFile(join(root, file), 'utf8')
    for (const form of [imports, effects, calls])
      for (const [, specifier = ''] of text.matchAll(form)) {
        if (specifier.startsWith('.')) {
          const target = join(dirname(file), specifier)
          open.push(file.endsWith('.d.ts') ? target.replace(/\.js$/, '.d.ts') : target)
        } else {
          const name = packageOf(specifier)
          if (name !== undefined) (form === calls ? called : packages).add(name)
        }
      }
  }
  return { files: reached, packages, called }
}

await rm(folder, { recursive: true, force: true })
await compileTo(compiled)
const program = await reachedFrom(filesOf('clients/library/index', 'clients/library/client', 'clients/library/worker'))
const needed = new Set([...program.packages, ...program.called, typesOfNode])
/** Tests run the API itself. Its packages are those of tests alone, so programs do not install them. */
const tests = await reachedFrom(filesOf('testing/library'))
const ofTests = [...tests.packages].filter((name) => !needed.has(name)).sort()
const files = new Set([...program.files, ...tests.files])
const unreached: string[] = []
for await (const file of glob(`${compiled}/**/*.{js,ts}`, { cwd: root })) if (!files.has(file)) unreached.push(file)
for (const file of unreached) await rm(`${root}${file}`)

const source = builtManifest(JSON.parse(await readFile(`${root}package.json`, 'utf8')))
const wanted = [...needed].sort()
const { name: _, bin: __, exports, files: ___, dependencies, allowScripts: ____, ...others } = source
const { peerDependencies, peerDependenciesMeta, ...rest } = others as typeof others &
  Record<'peerDependencies' | 'peerDependenciesMeta', object>
const missing = [...wanted, ...ofTests].filter((name) => dependencies?.[name] === undefined)
if (missing.length > 0) throw new Error(`${missing.join(', ')}: imported by the library, but no dependency in package.json.`)
const manifest = {
  name: 'duelog-client',
  ...rest,
  description: 'Client and worker of Duelog, the event-streaming job scheduler on Kafka.',
  exports,
  files: ['dist', 'CHANGELOG.md'],
  dependencies: Object.fromEntries(wanted.map((name) => [name, dependencies?.[name]])),
  peerDependencies: { ...peerDependencies, ...Object.fromEntries(ofTests.map((name) => [name, dependencies?.[name]])) },
  peerDependenciesMeta: { ...peerDependenciesMeta, ...Object.fromEntries(ofTests.map((name) => [name, { optional: true }])) },
}
await writeFile(`${folder}/package.json`, `${JSON.stringify(manifest, null, 2)}\n`)
await copyFile(`${root}package/client-readme.md`, `${folder}/README.md`)
for (const file of ['LICENSE', 'CHANGELOG.md']) await copyFile(`${root}${file}`, `${folder}/${file}`)
