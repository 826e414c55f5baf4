import { expect, it } from 'vitest'
import { jobDefinitionSchema } from '../../../schemas/index.ts'
import { completeDefinition } from '../../../streams/definitions/index.ts'
import { handlerOf, isByOwner, kindsByWorkers, poolOf, targetKinds, targetWords } from '../../../streams/targets/index.ts'

const targetOf = (target: object) => completeDefinition({ schedule: { at: 0 }, target } as never).target

it('has a row for each kind that a definition may have', () => {
  const target = jobDefinitionSchema.fields.find(({ name }) => name === 'target')?.type as unknown as {
    fields: { name: string }[]
  }
  const kinds = target.fields.map(({ name }) => name).filter((name) => name !== 'pool')
  expect(targetKinds.map(([name]) => name)).toEqual(kinds)
})

it('tells which targets a worker does, with which handler and in which pool', () => {
  const targets = [{ handler: 'mail' }, { http: { url: 'https://a' } }, { topic: { name: 't' } }].map(targetOf)
  expect(targets.map((target) => [isByOwner(target), handlerOf(target), poolOf(target)])).toEqual([
    [false, 'mail', 'default'],
    [false, 'http', 'default'],
    [true, null, null],
  ])
  expect(kindsByWorkers).toEqual(['handler', 'http'])
})

it('describes what runs in one line', () => {
  expect([{ handler: 'mail' }, { topic: { name: 't' } }, { http: { url: 'https://a' } }, {}].map(targetWords)).toEqual([
    'mail',
    'topic t',
    'POST https://a',
    '',
  ])
  expect(targetWords({ http: { url: 'https://a', method: 'GET' } })).toBe('GET https://a')
})
