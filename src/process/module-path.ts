/** Where a module of this program lies that is run as a process of its own. */
import { fileURLToPath } from 'node:url'

/** Path of the module that `reference`, without an ending, names from the module `from`: TypeScript in the repository, JavaScript when built. */
export function modulePath(reference: string, from: string): string {
  return fileURLToPath(new URL(`${reference}${from.endsWith('.ts') ? '.ts' : '.js'}`, from))
}
