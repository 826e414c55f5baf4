/**
 * docs/LIBRARY.md: what the entries of the package export, with the comments of its source. The compiler of this project has no stable
 * API, so the source is read as text: formatted by one tool, its declarations begin a line, and their members are indented by two.
 */
import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { callFieldsOf } from './answer-types.ts'
import { code, heading, page, table } from './markdown.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

const entries = [
  {
    name: 'duelog/client',
    file: 'src/clients/library/client.ts',
    lead: 'Schedules jobs and asks about them. See [the client](how-to/client.md).',
  },
  { name: 'duelog/worker', file: 'src/clients/library/worker.ts', lead: 'Runs jobs. See [workers](how-to/workers.md).' },
  {
    name: 'duelog/testing',
    file: 'src/testing/library.ts',
    lead: 'Tests without Kafka, in virtual time. See [TESTING](TESTING.md).',
  },
]

export interface Declaration {
  name: string
  kind: 'function' | 'class' | 'const' | 'interface' | 'type'
  /** Without its marks; empty: none. */
  comment: string
  /** The text from its first line on, without `export`. Several for overloads. */
  texts: string[]
}

interface Member {
  name: string
  type: string
  comment: string
}

const declared = /^export (?:default )?(?:abstract )?(?:async )?(function\*?|class|const|interface|type) (\w+)/

/** The names that a file exports from others, with the file that they come from. Names that it declares are not among them. */
export function reexportsOf(path: string, text: string): Map<string, string> {
  const found = new Map<string, string>()
  for (const [, list = '', from = ''] of text.matchAll(/^export (?:type )?\{([^}]*)\} from '(\.[^']+)'/gm))
    for (const item of list.split(','))
      if (item.trim() !== '') found.set(item.trim().replace(/^type /, ''), posix.join(posix.dirname(path), from))
  return found
}

/** The declaration of an exported name, also through other files. Throws when it is not found, or renamed on the way. */
export function declarationOf(name: string, path: string, read: (path: string) => string): Declaration {
  const text = read(path)
  const from = reexportsOf(path, text).get(name)
  if (from !== undefined) return declarationOf(name, from, read)
  const [, all] = /^export type \* from '(\.[^']+)'/m.exec(text) ?? []
  if (all !== undefined) return declarationOf(name, posix.join(posix.dirname(path), all), read)
  const lines = text.split('\n')
  const texts: string[] = []
  let comment = ''
  let kind: string | undefined
  for (const [at, line] of lines.entries()) {
    const [, found, its] = declared.exec(line) ?? []
    if (its !== name) continue
    kind ??= found
    if (texts.length === 0) comment = commentBefore(lines, at)
    texts.push(declarationFrom(lines, at).replace(/^export /, ''))
  }
  if (kind === undefined) throw new Error(`${path} neither declares nor exports ${name}.`)
  const other = importedAs(/^type \w+ = (\w+)$/.exec(texts[0] ?? '')?.[1] ?? '', path, text)
  // What has only another name is shown with its members.
  if (other !== undefined) {
    const { texts: whole } = declarationOf(other.name, other.file, read)
    texts.splice(0, 1, (whole[0] ?? '').replace(/^type \w+/, `type ${name}`))
  }
  return { name, kind: kind as Declaration['kind'], comment, texts }
}

/** The name and the file that an imported name has there. */
function importedAs(local: string, path: string, text: string): { name: string; file: string } | undefined {
  for (const [, list = '', from = ''] of text.matchAll(/^import (?:type )?\{([^}]*)\} from '(\.[^']+)'/gm))
    for (const item of list.split(',')) {
      const [name = '', as = name] = item
        .trim()
        .replace(/^type /, '')
        .split(' as ')
      if (as === local && local !== '') return { name, file: posix.join(posix.dirname(path), from) }
    }
  return undefined
}

/** The comment that ends in the line before this one, as one paragraph. */
function commentBefore(lines: readonly string[], at: number): string {
  let end = at - 1
  while (lines[end]?.trim().startsWith('//') === true) end--
  if (lines[end]?.trim().endsWith('*/') !== true) return ''
  let start = end
  while (start > 0 && lines[start]?.trim().startsWith('/**') !== true) start--
  return plainComment(lines.slice(start, end + 1).join('\n'))
}

