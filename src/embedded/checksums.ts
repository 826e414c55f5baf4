/** The SHA-256 of each jar that the embedded broker and registry run, as `sha256sum` lists them in the files beside this one. */
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DuelogError } from '../errors/index.ts'

/** Folder of the lists of this version. */
export const jarLists = fileURLToPath(new URL('.', import.meta.url))

/**
 * Checks that a folder has the jars of the list `<name>.sha256` and no other. Throws DuelogError `embedded-failed` that names the first file
 * which differs. Takes about 0.2 s for the broker and the registry together.
 */
export async function checkJars(name: string, folder: string, lists: string): Promise<void> {
  const listed = listOf(await readFile(join(lists, `${name}.sha256`), 'utf8'))
  const found = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith('.jar'))
  const fail = (file: string, what: string): never => {
    throw new DuelogError(
      'embedded-failed',
      `The jar ${join(folder, file)} ${what}, so nothing of it is run. Remove the folder ${folder}; the next start fetches it again. If it differs again, the source of your jars gives other files than their authors do.`,
    )
  }
  for (const file of found) if (!listed.has(file)) fail(file, 'does not belong to this version')
  for (const [file, hash] of listed) {
    if (!found.includes(file)) fail(file, 'is missing')
    if (hashOf(await readFile(join(folder, file))) !== hash) fail(file, 'has another SHA-256 than this version of Duelog knows')
  }
}

const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

/** Lines of `sha256sum`: the hash, two spaces, the path in the folder. */
function listOf(text: string): Map<string, string> {
  return new Map(
    text
      .trimEnd()
      .split('\n')
      .map((line) => [line.slice(66), line.slice(0, 64)]),
  )
}
