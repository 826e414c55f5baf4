/**
 * The order in which test files start. Files that take long come first, because a long file that starts last runs alone at the end. Of
 * those, files that wait and files that compute alternate, so that the cores have work while some files wait. By itself vitest starts large
 * files first, whatever they do.
 */
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { computing, waiting } from './file-lists.ts'

const rankOf = (moduleId: string, places: readonly string[]): number => {
  const rank = places.findIndex((place) => new RegExp(`/test/${place}\\.test\\.ts$`).test(moduleId))
  return rank === -1 ? places.length : rank
}

/** One of each in turn, and then what is left of the longer list. */
const alternately = <Item>(one: readonly Item[], other: readonly Item[]): Item[] =>
  Array.from({ length: Math.max(one.length, other.length) }, (_, at) => [
    ...one.slice(at, at + 1),
    ...other.slice(at, at + 1),
  ]).flat()

export class FileOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const by = (places: readonly string[]) => (one: TestSpecification, other: TestSpecification) =>
      rankOf(one.moduleId, places) - rankOf(other.moduleId, places)
    // A process that files share ends before a file that has its own.
    const alone = sorted.filter(({ project }) => project.config.isolate).toSorted(by(computing))
    const shared = sorted.filter(({ project }) => !project.config.isolate)
    const waits = ({ moduleId }: TestSpecification): boolean => rankOf(moduleId, waiting) < waiting.length
    const idle = shared.filter(waits).toSorted(by(waiting))
    const busy = shared.filter((file) => !waits(file)).toSorted(by(computing))
    return [...alone, ...alternately(idle, busy)]
  }
}