function plainComment(text: string): string {
  return text
    .replace(/^\s*\/\*\*|\*\/\s*$/g, '')
    .replace(/^\s*\* ?/gm, '')
    .replace(/\s+/g, ' ')
    .trim()
}

/** To the line where all brackets are closed and the next line begins something else. Quoted brackets do not count. */
function declarationFrom(lines: readonly string[], at: number, indent = ''): string {
  let depth = 0
  for (let end = at; end < lines.length; end++) {
    const bare = (lines[end] ?? '').replace(/\/\*.*?\*\/|\/\/.*|^\s*\/?\*.*|'[^']*'|`[^`]*`/g, '').replaceAll('=>', '')
    for (const char of bare) depth += '({[<'.includes(char) ? 1 : ')}]>'.includes(char) ? -1 : 0
    const next = lines[end + 1] ?? ''
    const goesOn = next.startsWith(`${indent} `) || /^\s*[|&)}]/.test(next)
    if (depth <= 0 && !goesOn) return lines.slice(at, end + 1).join('\n')
  }
  return lines.slice(at).join('\n')
}

/** Members of an interface or a class: each begins with two spaces, and its comment stands before it. */
export function membersOf(text: string): Member[] {
  const lines = text.split('\n').slice(1, -1)
  const members: Member[] = []
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ''
    const name = /^ {2}(?:readonly |static |override |get )*'?([\w$]+)'?\??(?=[(:<?])/.exec(line)?.[1]
    if (name === undefined) continue
    const whole = declarationFrom(lines, at, '  ')
    // A constructor is told by the class, and what it assigns by the members.
    if (name !== 'constructor') members.push({ name, type: signatureOf(whole), comment: commentBefore(lines, at) })
    at += whole.split('\n').length - 1
  }
  return members
}

