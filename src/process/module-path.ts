/** Paths of modules that run as child processes. */
import { fileURLToPath } from 'node:url'

/** Resolves `reference`, a path without extension, from the module `from`. The extension is .ts in the repository and .js in the package. */
export function modulePath(reference: string, from: string): string {
  return fileURLToPath(new URL(`${reference}${from.endsWith('.ts') ? '.ts' : '.js'}`, from))
}
