import { expect, test } from 'vitest'
import { expressionsIn, notLinear } from './expressions.ts'
import { filesIn } from './tree.ts'

const house = [...filesIn(['schemas', 'streams', 'src']), ...filesIn(['schemas'], '.json', '.avsc')]

/** Expressions made of the `pattern` of a schema, which is among those that are checked. */
const ofSchemas = [
  'src/clients/library/option-checks.ts',
  'streams/definitions/cross-field-rules.ts',
  'streams/definitions/validate.ts',
]

test('every regular expression of the program takes linear time for every text', async () => {
  const found = house.map(expressionsIn)
  const expressions = found.flatMap((file) => file.expressions)
  expect(expressions.length).toBeGreaterThan(150)
  expect(await notLinear(expressions)).toEqual([])
  const computed = found.flatMap((file) => file.computed).map((place) => place.replace(/:\d+$/, ''))
  expect([...new Set(computed)]).toEqual(ofSchemas)
})

test('an expression of quadratic or exponential time is found in code and in schemas', async () => {
  const code = {
    path: 'a.ts',
    text: 'const a = /^(.*)@(.*):(\\d+)$/\nconst b = new RegExp("(a|a)*$")\nnew RegExp(`${a}`)\nexport const d = /^[a-z]{1,64}$/',
  }
  const schema = { path: 'a.avsc', text: '{ "fields": [{ "pattern": "^(a+)+$" }, { "pattern": "^[a-z]+$" }] }' }
  const inCode = expressionsIn(code)
  expect(inCode.computed).toEqual(['a.ts:3'])
  expect(await notLinear([...inCode.expressions, ...expressionsIn(schema).expressions])).toEqual([
    'a.ts:1 /^(.*)@(.*):(\\d+)$/ polynomial',
    'a.ts:2 /(a|a)*$/ exponential',
    'a.avsc /^(a+)+$/ exponential',
  ])
})
