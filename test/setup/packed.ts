/** The package as `npm pack` makes it, for tests that install it as users do. */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, cp, mkdir, mkdtemp, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pkg from '../../package.json' with { type: 'json' }
import { waitForFolder } from '../../src/program/embedded/folder-lock.ts'
import { duelogEnvironment } from './environment.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
export const modules = join(root, 'node_modules')
const folders = ['schemas', 'streams', 'src', 'bench', 'examples', 'package']
const files = ['package.json', 'tsconfig.json', 'vite.config.ts', 'README.md', 'CHANGELOG.md', 'LICENSE']

export interface Packed {
  /** The copy that was packed: the manifest changes meanwhile, and other tests read that of the clone. */
  copy: string
  tarball: string
}

/** The package, which the first test of a run packs, for all of them. */
export async function packed(): Promise<Packed> {
  // The folder of the run, from global.ts.
  const folder = process.env.DUELOG_TEST_PACKED ?? ''
  const lock = await waitForFolder(folder)
  try {
    const copy = join(folder, 'copy')
    const tarball = join(folder, `duelog-${pkg.version}.tgz`)
    if (!existsSync(tarball)) await pack(folder, copy)
    return { copy, tarball }
  } finally {
    await lock.release()
  }
}

async function pack(folder: string, copy: string): Promise<void> {
  await rm(copy, { recursive: true, force: true })
  await Promise.all([...folders, ...files].map((part) => cp(join(root, part), join(copy, part), { recursive: true })))
  await symlink(modules, join(copy, 'node_modules'))
  // A clone serves its dashboard while it packs, and has files of earlier packs.
  await mkdir(join(copy, 'dist/dashboard'), { recursive: true })
  await writeFile(join(copy, 'dist/left-over.js'), '')
  const making = await mkdtemp(join(folder, 'making-'))
  execFileSync('npm', ['pack', '--silent', '--pack-destination', making], { cwd: copy, env: duelogEnvironment(), stdio: 'pipe' })
  const name = (await readdir(making)).find((entry) => entry.endsWith('.tgz'))
  if (name === undefined) throw new Error(`npm pack left no tarball in ${making}.`)
  // Whole or not at all.
  await rename(join(making, name), join(folder, name))
}

/** A copy of the tarball in the folder, where `npm pack` would leave it. Resolves with its path. */
export async function packInto(folder: string): Promise<string> {
  const { tarball } = await packed()
  const own = join(folder, basename(tarball))
  await cp(tarball, own)
  return own
}

/** Makes node_modules in the folder as npm would, without a registry: the package is unpacked, its dependencies are ours. */
export async function unpackInto(folder: string, tarball: string): Promise<void> {
  const own = join(folder, 'node_modules/duelog')
  await mkdir(own, { recursive: true })
  execFileSync('tar', ['-xzf', tarball, '-C', own, '--strip-components=1'])
  await mkdir(join(folder, 'node_modules/.bin'))
  const program = join(own, 'dist/src/program/cli/duelog.js')
  await chmod(program, 0o755)
  await symlink(program, join(folder, 'node_modules/.bin/duelog'))
  for (const name of [...Object.keys(pkg.dependencies), 'zod', 'typescript', 'vitest']) {
    const link = join(folder, 'node_modules', name)
    await mkdir(dirname(link), { recursive: true })
    await symlink(join(modules, name), link)
  }
}
