/**
 * While a package is packed, package.json names what is built in place of its source: `npm pack` and `npm publish` call this before
 * (`built`) and after (`source`). npm has no setting for it.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const manifest = fileURLToPath(new URL('../package.json', import.meta.url))
/** The manifest of the repository, while another one has its place. Left over by a pack that was cut off, it is put back first. */
const kept = fileURLToPath(new URL('source-package.json', import.meta.url))

interface Manifest {
  bin: Record<string, string>
  exports: Record<string, string | { types: string; default: string }>
  scripts?: Record<string, string>
  devDependencies?: Record<string, string>
  [field: string]: unknown
}

if (existsSync(kept)) renameSync(kept, manifest)
if (process.argv[2] === 'built') {
  const source = readFileSync(manifest, 'utf8')
  writeFileSync(kept, source)
  writeFileSync(manifest, `${JSON.stringify(builtManifest(JSON.parse(source) as Manifest), null, 2)}\n`)
}

export function builtManifest({ scripts: _, devDependencies: __, ...source }: Manifest): Manifest {
  const place = (path: string, ending: string): string => path.replace(/^\.?\/?/, './dist/').replace(/\.ts$/, ending)
  return {
    ...source,
    bin: Object.fromEntries(Object.entries(source.bin).map(([name, path]) => [name, place(path, '.js').slice(2)])),
    exports: Object.fromEntries(
      Object.entries(source.exports).map(([name, path]) => {
        const isModule = typeof path === 'string' && path.endsWith('.ts')
        return [name, isModule ? { types: place(path, '.d.ts'), default: place(path, '.js') } : path]
      }),
    ),
  }
}