/** On one line, without comments, and without the body of a method. */
function signatureOf(text: string): string {
  return (
    text
      .replace(/^( {2}(?:get )?\w+\(.*\).*) \{\n[\s\S]*$/, '$1')
      .replace(/\/\*\*?[\s\S]*?\*\//g, '')
      .replace(/([^\s{;|(,])\s*\n\s+(?=\w+\??:\s)/g, '$1; ')
      .replace(/\s+/g, ' ')
      .replace(/([([]) (?=\S)/g, '$1')
      .replace(/, ([)\]])/g, '$1')
      .trim()
      // The mark of an optional member says the same.
      .replace(/ \| undefined(?=;| \}|$)/g, (mark, at: number, whole: string) => (whole.slice(0, at).includes('?: ') ? '' : mark))
  )
}

/** Of a function: the head without its body. */
function headOf(text: string): string {
  const lines = text.split('\n')
  const last = lines.findIndex((line, at) => / \{$/.test(line) && (at === 0 || /^\S/.test(line)))
  const head = last < 0 ? lines : lines.slice(0, last + 1)
  return head.join('\n').replace(/ \{$/, '')
}

/** The members of a type that is made of a call of the API, or of what the API takes, without what it leaves out. */
function derivedMembers(text: string, read: (path: string) => string): Member[] {
  const [, of = '', name = '', left = '', own = ''] =
    /\b(FilterOf|FieldsOf)<'?(\w+)'?(?:, ((?:'\w+'[ |]*)+))?(?:, (\w+))?>/.exec(text) ?? []
  const leftOut = new Set(left.match(/\w+/g))
  const kept = (members: Member[]): Member[] => members.filter((member) => !leftOut.has(member.name))
  if (of === 'FilterOf') {
    for (const page of ['limit', 'cursor', 'stale']) leftOut.add(page)
    const times = /^(from|to|dueBefore)$/
    return kept(
      callFieldsOf(name).map(({ type, comment, ...field }) => ({
        ...{ name: field.name, comment },
        type: `${field.name}?: ${times.test(field.name) ? 'Instant' : type}`,
      })),
    )
  }
  if (of === '') return []
  const ownTypes = new RegExp(`^interface ${own} \\{\\n([\\s\\S]*?)\\n\\}`, 'm').exec(read(jobFile))?.[0]
  const types = new Map(
    membersOf(own === '' || ownTypes === undefined ? '' : ownTypes).map((member) => [member.name, member.type]),
  )
  return kept(membersOf(declarationOf(name, answersFile, read).texts[0] ?? '')).map((member) => ({
    ...member,
    type: types.get(member.name)?.replace(':', '?:') ?? member.type.replace(/ \| null$/, ''),
  }))
}

const jobFile = 'src/clients/client/job.ts'

function partsOf({ name, kind, comment, texts }: Declaration, read: (path: string) => string): string[] {
  const parts = [`### ${name}`, comment]
  const fenced = (text: string): string => `\`\`\`ts\n${text}\n\`\`\``
  if (kind === 'const') return parts
  // Of overloads, the last one is the implementation, which callers do not see.
  if (kind === 'function') return [...parts, fenced((texts.length > 1 ? texts.slice(0, -1) : texts).map(headOf).join('\n'))]
  const text = texts[0] ?? ''
  const derived = ['type', 'interface'].includes(kind) ? derivedMembers(text.split('\n')[0] ?? '', read) : []
  if (kind === 'type' && derived.length === 0 && !/^type \w+ = \{$/m.test(text.split('\n')[0] ?? ''))
    return [...parts, fenced(text)]
  const members = [...membersOf(text), ...derived]
  const head = text.split('\n')[0]?.replace(/(?: =)? \{.*$/, '') ?? ''
  if (members.length === 0) return [...parts, fenced(text)]
  const rows = members.map((member) => [code(member.type), member.comment])
  return [...parts, code(head), table([kind === 'class' ? 'Public member' : 'Member', 'Meaning'], rows)]
}

const answersFile = 'src/ground/answers/answers.ts'
/** Names of the library that answers have otherwise. */
const answerNames = { Job: true, Run: true }

const order = ['function', 'class', 'const', 'interface', 'type']

export function libraryPage(): string {
  const read = (path: string): string => readFileSync(`${root}${path}`, 'utf8')
  const seen = new Map<string, string>()
  const sections = entries.flatMap(({ name: entry, file, lead }) => {
    const own: Declaration[] = []
    const shared: string[] = []
    for (const name of reexportsOf(file, read(file)).keys()) {
      const before = seen.get(name)
      if (before === undefined) own.push(declarationOf(name, file, read))
      else shared.push(`${code(name)} (${before})`)
      if (before === undefined) seen.set(name, entry)
    }
    own.sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind) || a.name.localeCompare(b.name))
    const also = shared.length === 0 ? [] : [`It also exports what is described above: ${shared.join(', ')}.`]
    return [`## ${entry}`, lead, ...also, ...own.flatMap((each) => partsOf(each, read))]
  })
  const answers = read(answersFile)
  const shown = new Set([...seen.keys(), ...Object.keys(answerNames)])
  const parts: Declaration[] = []
  const told = sections.join('\n')
  for (let text = told; text !== ''; ) {
    const named = [...new Set([...text.matchAll(/\b[A-Z]\w+/g)].map(([name]) => name))]
    const found = named.filter((name) => !shown.has(name) && new RegExp(`^export type ${name} =`, 'm').test(answers)).sort()
    for (const name of found) shown.add(name)
    const declared = found.map((name) => declarationOf(name, answersFile, read))
    parts.push(...declared)
    text = declared.flatMap(({ texts }) => texts).join('\n')
  }
  parts.sort((a, b) => a.name.localeCompare(b.name))
  return page(
    heading(
      'Library',
      'src/clients/library',
      'What programs import. `duelog` exports all of `duelog/client` and `duelog/worker`.',
    ),
    ...sections.filter((part) => part !== ''),
    '## Parts of answers',
    "Types inside the answers above. They have no export of their own: `Plan['jobs'][number]` is one.",
    ...parts.flatMap((each) => partsOf(each, read)).flatMap((part) => (part === '' ? [] : [part.replace(/^### /, '#### ')])),
  )
}
