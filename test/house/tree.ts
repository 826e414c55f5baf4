/** The files that the house rules check: their text, their imports, and their code without comments and strings. */
import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface HouseFile {
  /** Path from the root of the project, with slashes. */
  path: string
  text: string
}

const root = fileURLToPath(new URL('../..', import.meta.url))
const rooms = ['schemas', 'streams', 'src', 'bench', 'test', 'docs', 'docker', 'examples', '.ci']

export function readHouseFile(path: string): HouseFile {
  return { path, text: readFileSync(`${root}${path}`, 'utf8') }
}

/** All files in these rooms with one of these endings, in the order of their paths. */
export function filesIn(inRooms: readonly string[] = rooms, ...endings: string[]): HouseFile[] {
  const wanted = endings.length === 0 ? ['.ts', '.tsx'] : endings
  return (
    inRooms
      .flatMap((room) =>
        readdirSync(`${root}${room}`, { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile() && wanted.some((ending) => entry.name.endsWith(ending)))
          .map((entry) => `${entry.parentPath}/${entry.name}`.slice(root.length).replaceAll('\\', '/')),
      )
      // A separate tool, such as test/mutations, has its own packages.
      .filter((path) => !path.includes('/node_modules/'))
      .sort()
      .map(readHouseFile)
  )
}

/** The files and folders in the root of the project. */
export function topLevel(): string[] {
  return readdirSync(root)
}

/**
 * The imports of a file, types included: project files as paths from the root, packages and Node modules by name.
 * A type import counts as well: a file cannot be understood without the file that defines its types.
 */
export function importsOf({ path, text }: HouseFile): string[] {
  const found =
    /^\s*(?:import|export)\b[^'"`;]*?\bfrom\s*['"]([^'"]+)['"]|^\s*import\s*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/gm
  const targets = Array.from(withoutComments(text).matchAll(found), (match) => match[1] ?? match[2] ?? match[3] ?? '')
  return targets.map((target) => (target.startsWith('.') ? posix.join(posix.dirname(path), target) : target))
}

/** The text with comments blanked; line numbers do not change. */
export function withoutComments(text: string): string {
  return text.replace(token, (match) => (match.startsWith('/') ? blank(match) : match))
}

/** The text with comments and quoted strings blanked. Template literals stay, because they contain code. */
export function codeOf(text: string): string {
  return text.replace(token, (match) => (match.startsWith('`') ? match : blank(match)))
}

const token = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g
const blank = (text: string): string => text.replace(/[^\n]/g, ' ')

/** `path:line` of each match, followed by what was found. */
export function placesOf(path: string, text: string, pattern: RegExp): string[] {
  return text.split('\n').flatMap((line, index) => {
    const found = pattern.exec(line)
    return found === null ? [] : [`${path}:${index + 1} ${found[0].trim()}`]
  })
}
