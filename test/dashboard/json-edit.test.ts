import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isLongerThan, mergeInto, prettyJson, same, withMember } from '../../src/clients/dashboard/model/json-edit.ts'
import { JsonText } from '../../streams/text/index.ts'

type Json = Record<string, unknown>

/** The same change, made in the value. */
function changed(value: Json, [name = '', ...rest]: string[], next: unknown): Json {
  const { [name]: inner, ...others } = value
  if (rest.length === 0) return next === undefined ? others : { ...value, [name]: next }
  const isObject = typeof inner === 'object' && inner !== null && !Array.isArray(inner)
  if (next === undefined && !isObject) return value
  return { ...value, [name]: changed(isObject ? (inner as Json) : {}, rest, next) }
}

describe('a change of one member', () => {
  it('is that change, and nothing else', () => {
    const name = fc.constantFrom('a', 'b', 'retry', 'x y', '"')
    const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 3 },
        fc.integer(),
        fc.string(),
        fc.constant(null),
        fc.dictionary(name, tie('tree'), { maxKeys: 4 }),
      ),
    }))
    const whole = fc.dictionary(name, tree, { maxKeys: 4 })
    const path = fc.array(name, { minLength: 1, maxLength: 3 })
    const next = fc.oneof(fc.constant(undefined), fc.integer(), fc.constant({ list: [1, 2] }))
    fc.assert(
      fc.property(whole, path, next, fc.constantFrom(0, 2, 4), (value, steps, given, indent) => {
        const text = withMember(JSON.stringify(value, null, indent), steps, given)
        const plain = (of: unknown): unknown => JSON.parse(JSON.stringify(of))
        expect(JSON.parse(text), text).toEqual(plain(changed(plain(value) as Json, steps, given)))
      }),
      { numRuns: 1_000 },
    )
  })

  it('leaves all other text as it was written', () => {
    const text = '{"schedule":{\n   "cron": "0 9 * * *"\n  },\n\t"unknown" : 1.10,  "big": 9007199254740993 }'
    expect(withMember(text, ['schedule', 'timezone'], 'Asia/Tokyo')).toBe(
      text.replace('"0 9 * * *"', '"0 9 * * *",\n  "timezone": "Asia/Tokyo"'),
    )
    expect(withMember(text, ['big'], undefined)).toBe(text.replace(',  "big": 9007199254740993', ''))
    expect(withMember(text, ['schedule'], undefined)).toBe('{"unknown" : 1.10,  "big": 9007199254740993 }')
    expect(withMember('{ "a": 1 }', ['b'], 2)).toBe('{ "a": 1, "b": 2 }')
    expect(withMember('{}', ['a', 'b'], 1)).toBe('{\n  "a": {\n    "b": 1\n  }\n}')
    expect(withMember('{ "a": ', ['b'], 2)).toBe('{ "a": ')
  })
})

it('writes short lists of plain values on one line, and changes no string', () => {
  const value = {
    tags: ['a', 'b,\\n  [', '"'],
    empty: [],
    mixed: [1, { a: [2, 3] }],
    long: Array(80).fill(12_345),
    text: '[\n 1\n]',
  }
  const text = prettyJson(value)
  expect(JSON.parse(text)).toEqual(value)
  expect(text).toContain('"tags": ["a", "b,\\\\n  [", "\\""]')
  expect(text).toContain('"a": [2, 3]')
  expect(text.split('\n').length).toBeGreaterThan(80)
})

it('writes the objects of a long list on one line each, so that the text has fewer lines', () => {
  const rows = Array.from({ length: 3_000 }, (_, id) => ({
    id,
    text: `{ "a",\n }${id}`,
    tags: ['a', 'b'],
    in: { none: null, list: [{}] },
  }))
  const text = prettyJson({ rows, ids: rows.map(({ id, tags }) => ({ id, tags })) })
  expect(JSON.parse(text)).toEqual({ rows, ids: rows.map(({ id, tags }) => ({ id, tags })) })
  expect(text).toContain('\n    { "id": 7, "tags": ["a", "b"] },\n')
})

