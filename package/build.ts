/**
 * Builds dist, the content of the npm package. Node runs no TypeScript below node_modules, so the package has JavaScript and
 * declarations. In the repository everything runs from its source, and nothing reads dist.
 */
import { cp, glob } from 'node:fs/promises'
import { compileTo, root } from './compile.ts'

/**
 * The files that the program reads besides its modules, at the same paths, and the schemas, for programs that write records
 * without this package.
 */
const assets = ['src/**/*.{sh,xml}', 'schemas/*.avsc', 'examples/kubernetes-ci-periodics.ndjson']

await compileTo('dist')
for await (const asset of glob(assets, { cwd: root })) await cp(`${root}${asset}`, `${root}dist/${asset}`)
