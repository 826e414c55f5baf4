/**
 * The fenced blocks of a page, and what a test does with each of them. A comment on the line before a block says what is special:
 *
 *   <!-- test: starts the system -->     the block starts a Duelog, which serves the rest of the page
 *   <!-- test: stays -->                 the command runs until the page ends, as in a terminal of its own
 *   <!-- test: exit 1 -->                the command ends with this code
 *   <!-- test: not run: the reason -->   the block cannot run here
 *
 * Without a comment: `sh` runs and succeeds; `text` is what the block before it wrote; `ts` compiles; `json` and `yaml` are jobs that
 * a plan accepts; a block without a language is a picture.
 */

export type Rule =
  | { kind: 'usual' }
  | { kind: 'system' }
  | { kind: 'stays' }
  | { kind: 'exit'; code: number }
  | { kind: 'not-run'; reason: string }

export interface Snippet {
  page: string
  /** Line of its first fence, from 1. */
  line: number
  language: string
  code: string
  rule: Rule
}

export const languages = ['sh', 'text', 'ts', 'json', 'yaml'] as const

/** Throws for a fence that is not closed, for an unknown comment, and for a comment without a block. */
export function snippetsOf(page: string, text: string): Snippet[] {
  const snippets: Snippet[] = []
  const lines = text.split('\n')
  let rule: Rule | undefined
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ''
    const comment = /^\s*<!-- test: (.*?) -->$/.exec(line)?.[1]
    const fence = /^( *)(`{3,}|~{3,})([\w+-]*)\s*$/.exec(line)
    if (comment === undefined && fence === null) {
      if (/<!-- test/.test(line)) throw new Error(`${page}:${at + 1} has a comment for the test in a line with other text`)
      if (rule !== undefined) throw new Error(`${page}:${at} has a comment for the test without a block under it`)
      continue
    }
    if (comment !== undefined) {
      rule = ruleOf(comment, `${page}:${at + 1}`)
      continue
    }
    const [, indent = '', marks = '', language = ''] = fence ?? []
    const end = lines.indexOf(indent + marks, at + 1)
    if (end < 0) throw new Error(`${page}:${at + 1} has a fence without an end`)
    const code = lines.slice(at + 1, end).map((each) => (each.startsWith(indent) ? each.slice(indent.length) : each))
    snippets.push({ page, line: at + 1, language, code: `${code.join('\n')}\n`, rule: rule ?? { kind: 'usual' } })
    rule = undefined
    at = end
  }
  return snippets
}

function ruleOf(comment: string, place: string): Rule {
  if (comment === 'starts the system') return { kind: 'system' }
  if (comment === 'stays') return { kind: 'stays' }
  const exit = /^exit (\d+)$/.exec(comment)?.[1]
  if (exit !== undefined) return { kind: 'exit', code: Number(exit) }
  const reason = /^not run: (\S.{9,})$/.exec(comment)?.[1]
  if (reason !== undefined) return { kind: 'not-run', reason }
  throw new Error(`${place} has a comment for the test that says nothing known: ${comment}`)
}

export const placeOf = ({ page, line }: Snippet): string => `${page}:${line}`

/** Places whose block is not compared with anything: an output without a command that runs, and a command that stays and says nothing. */
export function uncheckedIn(snippets: readonly Snippet[]): string[] {
  return snippets.flatMap((snippet, at) => {
    const [before, after] = [snippets[at - 1], snippets[at + 1]]
    if (snippet.rule.kind === 'stays' && after?.language !== 'text') return [`${placeOf(snippet)} stays, and shows no output`]
    if (snippet.language !== 'text' || snippet.rule.kind === 'not-run') return []
    const isOutput = before?.language === 'sh' && before.rule.kind !== 'not-run'
    return isOutput ? [] : [`${placeOf(snippet)} is the output of no command that runs`]
  })
}

/** The file that a `ts` or `yaml` block is, by its first line: `// worker.ts`, `# jobs.yaml`. */
export function fileNameOf({ code }: Snippet): string | undefined {
  return /^(?:\/\/|#) ([\w./-]+\.(?:ts|yaml))\n/.exec(code)?.[1]
}

/**
 * Why the output is not what the page shows; undefined if it is. In the page, `…` stands for any text in a line, and a line of `…`
 * alone for any number of lines. Instants and the width of columns do not count.
 */
export function differenceOf(output: string, shown: string): string | undefined {
  const [got, wanted] = [plain(output), plain(shown)]
  const pattern = wanted
    .split('\n')
    .map((line) => (line === '…' ? '(?:.*\n)*?' : `${line.split('…').map(escaped).join('.*')}\n`))
    .join('')
  if (new RegExp(`^${pattern}$`).test(`${got}\n`)) return undefined
  return `The page shows\n${wanted}\nand the output is\n${got}`
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

function plain(text: string): string {
  return text
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, '<instant>')
    .replace(/[ \t]+/g, ' ')
    .replace(/ +$/gm, '')
    .trim()
}
