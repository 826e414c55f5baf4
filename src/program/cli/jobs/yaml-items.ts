/** Reader of YAML documents: their jobs as JSON values. Numbers keep their digits. An alias costs nothing, however often it is used. */
import type { Scalar } from 'yaml'
import { JsonText, jsonDepthMax } from '../../../../streams/text/index.ts'

/** A job, and its line, from 1. */
export interface YamlItem {
  line: number
  /** Characters of the text up to its end. */
  end: number
  value: Record<string, unknown>
}

/** As deep as JSON of a request may be, with the job around it. */
const depthMax = jsonDepthMax + 1

/** The error for a line and what is wrong there. */
export type Wrong = (line: number, what: string) => Error

/** A value, and how long, at least, and how deep it is as JSON, with all its aliases replaced by what they stand for. */
interface Read {
  value: unknown
  chars: number
  /** Lists and mappings inside one another. */
  depth: number
}

/** The items of all documents, in order. Throws what `wrong` makes. An item may have `charsMax`, in which each of its aliases counts. */
export async function* yamlItems(text: string, charsMax: number, wrong: Wrong): AsyncGenerator<YamlItem> {
  // Loaded on demand, because loading takes a while.
  const { isAlias, isMap, isScalar, isSeq, LineCounter, parseAllDocuments } = await import('yaml')
  const lineCounter = new LineCounter()
  const wrongAt = (at: number, what: string): Error => wrong(lineCounter.linePos(at).line, what)
  const tooDeep = (at: number): Error => wrongAt(at, `it is nested deeper than ${depthMax} lists and mappings.`)
  const anchors = new Map<string, Read>()

  const readNode = (node: unknown, from: number, depth = 0): Read => {
    if (depth > depthMax) throw tooDeep(from)
    if (isAlias(node)) {
      const found = anchors.get(node.source)
      // Also an alias inside the node of its anchor, which would have no end.
      if (found === undefined) throw wrongAt(node.range?.[0] ?? from, `no anchor &${node.source} ends before the alias.`)
      return found
    }
    const { anchor, range } = (node ?? {}) as { anchor?: string; range?: [number, number, number] }
    const at = range?.[0] ?? from
    if (anchor !== undefined) anchors.delete(anchor)
    const read: Read = { value: null, chars: 4, depth: 0 }
    const add = ({ chars, depth }: Omit<Read, 'value'>): void => {
      read.chars += chars + 1
      read.depth = Math.max(read.depth, depth + 1)
      if (read.depth > depthMax) throw tooDeep(from)
      if (read.chars > charsMax) throw wrongAt(from, `with its aliases, this job has more than ${charsMax} bytes.`)
    }
    if (isMap(node)) {
      const entries = node.items.map(({ key, value }) => {
        const name = readNode(key, at, depth + 1)
        if (isMap(key) || isSeq(key) || value === undefined)
          throw wrongAt(at, 'each name must be a text, with a value after its colon.')
        const entry = readNode(value, at, depth + 1)
        add(name)
        add(entry)
        return [nameOf(name.value), entry.value] as const
      })
      read.value = Object.fromEntries(entries)
    } else if (isSeq(node)) {
      read.value = node.items.map((item) => {
        const entry = readNode(item, at, depth + 1)
        add(entry)
        return entry.value
      })
    } else if (isScalar(node)) {
      read.value = scalarOf(node, (what) => wrongAt(at, what))
      read.chars = (typeof node.value === 'string' ? node.value : (node.source ?? '')).length
    }
    if (anchor !== undefined) anchors.set(anchor, read)
    return read
  }

  for (const document of parseAllDocuments(text, { lineCounter, prettyErrors: false, intAsBigInt: true })) {
    const [error] = document.errors
    if (error !== undefined) throw wrongAt(error.pos[0], `${error.message.replace(/\.?$/, '.')}`)
    anchors.clear()
    const { contents } = document
    // The document has only comments.
    if (contents === null || (isScalar(contents) && contents.value === null)) continue
    if (!isMap(contents) && !isSeq(contents))
      throw wrongAt(contents.range?.[0] ?? 0, 'a document must be a job or a list of jobs.')
    for (const item of isSeq(contents) ? contents.items : [contents]) {
      const [at, , end] = (item as { range?: [number, number, number] }).range ?? [0, 0, 0]
      if (!isMap(item)) throw wrongAt(at, 'each item of a list must be a job: a mapping with id, schedule and target.')
      yield { line: lineCounter.linePos(at).line, end, value: readNode(item, at).value as Record<string, unknown> }
    }
  }
}

const nameOf = (name: unknown): string => (name instanceof JsonText ? name.text : String(name ?? ''))

function scalarOf({ value, source = '' }: Scalar, wrong: (what: string) => Error): unknown {
  if (typeof value !== 'number' && typeof value !== 'bigint') return value
  const digits = jsonNumber(value, source)
  if (digits === undefined) throw wrong(`${source} is a number that JSON cannot represent.`)
  return new JsonText(digits)
}

/** Undefined for infinity and NaN. Unlike JSON, YAML allows +1.5, .5, 1. and numbers in other bases. */
function jsonNumber(value: number | bigint, source: string): string | undefined {
  if (typeof value === 'bigint') return String(value)
  if (/inf|nan/i.test(source)) return undefined
  const digits = source
    .replace(/^\+/, '')
    .replace(/^(-?)0+(\d)/, '$1$2')
    .replace(/^(-?)\./, '$10.')
    .replace(/\.(?=[eE]|$)/, '')
  return /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(digits) ? digits : String(value)
}
