/**
 * JSON without loss. The engine reads the text; one walk over what it accepted finds what JavaScript's values would hide. A payload or
 * result that values cannot hold stays its text, and is written as it was read. Used by the dashboard as well.
 */
import { JsonWalk, type TextPart } from './json-walk.ts'
import type { Problem } from './problem.ts'

/** A JSON value as its text, where the value that JavaScript has for it would be written otherwise. */
export class JsonText {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
  /** In writeJson a mark; anywhere else the nearest value there is. */
  toJSON(): unknown {
    if (marked === undefined) return JSON.parse(this.text)
    marked.push(this.text)
    return `${mark}${marked.length - 1}`
  }
}

let marked: string[] | undefined
/** No text that was decoded from bytes begins with a lone surrogate. */
const mark = '\ud800'
const markWritten = /"\\ud800(\d+)"/g

/** JSON.stringify, with each JsonText as it is. */
export function writeJson(value: unknown, indent = 0): string {
  const outer = marked
  const texts: string[] = []
  marked = texts
  try {
    const written = JSON.stringify(value, null, indent)
    return texts.length === 0 ? written : written.replace(markWritten, (found, place) => texts[Number(place)] ?? found)
  } finally {
    marked = outer
  }
}

export interface JsonRead {
  /** Each payload or result that JSON.stringify would write otherwise is a JsonText; null is null. */
  value: unknown
  problems: Problem[]
  /** Where each item of an array begins that is the whole text: offsets, objects only. */
  items: number[]
}

/**
 * Throws SyntaxError for what is no JSON, or what `parse` throws in its place. With `always` each payload or result is a JsonText, for
 * readers that take none but its bytes: it saves a comparison.
 */
export function readJson(text: string, parse: (text: string) => unknown = JSON.parse, always = false): JsonRead {
  const value = parse(text)
  const walk = new JsonWalk(text)
  walk.run()
  if (walk.problems.length === 0) for (const part of walk.parts) keepText(value, part, always)
  return { value, problems: walk.problems, items: walk.items }
}

/** What is wrong with a JSON text that the engine has accepted. */
export function jsonProblems(text: string): Problem[] {
  const walk = new JsonWalk(text)
  walk.run()
  return walk.problems
}

/** A text that has line breaks, which can only stand between values, without any space between values. */
export function oneLineJson(text: string): string {
  if (!/[\r\n]/.test(text)) return text
  return text.replace(/"[^"\\]*(?:\\.[^"\\]*)*"|\s+/g, (found) => (found.startsWith('"') ? found : ''))
}

function keepText(root: unknown, { path, text }: TextPart, always: boolean): void {
  let holder = root as Record<string | number, unknown>
  for (const name of path.slice(0, -1)) holder = holder[name] as Record<string | number, unknown>
  const name = path.at(-1) as string
  if (always || JSON.stringify(holder[name]) !== text) holder[name] = new JsonText(text)
}
