/** Classification of a version at one of our subjects, by its contents only. */
import { expect, test } from 'vitest'
import { schemaTexts } from '../../../schemas/texts.ts'
import { standingOf } from '../../../src/log/kafka/avro/schema-ownership.ts'

const ours = schemaTexts['job-definition']
interface Schema {
  fields: { name: string; type: unknown; default?: unknown }[]
}
const parsed = (): Schema => JSON.parse(ours) as Schema
const without = (...names: string[]): string => {
  const schema = parsed()
  return JSON.stringify({ ...schema, fields: schema.fields.filter(({ name }) => !names.includes(name)) })
}
const later = (): string => {
  const schema = parsed()
  return JSON.stringify({ ...schema, fields: [...schema.fields, { name: 'later', type: ['null', 'string'], default: null }] })
}
const look = (...schemas: string[]) => {
  const { versions, isRegistered } = standingOf(
    's',
    schemas.map((schema, index) => ({ version: index + 1, id: index + 100, schema })),
    ours,
  )
  return { isRegistered, standings: versions.map(({ standing }) => standing), reasons: versions.map(({ reason }) => reason) }
}

test('versions before and after ours, and other texts of ours, are not removed', () => {
  const { standings, isRegistered } = look(without('jitterMs'), ours, JSON.stringify(parsed()), later())
  expect(standings).toEqual(['earlier', 'ours', 'ours', 'later'])
  expect(isRegistered).toBe(true)
})

test('a version without a field that has a default is foreign after ours, and an earlier release before it', () => {
  expect(look(ours, without('jitterMs')).standings).toEqual(['ours', 'foreign'])
  expect(look(without('jitterMs'))).toMatchObject({ standings: ['earlier'], isRegistered: false })
})

test('a version without a field that has no default is always foreign, and so are other types and other texts', () => {
  expect(look(without('target'), ours, without('target'))).toMatchObject({ standings: ['foreign', 'ours', 'foreign'] })
  expect(look(without('target')).reasons[0]).toContain('JobDefinition.target')
  const numbers = parsed()
  for (const field of numbers.fields) if (field.name === 'schedule') field.type = 'long'
  expect(look(JSON.stringify(numbers), '"string"', 'nonsense').standings).toEqual(['foreign', 'foreign', 'foreign'])
})
