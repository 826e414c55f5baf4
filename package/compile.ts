/** Compiles the program to JavaScript and declarations, as they are in the packages. */
import { spawnSync } from 'node:child_process'
import { glob, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

/** Root of the repository, with a slash at the end. */
export const root = fileURLToPath(new URL('..', import.meta.url))

/** The dashboard of a clone is built into the same folder as the package, and a running clone may serve it. */
const kept = 'dashboard'

/** Replaces the folder, which is relative to the root, except the dashboard in it. Exits with status 1 if the program has type errors. */
export async function compileTo(folder: string): Promise<void> {
  for (const name of await readdir(`${root}${folder}`).catch(() => []))
    if (name !== kept) await rm(`${root}${folder}/${name}`, { recursive: true })
  const compiler = ['node_modules/typescript/bin/tsc', '-p', 'package', '--outDir', folder]
  const { status } = spawnSync(process.execPath, compiler, { cwd: root, stdio: 'inherit' })
  if (status !== 0) process.exit(1)

  // The compiler rewrites the imports of modules, but not those of declarations.
  for await (const declaration of glob(`${folder}/**/*.d.ts`, { cwd: root })) {
    const text = await readFile(`${root}${declaration}`, 'utf8')
    await writeFile(`${root}${declaration}`, text.replace(/((?:from|import)\s*\(?\s*['"]\.{1,2}\/[^'"]+)\.ts(['"])/g, '$1.js$2'))
  }
}
