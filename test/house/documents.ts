/** Compares what documents name with what exists: links, paths, commands, settings and decision records. */
import { posix } from 'node:path'
import type { HouseFile } from './tree.ts'

/** Commands that a text tells the reader to type. */
export interface Typed {
  scripts: string[]
  /** The words after `npx duelog` or `duelog`. */
  commands: string[]
}

export function typedIn(text: string): Typed {
  const all = (pattern: RegExp): string[] => [...new Set(Array.from(text.matchAll(pattern), (match) => match[1] ?? ''))]
  const scripts = all(/\bnpm run ([\w:-]+)/g)
  for (const own of ['start', 'test']) if (new RegExp(`\\bnpm ${own}\\b`).test(text)) scripts.push(own)
  return { scripts, commands: all(/(?:`|npx )duelog ([a-z]+)/g) }
}

/** Relative links of Markdown files whose target does not exist, as `file → target`. */
export function brokenLinks(files: readonly HouseFile[], exists: (path: string) => boolean): string[] {
  return files.flatMap(({ path, text }) =>
    Array.from(text.matchAll(/\]\(([^)\s]+)\)/g), (match) => match[1] ?? '')
      .filter((target) => !/^([a-z]+:|#)/.test(target))
      .filter((target) => !exists(posix.join(posix.dirname(path), target.split('#')[0] ?? '')))
      .map((target) => `${path} → ${target}`),
  )
}

/** Paths of this repository in backticks, such as `scheduler/scheduler.ts`, that do not exist. A path may omit `src/`. */
export function brokenPaths(files: readonly HouseFile[], exists: (path: string) => boolean): string[] {
  return files.flatMap(({ path, text }) =>
    Array.from(text.matchAll(/`((?:[\w.-]+\/)+[\w.-]+\.(?:ts|avsc|json|sh))`/g), (match) => match[1] ?? '')
      .filter((named) => !exists(named) && !exists(`src/${named}`))
      .map((named) => `${path} → ${named}`),
  )
}

/** The names of settings in a text. Names of the tests (DUELOG_TEST_, DUELOG_MODEL_) are not settings. */
export function settingsIn(text: string): string[] {
  const found = text.match(/\b(DUELOG|KAFKA|SCHEMA)_[A-Z]+(_[A-Z]+)*\b(?!_)/g) ?? []
  return [...new Set(found)].filter((name) => !/^DUELOG_(TEST|MODEL)_/.test(name))
}

const parts = ['Context', 'Decision', 'Alternatives', 'Consequences']

/** The faults of the decision records: numbers, titles, parts, and the index by subject. */
export function adrProblems(files: readonly HouseFile[], index: string): string[] {
  const problems: string[] = []
  const numbers = new Map<string, string>()
  for (const { path, text } of files) {
    const name = posix.basename(path)
    const number = /^(\d{4})-[a-z0-9]+(-[a-z0-9]+)*\.md$/.exec(name)?.[1]
    if (number === undefined) {
      problems.push(`${name}: the name is not NNNN-kebab-case.md`)
      continue
    }
    const other = numbers.get(number)
    if (other !== undefined) problems.push(`${name}: ${other} has the same number`)
    numbers.set(number, name)
    const title = /^# (.+)$/m.exec(text)?.[1] ?? ''
    if (!title.startsWith(`${number} `)) problems.push(`${name}: the title does not begin with ${number}`)
    const found = Array.from(text.matchAll(/^## (.+)$/gm), (match) => match[1])
    if (found.join() !== parts.join()) problems.push(`${name}: the parts are ${found.join(', ')}, not ${parts.join(', ')}`)
    if (!index.includes(`- [${title}](${name})`)) problems.push(`${name}: the index does not list it with its title`)
  }
  const listed = new Set<string>()
  for (const subject of index.split(/^## /m)) {
    let before = ''
    for (const [, name = ''] of subject.matchAll(/\]\((\d{4}[^)]*)\)/g)) {
      if (name <= before || listed.has(name)) problems.push(`${name}: listed twice, or behind a later one of its subject`)
      before = name
      listed.add(name)
      if (!files.some(({ path }) => posix.basename(path) === name)) problems.push(`${name}: listed, but not there`)
    }
  }
  return problems
}

/** The code blocks of one language in a Markdown text. */
export function blocksOf(text: string, language: string): string[] {
  return Array.from(text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm')), (match) => match[1] ?? '')
}
