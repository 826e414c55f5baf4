/**
 * Lossless JSON. The engine parses the text; one walk over the accepted text finds everything that JavaScript values would hide. A payload
 * or result that JavaScript values cannot represent keeps its text, and is written as it was read. The dashboard uses this module too.
 */
import { JsonWalk, type TextPart } from './json-walk.ts'
import type { Problem } from './problem.ts'

/** Media type of JSON. A payload without a media type has this one. */
export const jsonType = 'application/json'

/** A JSON value as its text, used if JavaScript would write the parsed value differently. */
export class JsonText {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
  /** In writeJson a placeholder; anywhere else the nearest JavaScript value. */
  toJSON(): unknown {
    if (marked === undefined) return JSON.parse(this.text)
    marked.push(this.text)
    return `${mark}${marked.length - 1}`
  }
}

let marked: string[] | undefined
/** Begins a placeholder. A text that was decoded from bytes never begins with a lone surrogate. */
const mark = '\ud800'
const markWritten = /"\\ud800(\d+)"/g

/** JSON.stringify that writes each JsonText unchanged. */
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
  /** Each payload or result that JSON.stringify would write differently is a JsonText; null stays null. */
  value: unknown
  problems: Problem[]
  /** If the whole text is an array: the offset of each item that is an object. */
  items: number[]
}

/**
 * Throws SyntaxError if the text is no JSON, or the error that `parse` throws. With `always` each payload or result is a JsonText. That
 * saves a comparison for readers that use only its bytes.
 */
export function readJson(text: string, parse: (text: string) => unknown = JSON.parse, always = false): JsonRead {
  const value = parse(text)
  const walk = new JsonWalk(text)
  walk.run()
  if (walk.problems.length === 0) for (const part of walk.parts) keepText(value, part, always)
  return { value, problems: walk.problems, items: walk.items }
}

/** The problems of a JSON text that the engine has accepted. */
export function jsonProblems(text: string): Problem[] {
  const walk = new JsonWalk(text)
  walk.run()
  return walk.problems
}

/** A JSON text without the white space between its values. Any text may be given: a string that does not end is one until the end. */
export const withoutSpace = (text: string): string =>
  text.replace(/"[^"\\]*(?:\\.[^"\\]*)*"?|\s+/gs, (found) => (found.startsWith('"') ? found : ''))

/** A JSON text on one line. Line breaks occur only between values, so all white space between values is removed. */
export const oneLineJson = (text: string): string => (/[\r\n]/.test(text) ? withoutSpace(text) : text)

function keepText(root: unknown, { path, text }: TextPart, always: boolean): void {
  let holder = root as Record<string | number, unknown>
  for (const name of path.slice(0, -1)) holder = holder[name] as Record<string | number, unknown>
  const name = path.at(-1) as string
  if (always || JSON.stringify(holder[name]) !== text) holder[name] = new JsonText(text)
}
