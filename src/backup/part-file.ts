/** The file that a backup writes before it has its name. */
import { stat } from 'node:fs/promises'
import { DuelogError } from '../errors/index.ts'

export const partOf = (path: string): string => `${path}.part`

/** Throws DuelogError `bad-usage` if there is such a file, or one that another backup writes, or that a killed one has left. */
export async function checkFree(path: string): Promise<void> {
  if (await stat(path).catch(() => undefined))
    throw new DuelogError('bad-usage', `The file ${path} exists; name another, or remove it.`)
  if (await stat(partOf(path)).catch(() => undefined))
    throw new DuelogError(
      'bad-usage',
      `The file ${partOf(path)} exists: another backup writes it, or was killed. If none runs, remove it and the folders .duelog-backup-* beside it.`,
    )
}
