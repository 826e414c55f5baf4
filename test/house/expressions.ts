/** The regular expressions of the program, found in its syntax trees, and how long each takes on the worst text. */
import { check } from 'recheck'
import { parseSync } from 'vite'
import type { HouseFile } from './tree.ts'

export interface Expression {
  /** `path:line` of its first place. */
  place: string
  source: string
  flags: string
}

interface TreeNode {
  type: string
  start: number
  [member: string]: unknown
}

const isNode = (value: unknown): value is TreeNode => typeof value === 'object' && value !== null

/** Calls a function for each node of a syntax tree, or each object of a JSON value. */
function walk(value: unknown, visit: (node: TreeNode) => void): void {
  if (!isNode(value)) return
  if (!Array.isArray(value)) visit(value)
  for (const member of Object.values(value)) walk(member, visit)
}

/** Literals, texts given to RegExp, `pattern` of schemas; `computed`: expressions that are made of other text. */
export function expressionsIn({ path, text }: HouseFile): { expressions: Expression[]; computed: string[] } {
  const expressions: Expression[] = []
  const computed: string[] = []
  if (/\.(json|avsc)$/.test(path)) {
    walk(JSON.parse(text), ({ pattern }) => {
      if (typeof pattern === 'string') expressions.push({ place: path, source: pattern, flags: '' })
    })
    return { expressions, computed }
  }
  const { program, errors } = parseSync(path, text)
  if (errors.length > 0) throw new Error(`${path} cannot be parsed: ${JSON.stringify(errors[0])}`)
  walk(program, (node) => {
    const place = `${path}:${text.slice(0, node.start).split('\n').length}`
    const { regex, callee, key, value } = node as { [member: string]: { [member: string]: unknown } | undefined }
    if (node.type === 'Literal' && regex) expressions.push({ place, source: `${regex.pattern}`, flags: `${regex.flags}` })
    const isCall = node.type === 'NewExpression' || node.type === 'CallExpression'
    if (isCall && callee?.name === 'RegExp') {
      const [first, second] = node.arguments as { value?: unknown }[]
      if (typeof first?.value === 'string') expressions.push({ place, source: first.value, flags: `${second?.value ?? ''}` })
      else computed.push(place)
    }
    if (node.type === 'Property' && key?.name === 'pattern' && typeof value?.value === 'string')
      expressions.push({ place, source: value.value, flags: '' })
  })
  return { expressions, computed }
}

/** Without `*`, `+`, `{n,}` and repeated groups, the time has a limit that no text changes. */
const isBounded = (source: string): boolean =>
  !/[*+]|\{\d*,?\d*\}/.test(source.replace(/\\./gs, 'x').replace(/\[[^\]]*\]\{\d+(,\d+)?\}|\[[^\]]*\]/g, 'x'))

/** Counted repetitions of one class would make a huge automaton. Without the count, more texts match in more ways. */
const uncounted = (source: string): string => source.replace(/(\[(?:\\.|[^\]\\])*\]|\\\w)\{\d+,\d{2,}\}/g, '$1*')

/** Ends a check that hangs. A busy machine takes ten times as long as a free one. */
const timeout = 60_000

/** Undefined: linear. */
async function faultOf(source: string, flags: string): Promise<string | undefined> {
  const answer = await check(source, flags, { checker: 'automaton', timeout })
  if (answer.status === 'safe') return undefined
  if (answer.status === 'vulnerable') return answer.complexity.type
  // Expressions that look ahead are searched for slow texts.
  const isSafe =
    answer.error.kind === 'unsupported' && (await check(source, flags, { checker: 'fuzz', timeout })).status === 'safe'
  return isSafe ? undefined : answer.error.kind
}

/** Those that take more than linear time for some text, or for which this is not known. */
export async function notLinear(expressions: readonly Expression[]): Promise<string[]> {
  const places = new Map(expressions.map((expression) => [`/${expression.source}/${expression.flags}`, expression]))
  const faults: string[] = []
  // One after the other: all at once, their automata fill the memory of the checker, and it takes 20 times as long.
  for (const [written, { place, source, flags }] of places) {
    if (isBounded(source)) continue
    const known = flags.replace(/[dv]/g, '')
    const fault = (await faultOf(uncounted(source), known)) && (await faultOf(source, known))
    if (fault !== undefined) faults.push(`${place} ${written} ${fault}`)
  }
  return faults
}
