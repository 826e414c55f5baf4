/**
 * Builds dist, the content of the npm package. Node runs no TypeScript below node_modules, so the package has JavaScript and
 * declarations, and the dashboard. In the repository everything runs from its source, and only the dashboard is read from dist.
 */
import { spawnSync } from 'node:child_process'
import { cp, glob } from 'node:fs/promises'
import { compileTo, root } from './compile.ts'

/**
 * The files that the program reads besides its modules, at the same paths, and the schemas, for programs that write records
 * without this package.
 */
const assets = ['src/**/*.{sh,xml,sha256}', 'schemas/*.avsc', 'examples/kubernetes-ci-periodics.ndjson']

await compileTo('dist')
for await (const asset of glob(assets, { cwd: root })) await cp(`${root}${asset}`, `${root}dist/${asset}`)

const { status } = spawnSync(process.execPath, ['node_modules/vite/bin/vite.js', 'build', '--logLevel', 'warn'], {
  cwd: root,
  stdio: 'inherit',
})
if (status !== 0) process.exit(1)
