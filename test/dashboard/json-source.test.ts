import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type JsonNode, nodeOfField, parseSource, placeOf } from '../../src/dashboard/model/json-source.ts'

const accepts = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const whereItFails = (text: string): string => {
  const { fault } = parseSource(text)
  if (fault === undefined) return 'accepted'
  const { line, column } = placeOf(text, fault.at)
  return `${line}:${column} ${fault.text}`
}

describe('the source of a definition', () => {
  it('is refused where the engine refuses it, and only there', () => {
    const written = fc.tuple(fc.jsonValue(), fc.constantFrom(0, 2)).map(([value, indent]) => JSON.stringify(value, null, indent))
    const marks = fc.constantFrom('', ...'{}[],:"\\\'0-.eE+tn\u0001\n \u2028', 'null', '\\u12', '\\ud800', '-', '1.', '01')
    fc.assert(
      fc.property(written, fc.nat(), fc.nat(3), marks, (text, at, cut, put) => {
        const from = at % (text.length + 1)
        const changed = text.slice(0, from) + put + text.slice(from + cut)
        expect(parseSource(changed).fault === undefined, changed).toBe(accepts(changed))
      }),
      { numRuns: 3_000 },
    )
  })

  it('has each value at its place', () => {
    const visit = (text: string, node: JsonNode, value: unknown): void => {
      expect(JSON.parse(text.slice(node.from, node.to))).toEqual(value)
      for (const [index, item] of (node.items ?? []).entries()) visit(text, item, (value as unknown[])[index])
      for (const [name, member] of node.members ?? []) {
        expect(text.startsWith(JSON.stringify(name), member.nameFrom)).toBe(true)
        visit(text, member.node, (value as Record<string, unknown>)[name])
      }
    }
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(0, 3), (value, indent) => {
        const text = JSON.stringify(value, null, indent)
        const { root } = parseSource(text)
        expect(root).toBeDefined()
        if (root !== undefined) visit(text, root, JSON.parse(text))
      }),
    )
  })

  it.each([
    ['{\n  "a": 1,\n}', '3:1 No comma may stand before }.'],
    ['{\n  "a": 1\n  "b": 2\n}', '3:3 A comma or } must come here.'],
    ['{ "a": }', '1:8 A value must come here.'],
    ['{ "a" 1 }', '1:7 A colon must follow the name.'],
    ["{ 'a': 1 }", '1:3 JSON strings need double quotes.'],
    ['{ a: 1 }', '1:3 A name in double quotes must come here.'],
    ['{ "a": b }', '1:8 This is not a JSON value. Text needs double quotes.'],
    ['{ "a": "b }', '1:8 This string has no closing quote.'],
    ['{ "a": [1, 2 }', '1:14 ] must come here.'],
    ['{ "a": [{ "b": 1', '1:17 The text ends too early: } ] } is missing.'],
    ['{ "a": 1 } x', '1:12 Nothing may follow the end of the definition.'],
    ['', '1:1 The definition must be a JSON object.'],
  ])('%j: %s', (text, says) => {
    expect(whereItFails(text)).toBe(says)
  })

  it('goes as deep as the text', () => {
    expect(parseSource('['.repeat(100_000)).fault?.at).toBe(100_000)
  })

  it('finds the value that a problem names, or what is around it', () => {
    const text = '{\n  "retry": { "backoff": { "list": [1, 2] } },\n  "a.b": [{ "x y": 7 }]\n}'
    const { root } = parseSource(text)
    const found = (field: string): string | undefined => {
      const node = root === undefined ? undefined : nodeOfField(root, field)
      return node && text.slice(node.from, node.to)
    }
    expect(found('retry.backoff.list[1]')).toBe('2')
    expect(found('["a.b"][0]["x y"]')).toBe('7')
    expect(found('retry.maxAttempts')).toBe('{ "backoff": { "list": [1, 2] } }')
    expect(found('schedule')).toBe(text)
    expect(found('retry.constructor.list')).toBe('{ "backoff": { "list": [1, 2] } }')
  })
})
