/**
 * Makes package.json name the built files instead of the source while npm packs the package. `npm pack` and `npm publish` run it
 * before (`built`) and after (`source`), because npm has no setting for this.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const manifest = fileURLToPath(new URL('../package.json', import.meta.url))
/** The manifest of the repository while package.json is replaced. If an interrupted pack left it here, it is put back first. */
const kept = fileURLToPath(new URL('source-package.json', import.meta.url))

interface Manifest {
  bin: Record<string, string>
  exports: Record<string, string | { types: string; default: string }>
  dependencies?: Record<string, string>
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
