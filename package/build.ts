/**
 * Builds dist, the content of the npm package. Node runs no TypeScript below node_modules, so the package has JavaScript and
 * declarations. In the repository everything runs from its source, and nothing reads dist.
 */
import { spawnSync } from 'node:child_process'
import { cp, glob, readFile, rm, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/**
 * The files that the program reads besides its modules, at the same paths, and the schemas, for programs that write records
 * without this package.
 */
const assets = ['src/**/*.{sh,xml}', 'schemas/*.avsc', 'examples/kubernetes-ci-periodics.ndjson']

await rm(`${root}dist`, { recursive: true, force: true })
const { status } = spawnSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'package'], {
  cwd: root,
  stdio: 'inherit',
})
if (status !== 0) process.exit(1)
for await (const asset of glob(assets, { cwd: root })) await cp(`${root}${asset}`, `${root}dist/${asset}`)

// The compiler rewrites the imports of modules, but not those of declarations.
for await (const declaration of glob('dist/**/*.d.ts', { cwd: root })) {
  const text = await readFile(`${root}${declaration}`, 'utf8')
  await writeFile(`${root}${declaration}`, text.replace(/((?:from|import)\s*\(?\s*['"]\.{1,2}\/[^'"]+)\.ts(['"])/g, '$1.js$2'))
}
