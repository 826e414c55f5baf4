/**
 * Makes dist, what a package of Duelog consists of: Node reads no TypeScript below node_modules, so there it has to be JavaScript beside
 * declarations. In the repository everything runs from its source, and nothing looks at dist.
 */
import { spawnSync } from 'node:child_process'
import { cp, glob, readFile, rm, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/** What the program reads beside its modules, at the same places; and the schemas, for those who write records without it. */
const assets = ['src/**/*.{sh,xml}', 'schemas/*.avsc', 'examples/kubernetes-ci-periodics.ndjson']

await rm(`${root}dist`, { recursive: true, force: true })
const { status } = spawnSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'package'], {
  cwd: root,
  stdio: 'inherit',
})
if (status !== 0) process.exit(1)
for await (const asset of glob(assets, { cwd: root })) await cp(`${root}${asset}`, `${root}dist/${asset}`)

// The compiler rewrites imports in modules, but not in declarations.
for await (const declaration of glob('dist/**/*.d.ts', { cwd: root })) {
  const text = await readFile(`${root}${declaration}`, 'utf8')
  await writeFile(`${root}${declaration}`, text.replace(/((?:from|import)\s*\(?\s*['"]\.{1,2}\/[^'"]+)\.ts(['"])/g, '$1.js$2'))
}
