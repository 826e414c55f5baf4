/** The package as `npm pack` makes it, for tests that install it as users do. */
import { execFileSync } from 'node:child_process'
import { chmod, cp, mkdir, readdir, rm, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pkg from '../../package.json' with { type: 'json' }
import { duelogEnvironment } from './environment.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
export const modules = join(root, 'node_modules')
const folders = ['schemas', 'streams', 'src', 'bench', 'examples', 'package']
const files = ['package.json', 'tsconfig.json', 'vite.config.ts', 'README.md', 'CHANGELOG.md', 'LICENSE']

/** Packs a copy into the folder: the manifest changes meanwhile, and other tests read it. Resolves with the path of the tarball. */
export async function packInto(folder: string): Promise<string> {
  const copy = join(folder, 'packed-copy')
  await Promise.all([...folders, ...files].map((part) => cp(join(root, part), join(copy, part), { recursive: true })))
  await symlink(modules, join(copy, 'node_modules'))
  execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: copy, env: duelogEnvironment(), stdio: 'pipe' })
  await rm(copy, { recursive: true })
  const name = (await readdir(folder)).find((entry) => entry.endsWith('.tgz'))
  if (name === undefined) throw new Error(`npm pack left no tarball in ${folder}.`)
  return join(folder, name)
}

/** Makes node_modules in the folder as npm would, without a registry: the package is unpacked, its dependencies are ours. */
export async function unpackInto(folder: string, tarball: string): Promise<void> {
  const own = join(folder, 'node_modules/duelog')
  await mkdir(own, { recursive: true })
  execFileSync('tar', ['-xzf', tarball, '-C', own, '--strip-components=1'])
  await mkdir(join(folder, 'node_modules/.bin'))
  const program = join(own, 'dist/src/cli/duelog.js')
  await chmod(program, 0o755)
  await symlink(program, join(folder, 'node_modules/.bin/duelog'))
  for (const name of [...Object.keys(pkg.dependencies), 'zod', 'typescript', 'vitest']) {
    const link = join(folder, 'node_modules', name)
    await mkdir(dirname(link), { recursive: true })
    await symlink(join(modules, name), link)
  }
}
