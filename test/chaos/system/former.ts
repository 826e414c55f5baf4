/** The code of another version, taken from git into a folder of the drill. It uses the installed packages of this version. */
import { execFile, spawn } from 'node:child_process'
import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ownCode } from './duelog.ts'

const run = promisify(execFile)

/** Resolves with the root folder of the code. Rejects if git has no such version, or if the version needs other packages. */
export async function formerVersion(ref: string, folder: string): Promise<string> {
  const root = join(folder, 'former')
  await mkdir(root)
  const show = async (of: string): Promise<string> => (await run('git', ['show', `${of}:package.json`], { cwd: ownCode })).stdout
  const [before, now] = await Promise.all([show(ref), show('HEAD')])
  const packages = (text: string): string => JSON.stringify((JSON.parse(text) as { dependencies: object }).dependencies)
  if (packages(before) !== packages(now)) throw new Error(`${ref} needs other packages than this version; name a later one.`)
  await new Promise<void>((resolve, reject) => {
    const archive = spawn('git', ['archive', ref], { cwd: ownCode, stdio: ['ignore', 'pipe', 'inherit'] })
    const unpack = spawn('tar', ['-x', '-C', root], { stdio: [archive.stdout, 'ignore', 'inherit'] })
    for (const child of [archive, unpack]) child.once('error', reject)
    unpack.once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`${ref} could not be unpacked.`))))
  })
  await symlink(join(ownCode, 'node_modules'), join(root, 'node_modules'))
  return root
}
