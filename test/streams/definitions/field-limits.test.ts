import { describe, expect, it } from 'vitest'
import type { AvroRecord } from '../../../schemas/avro-schema.ts'
import * as schemas from '../../../schemas/generated.ts'
import { limitChecker } from '../../../streams/definitions/validate.ts'
import { limitCases, sampleRecord, withValue } from '../jobs/schema-samples.ts'

const records = Object.entries(schemas).filter(([name]) => name.endsWith('Schema')) as [string, AvroRecord][]

describe.each(records)('the limits of %s', (_, schema) => {
  const check = limitChecker(schema)
  const sample = sampleRecord(schema)

  it('accept a sample of every field', () => {
    expect(check(sample)).toEqual([])
  })
  const cases = limitCases(schema)
  if (cases.length === 0) return
  it.each(cases.map((one): [string, typeof one] => [one.title, one]))('hold at %s', (_, { path, passing, failing }) => {
    expect(check(withValue(sample, path, passing))).toEqual([])
    const problems = check(withValue(sample, path, failing))
    expect(problems).toHaveLength(1)
    const [problem] = problems
    expect(problem?.field.startsWith(path)).toBe(true)
    expect(problem?.message).toContain(`; allowed: ${problem?.limit}.`)
    expect(problem?.message.startsWith(problem?.field ?? '?')).toBe(true)
  })
})

it('the test finds the limits that it must cover', () => {
  const titles = limitCases(schemas.jobDefinitionSchema).map(({ title }) => title)
  expect(titles).toEqual(
    expect.arrayContaining([
      'schedule.everyMs minimum',
      'retry.backoff.exponential.factor maximum',
      'tags maxLength',
      'headers maxEntries',
      'payload maxBytes',
    ]),
  )
  expect(titles.length).toBeGreaterThan(60)
})

describe('a schema made for the purpose', () => {
  const check = limitChecker({
    type: 'record',
    name: 'Probe',
    fields: [
      { name: 'whole', type: 'int' },
      { name: 'big', type: 'long', unit: 'ms', minimum: 5 },
      { name: 'share', type: ['null', 'double'] },
      {
        name: 'list',
        type: { type: 'array', items: { type: 'record', name: 'Inner', fields: [{ name: 'x', type: 'long', maximum: 9 }] } },
      },
      { name: 'again', type: ['null', 'Inner'] },
      { name: 'headers', type: { type: 'map', values: 'bytes' }, maxBytes: 10 },
    ],
  })
  const good = { whole: 1, big: 5, share: null, list: [], again: null, headers: {} }
  const messages = (change: object): string[] => check({ ...good, ...change }).map(({ message }) => message)

  it('names path, value, unit and what is allowed', () => {
    expect(messages({ big: 4 })).toEqual(['big is 4 ms; allowed: 5 to 9007199254740991 ms.'])
    expect(messages({ list: [{ x: 1 }, { x: 10 }] })).toEqual(['list[1].x is 10; allowed: -9007199254740991 to 9.'])
    expect(messages({ again: { x: 'no' } })).toEqual([
      'again.x is "no", text instead of a number; allowed: -9007199254740991 to 9.',
    ])
    expect(messages({ headers: { key: Buffer.alloc(8) } })).toEqual(['headers has 11 bytes; allowed: at most 10 bytes.'])
    expect(messages({ headers: { key: 'text' } })).toEqual(['headers["key"] does not have the allowed form: bytes.'])
    expect(messages({ whole: 1.5 })).toEqual(['whole is 1.5; allowed: whole numbers, -2147483648 to 2147483647.'])
    expect(messages({ whole: undefined })).toEqual(['whole is missing; allowed: -2147483648 to 2147483647.'])
  })
  it('refuses values that are no number', () => {
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, '1', null, {}, [], true, 1n]) {
      expect(messages({ whole: value }), String(value)).toHaveLength(1)
      expect(messages({ big: value }), String(value)).toHaveLength(1)
    }
    expect(messages({ share: Number.NaN })).toHaveLength(1)
  })
  it('reports a bounded number of problems', () => {
    const problems = check({ ...good, list: Array.from({ length: 10_000 }, () => ({ x: 10 })) })
    expect(problems.length).toBe(50)
    expect(problems.at(-1)?.field).toBe('list[49].x')
  })
})
