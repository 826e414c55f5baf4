import { expect, it } from 'vitest'
import {
  defaultOf,
  type FieldSchemas,
  fieldAt,
  numbersOf,
  resolved,
  withDefaults,
  withoutDefaults,
} from '../../src/clients/dashboard/model/definition-schema.ts'
import { openApiDocument } from '../../src/server/api/openapi/document.ts'
import { Chance } from '../../src/testing/simulation/chance.ts'
import {
  definitionFromJson,
  definitionToJson,
  withoutDefaults as serverWithoutDefaults,
} from '../../streams/definitions/index.ts'
import { randomDefinition } from '../streams/random-definition.ts'

const schemas = openApiDocument([]).components.schemas as FieldSchemas
const histories = 300

it('hides what has its default, as the command line does, and shows it again without a change', () => {
  for (let seed = 1; seed <= histories; seed++) {
    const definition = definitionToJson(randomDefinition(new Chance(seed), 1_700_000_000_000))
    const short = withoutDefaults(definition, schemas)
    expect(short, `seed ${seed}`).toEqual(serverWithoutDefaults(definition))
    // Also what a reader refuses, it refuses for the same reasons.
    expect(definitionFromJson(withDefaults(short, schemas)), `seed ${seed}`).toEqual(definitionFromJson(definition))
  }
})

it('leaves payloads alone, and fields that it does not know', () => {
  const given = { schedule: { cron: '0 9 * * *', timezone: 'UTC' }, target: { handler: 'a' }, later: { none: null } }
  const payload = { paused: false, none: null, retry: { jitter: 0 } }
  expect(withoutDefaults({ ...given, payload, contentType: 'application/json' }, schemas)).toEqual({
    ...{ ...given, schedule: { cron: '0 9 * * *' } },
    payload,
  })
  expect(withoutDefaults({ ...given, contentType: 'text/plain', payload: 'a' }, schemas)).toMatchObject({
    contentType: 'text/plain',
  })
  expect(withoutDefaults({ ...given, contentType: 'application/json' }, schemas)).toMatchObject({
    contentType: 'application/json',
  })
  expect(withDefaults({ ...given, payload }, schemas)).toMatchObject({
    payload,
    later: { none: null },
    paused: false,
    retry: { maxAttempts: 5 },
  })
})

it('knows each field by its path, also behind references and in lists', () => {
  expect(fieldAt(schemas, ['retry', 'backoff', 'exponential', 'factor'])).toMatchObject({ default: 2 })
  expect(fieldAt(schemas, ['catchUp'])?.enum).toEqual(['SKIP', 'LATEST', 'ALL'])
  expect(fieldAt(schemas, ['tags', 0])).toMatchObject({ type: 'string' })
  expect(defaultOf(fieldAt(schemas, ['retry']))).toMatchObject({ maxAttempts: 5 })
  const priority = fieldAt(schemas, ['priority'])
  expect(priority?.description).toContain('9 goes first')
  expect([resolved(schemas, priority)?.enum, numbersOf(schemas, priority)]).toEqual([
    ['HIGH', 'NORMAL', 'LOW'],
    [9, 8, 7, 6, 5, 4, 3, 2, 1, 0],
  ])
  expect(defaultOf(fieldAt(schemas, ['payload']))).toBeUndefined()
  for (const path of [['constructor'], ['retry', 'toString'], ['nothing', 'here']]) expect(fieldAt(schemas, path)).toBeUndefined()
})
