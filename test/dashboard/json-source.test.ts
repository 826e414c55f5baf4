import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type JsonNode, offsetOfField, parseSource, placeOf, propertyOf } from '../../src/clients/dashboard/model/json-source.ts'

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
      expect(JSON.parse(text.slice(node.offset, node.offset + node.length))).toEqual(value)
      if (node.type === 'array')
        for (const [index, item] of (node.children ?? []).entries()) visit(text, item, (value as unknown[])[index])
      if (node.type !== 'object') return
      for (const [name, member] of Object.entries(value as object)) {
        const found = propertyOf(node, name)
        expect(text.startsWith(JSON.stringify(name), found?.property.offset)).toBe(true)
        visit(text, found?.node as JsonNode, member)
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
    ['{\n  "a": 1\n  "b": 2\n}', '3:3 A comma must come here.'],
    ['{ "a": }', '1:8 A value must come here.'],
    ['{ "a" 1 }', '1:7 A colon must follow the name.'],
    ["{ 'a': 1 }", '1:3 This is not JSON. Text and names need double quotes.'],
    ['{ a: 1 }', '1:3 This is not JSON. Text and names need double quotes.'],
    ['{ "a": b }', '1:8 This is not JSON. Text and names need double quotes.'],
    ['{ "a": "b }', '1:8 This string has no closing quote.'],
    ['{ "a": [1, 2 }', '1:14 ] must come here.'],
    ['{ "a": [{ "b": 1', '1:17 The text ends too early: } ] } is missing.'],
    ['{ "a": 1, 2: 3 }', '1:11 A name in double quotes must come here.'],
    ['{ "a": 1 /* b */ }', '1:10 JSON has no comments.'],
    ['{ "a": 1 } x', '1:12 Nothing may follow the end of the definition.'],
    ['', '1:1 The definition must be a JSON object.'],
  ])('%j: %s', (text, says) => {
    expect(whereItFails(text)).toBe(says)
  })

  it('is refused if it is deeper than the stack', () => {
    expect(parseSource('['.repeat(100_000)).fault?.text).toBe('The text is nested too deep.')
  })

  it('finds the field that a problem names, or what is around it', () => {
    const text = '{\n  "retry": { "backoff": { "list": [1, 2] } },\n  "a.b": [{ "x y": 7 }]\n}'
    const { root } = parseSource(text)
    const found = (field: string): string => text.slice(offsetOfField(root as JsonNode, field)).slice(0, 9)
    expect(found('retry.backoff.list[1]')).toBe('2] } },\n ')
    expect(found('["a.b"][0]["x y"]')).toBe('"x y": 7 ')
    expect(found('retry.maxAttempts')).toBe('"retry": ')
    expect(found('schedule')).toBe('{\n  "retr')
    expect(found('retry.constructor.list')).toBe('"retry": ')
  })
})
