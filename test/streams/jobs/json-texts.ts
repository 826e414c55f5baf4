/**
 * Random JSON texts with unusual numbers, escapes and white space. A reader may refuse none of them. A text that is only null
 * means no payload.
 */
import fc from 'fast-check'

const space = fc.constantFrom('', '', '', ' ', '\t', '\r\n', '\n  ')
const number = fc.oneof(
  fc.constantFrom('0', '-0', '1.10', '9007199254740993', '1e2', '1E+2', '123456789012345678901234567890', '5e-324', '0.1e-400'),
  fc.integer().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
)
const character = fc.oneof(
  fc.constantFrom('\\u0041', '\\/', '\\n', '\\ud83d\\ude00', '😀', 'ü', '\\\\', '\\"', '{', ':', ',', '\u2028', '\\u0000'),
  fc.string({ maxLength: 3 }).map((text) => JSON.stringify(text).slice(1, -1)),
)
const string = fc.array(character, { maxLength: 5 }).map((parts) => `"${parts.join('')}"`)

/** Names that would change the prototype of an object are refused on purpose. */
const names = fc
  .uniqueArray(string, {
    maxLength: 4,
    selector: (name) => JSON.parse(name) as string,
  })
  .map((all) => all.filter((name) => !/__proto__|constructor|prototype/.test(JSON.parse(name) as string)))

export const jsonTexts: fc.Arbitrary<string> = fc.letrec<{ value: string; list: string; object: string }>((tie) => ({
  value: fc.oneof({ maxDepth: 4 }, number, string, fc.constantFrom('true', 'false'), tie('list'), tie('object')),
  list: fc
    .array(fc.tuple(space, fc.oneof(fc.constant('null'), tie('value')), space), { maxLength: 4 })
    .map((items) => `[${items.map((item) => item.join('')).join(',')}]`),
  object: fc
    .tuple(names, fc.array(tie('value'), { minLength: 4, maxLength: 4 }), space, space)
    .map(([found, values, before, after]) => {
      return `{${found.map((name, index) => `${before}${name}${after}:${before}${values[index]}${after}`).join(',')}}`
    }),
})).value
