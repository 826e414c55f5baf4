/**
 * The order in which test files start: folders whose files wait longest come first. By itself vitest starts large files first. Then
 * the longest test, which is a short file, runs alone at the end while the other core has nothing to do.
 */
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const longFolders = ['chaos', 'dashboard', 'docker', 'docs', 'faults', 'examples', 'operations', 'system', 'package', 'demo']

const rankOf = ({ moduleId }: TestSpecification): number => {
  const [, folder = ''] = /\/test\/([^/]+)\//.exec(moduleId) ?? []
  const at = longFolders.indexOf(folder)
  return at === -1 ? longFolders.length : at
}

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.toSorted((one, other) => rankOf(one) - rankOf(other))
  }
}
