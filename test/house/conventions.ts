/** Conventions that no compiler checks. Each rule takes files and returns the places that break it. */
import { codeOf, type HouseFile, placesOf, withoutComments } from './tree.ts'

/** Largest file of the program, in lines. A longer file may have two jobs. */
export const linesMax = 300
/** The same for tests and benchmarks, whose cases are independent. */
export const testLinesMax = 500
/** Longest function, in lines. */
export const functionLinesMax = 70

/** Words that mark unfinished work, written so that the rule does not find itself. */
const unfinished = /\b(T[O]DO|F[I]XME|H[A]CK)\b/
const unfinishedTest = /\b(test|it|describe)\.(only|skip|todo|fails)\b/
const machinePath = /['"`](\/(work|root|tmp|home|Users|mnt|opt|var|etc)\b[^'"`]*)['"`]/
const registryHost = /[\w.-]*(npmjs|maven\.(org|apache\.org\/repo)|artifactory|nexus|jfrog|crates\.io|pypi)[\w.-]*/i

/** Places that mark unfinished work. */
export function unfinishedPlaces(files: readonly HouseFile[]): string[] {
  return files.flatMap(({ path, text }) => placesOf(path, text, unfinished))
}

/** Tests that do not run, and tests that prevent others from running. */
export function unfinishedTests(files: readonly HouseFile[]): string[] {
  return files
    .filter(({ path }) => path.startsWith('test/'))
    .flatMap(({ path, text }) => placesOf(path, codeOf(text), unfinishedTest))
}

/** Source files without a header comment. */
export function withoutHeader(files: readonly HouseFile[]): string[] {
  return files
    .filter(({ path }) => /^(src|streams)\//.test(path))
    .filter(({ text }) => !/^(#![^\n]*\n)?(\/\*\*|\/\/ )/.test(text))
    .map(({ path }) => path)
}

/** Paths of one machine in shipped code. Paths that a container or the system guarantees are exempt by name. */
export function machinePlaces(files: readonly HouseFile[], exempt: readonly RegExp[]): string[] {
  return files
    .filter(({ path }) => /^(src|streams|schemas)\//.test(path))
    .flatMap(({ path, text }) => placesOf(path, withoutComments(text), machinePath))
    .filter((place) => !exempt.some((pattern) => pattern.test(place)))
}

/**
 * Paths of routes that are written by hand, also in comments. They stand in the routes and the schemas of the API; calls are made of
 * these (src/ground/answers).
 */
export function handWrittenRoutes(files: readonly HouseFile[]): string[] {
  return files
    .filter(({ path }) => path.startsWith('src/') && !/^src\/(server\/api\/(routes|schemas)|ground\/answers)\//.test(path))
    .flatMap(({ path, text }) => placesOf(path, text, /(?<!\/internal)\/v1\/[a-z]+/))
}

/** Names of package registries: the user who installs chooses the registry. */
export function registryPlaces(files: readonly HouseFile[]): string[] {
  return files.flatMap(({ path, text }) => placesOf(path, text, registryHost))
}

/** Places that cite a document outside the repository; decisions are in docs/adr. */
export function foreignCitations(files: readonly HouseFile[]): string[] {
  return files.flatMap(({ path, text }) =>
    placesOf(path, text, /\b(desig[n] §\d*|(?:design|contract|peers|examples-to-follow)\.m[d])/),
  )
}

/** Files longer than linesMax, or testLinesMax. */
export function longFiles(files: readonly HouseFile[]): string[] {
  return files
    .filter(({ path, text }) => linesOf(text) > (/^(test|bench)\//.test(path) ? testLinesMax : linesMax))
    .map(({ path }) => path)
}

/** File and folder names that are not kebab-case nouns, or that say nothing. */
export function badNames(files: readonly HouseFile[]): string[] {
  return files
    .map(({ path }) => path)
    .filter((path) => {
      const names = path.replace(/(\.(test|d))?\.tsx?$/, '').split('/')
      return names.some(
        (name) => !/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name) || /^(utils?|helpers?|misc|common-utils?)$/.test(name),
      )
    })
}

/**
 * Functions longer than functionLinesMax, as `path:line lines`. The formatter allows a simple rule: a function begins at a line
 * that declares a function or a method, and ends at the first line of the same indentation that closes it.
 */
export function longFunctions(files: readonly HouseFile[]): string[] {
  return files.flatMap(({ path, text }) => {
    const lines = codeOf(text).split('\n')
    return lines.flatMap((line, index) => {
      if (!beginsFunction(line)) return []
      const indent = /^ */.exec(line)?.[0] ?? ''
      const length = lines.slice(index).findIndex((later) => later.startsWith(`${indent}}`)) + 1
      return length > functionLinesMax ? [`${path}:${index + 1} ${length} lines`] : []
    })
  })
}

function beginsFunction(line: string): boolean {
  if (!line.trimEnd().endsWith('{')) return false
  if (/^ *(if|for|while|switch|catch|else|return|do|try|class|interface|const \{|describe|test)\b/.test(line)) return false
  if (/^ *\).*\{\s*$/.test(line)) return true
  return (
    /\bfunction\b/.test(line) ||
    /=> \{\s*$/.test(line) ||
    /^ *((private|static|async|override|get|set) )*[#\w]+(<[^>]*>)?\(.*\).*\{\s*$/.test(line)
  )
}

const linesOf = (text: string): number => text.split('\n').length - 1
