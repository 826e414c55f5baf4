/** JSON without loss: what is refused, with its place, and what is preserved byte for byte. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { JsonText, jsonDepthMax, oneLineJson, readJson, writeJson } from '../../../streams/text/json-text.ts'
import { jsonTexts } from '../jobs/json-texts.ts'

const fields = (text: string): string[] => readJson(text).problems.map(({ field }) => field)

describe('a JSON text', () => {
  it('is refused if a name is twice in an object, however it is spelled', () => {
    expect(fields('{"a":1,"a":2}')).toEqual(['a'])
    expect(fields('{"payload":{"list":[0,{"x":1,"\\u0078":2}]}}')).toEqual(['payload.list[1].x'])
    expect(fields('{"a":{"b":1},"b":{"a":2},"c":[{"a":1},{"a":2}]}')).toEqual([])
    expect(fields('{"odd name":{"":1,"":2}}')).toEqual(['["odd name"]'])
  })
  it('is refused if a number is beyond the range of doubles', () => {
    expect(fields('{"payload":{"n":[1,-1e400]}}')).toEqual(['payload.n[1]'])
    expect(fields(`[${'9'.repeat(400)}]`)).toEqual(['[0]'])
    expect(fields('[1.7976931348623157e308,5e-324,123456789012345678901234567890,"1e400"]')).toEqual([])
  })
  it('is refused if a string has half of a character', () => {
    expect(fields('{"tags":["ok","\\ud800"]}')).toEqual(['tags[1]'])
    expect(fields('{"a":"\\udc00\\ud800"}')).toEqual(['a'])
    expect(fields('{"a":{"\\ud800":1}}')).toEqual(['a["\\ud800"]'])
    expect(fields('["\ud800"]')).toEqual(['[0]'])
    expect(fields('["\\ud83d\\ude00","😀","\\\\ud800"]')).toEqual([])
  })
  it('is refused if it is nested too deep', () => {
    const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`
    expect(readJson(nested(jsonDepthMax)).problems).toEqual([])
    expect(readJson(nested(jsonDepthMax + 1)).problems).toMatchObject([{ limit: expect.stringContaining('128') as string }])
    expect(readJson(`{"a":${'{"a":'.repeat(200_000)}1${'}'.repeat(200_001)}`).problems).toHaveLength(1)
  })
  it('has a bounded number of problems', () => {
    expect(readJson(`[${'1e999,'.repeat(10_000)}0]`).problems.length).toBeLessThanOrEqual(50)
  })
})

describe('a payload in a JSON text', () => {
  it('is a value if JSON.stringify writes the same text, otherwise its text', () => {
    const payloadOf = (text: string): unknown => (readJson(`{"payload" : ${text} ,"b":1}`).value as { payload: unknown }).payload
    for (const text of ['{"a":[1,null]}', '"x"', '0', 'false', 'null']) expect(payloadOf(text)).toEqual(JSON.parse(text))
    for (const text of ['1.10', '9007199254740993', '-0', '1E2', '{ }', '{"b":1,"0":2}', '"\\u0041"', '[1,\n2]'])
      expect(payloadOf(text)).toEqual(new JsonText(text))
  })
  it('is found at any place, but not among headers and not within a payload', () => {
    const texts = (text: string): string[] => {
      const found: string[] = []
      JSON.stringify(readJson(text).value, function (this: Record<string, unknown>, key) {
        // toJSON was called already, but the holder still has it.
        const value = this[key]
        if (value instanceof JsonText) found.push(value.text)
        return value
      })
      return found
    }
    expect(texts('{"jobs":[{"payload":1.0},{"definition":{"payload":[2.0]},"lastRun":{"result":3.0}}]}')).toEqual([
      '1.0',
      '[2.0]',
      '3.0',
    ])
    expect(texts('{"headers":{"payload":1.0},"payload":{"payload":2.0}}')).toEqual(['{"payload":2.0}'])
  })
  it('survives reading and writing, whatever it is', () => {
    fc.assert(
      fc.property(jsonTexts, (text) => {
        const read = readJson(`{"a":[{"payload":${text}}],"\\u0062":1}`)
        expect(read.problems).toEqual([])
        expect(writeJson(read.value)).toBe(`{"a":[{"payload":${text.trim()}}],"b":1}`)
      }),
      { numRuns: 500 },
    )
  })
  it('is not confused with texts that look like its marker', () => {
    const text = '{"x":"\\\\ud8000","y":"\\"\\\\ud8000\\"","payload":1.0}'
    expect(writeJson(readJson(text).value)).toBe(text)
  })
})

describe('a text over several lines', () => {
  it('is one line of the same tokens; one line stays as it is', () => {
    expect(oneLineJson('{\n  "a b": [ 1.10,\r\n\t"c\\" \\n d" ]\n}')).toBe('{"a b":[1.10,"c\\" \\n d"]}')
    expect(oneLineJson('{ "a": 1 }')).toBe('{ "a": 1 }')
  })
})