it('writes a long object with long lines as fast as any other', () => {
  // A pattern with two ways to match a space needs 4^30 steps for each of these lines.
  const value = { payload: Object.fromEntries(Array.from({ length: 3_000 }, (_, id) => [`key-${id}`, ' , {'.repeat(20)])) }
  expect(JSON.parse(prettyJson(value))).toEqual(value)
})

it('knows whether the JSON of a value is longer, without writing it', () => {
  const list = fc.array(fc.oneof(fc.integer({ min: 0, max: 9 }), fc.string({ unit: fc.constantFrom('a', ' ') }), fc.constant([])))
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom('a', 'b', 'c'), list), fc.nat(60), (value, chars) => {
      const { length } = JSON.stringify(value, null, 2)
      if (isLongerThan(chars, value)) expect(length).toBeGreaterThan(chars)
      if (length > 12 * chars + 30) expect(isLongerThan(chars, value)).toBe(true)
    }),
  )
  expect(isLongerThan(20_000, new JsonText('1'.repeat(20_001)))).toBe(true)
  expect(isLongerThan(20_000, { rows: 'x'.repeat(19_000) })).toBe(false)
  expect(isLongerThan(20_000, undefined)).toBe(false)
})

it('compares two values as their JSON would be compared', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
      expect(same(a, b)).toBe(JSON.stringify(a) === JSON.stringify(b))
      expect(same(a, JSON.parse(JSON.stringify(a)))).toBe(true)
    }),
  )
  expect(same({ a: 1, b: 2 }, { b: 2, a: 1 })).toBe(false)
  expect(same({ a: [1, { b: 2 }] }, { a: [1, { b: 3 }] })).toBe(false)
  expect(same([1], [1, 2])).toBe(false)
  expect(same(undefined, {})).toBe(false)
})

it('takes white space between values for no difference, and that inside strings for one', () => {
  expect(same({ payload: new JsonText('{ "a":  [1.10 , 2] }') }, { payload: new JsonText('{"a":[1.10,2]}') })).toBe(true)
  expect(same({ payload: new JsonText('{"a": 1.10}') }, { payload: new JsonText('{"a": 1.1}') })).toBe(false)
  expect(same({ a: 'x  " y' }, { a: 'x " y' })).toBe(false)
})

describe('two edits of one definition', () => {
  const base = { schedule: { cron: 'a', timezone: 'UTC' }, tags: ['x'], retry: { maxAttempts: 3 } }

  it('are joined if they changed different fields', () => {
    const theirs = { ...base, schedule: { cron: 'a', timezone: 'Asia/Tokyo' }, paused: true }
    const { retry: _, ...mine } = { ...base, schedule: { cron: 'b', timezone: 'UTC' } }
    const { text, both } = mergeInto(JSON.stringify(theirs), base, mine, theirs)
    expect(JSON.parse(text)).toEqual({ schedule: { cron: 'b', timezone: 'Asia/Tokyo' }, tags: ['x'], paused: true })
    expect(both).toEqual([])
  })

  it('keep members with the names of inherited ones apart', () => {
    const before = { payload: JSON.parse('{"toString":1,"__proto__":2,"constructor":3}') }
    const mine = { payload: JSON.parse('{"valueOf":4}') }
    expect(JSON.parse(mergeInto(JSON.stringify(before), before, mine, before).text)).toEqual(
      JSON.parse('{"payload":{"valueOf":4}}'),
    )
    expect(
      Object.keys(JSON.parse(mergeInto('{"payload":{}}', { payload: {} }, before, { payload: {} }).text).payload),
    ).toHaveLength(3)
  })

  it('name the fields that both changed', () => {
    const theirs = { ...base, tags: ['y'], retry: { maxAttempts: 5 }, schedule: { everyMs: 1 } }
    const mine = { ...base, tags: ['z'], retry: { maxAttempts: 5 }, schedule: { cron: 'b', timezone: 'UTC' } }
    const { text, both } = mergeInto(JSON.stringify(theirs), base, mine, theirs)
    expect(JSON.parse(text)).toMatchObject({ tags: ['z'], retry: { maxAttempts: 5 }, schedule: { cron: 'b' } })
    expect(both).toEqual(['schedule.cron', 'tags'])
  })
})
