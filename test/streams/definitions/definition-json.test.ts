import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JobDefinition } from '../../../schemas/generated.ts'
import { withoutDefaults } from '../../../streams/definitions/defaults.ts'
import { completeDefinition, definitionFromJson, definitionToJson } from '../../../streams/definitions/definition-json.ts'
import { validateDefinition } from '../../../streams/definitions/validate.ts'
import { writeJson } from '../../../streams/text/json-text.ts'
import { anything } from '../jobs/samples.ts'

const base = { schedule: { delayMs: 0 }, target: { handler: 'noop' } }

function read(json: unknown, options?: Parameters<typeof definitionFromJson>[1]): JobDefinition {
  const result = definitionFromJson(json, options)
  if (!result.ok) throw new Error(result.problems.map(({ message }) => message).join('\n'))
  return result.definition
}
function refused(json: unknown, options?: Parameters<typeof definitionFromJson>[1]): string[] {
  const result = definitionFromJson(json, options)
  return result.ok ? [] : result.problems.map(({ message }) => message)
}

describe('a job in JSON', () => {
  it('reads the example of the contract', () => {
    const job = {
      id: 'report-7',
      schedule: { cron: '0 9 * * MON-FRI', timezone: 'Europe/Paris' },
      target: { handler: 'send-report', pool: 'default' },
      payload: { to: 'a@example.org' },
      priority: 'HIGH',
      tags: ['reports'],
      retry: { maxAttempts: 3, backoff: { linear: { stepMs: 300000 } } },
      overlap: 'SKIP',
      catchUp: 'LATEST',
    }
    const result = definitionFromJson(job)
    expect(result).toMatchObject({
      ok: true,
      id: 'report-7',
      definition: {
        schedule: { cron: '0 9 * * MON-FRI', timezone: 'Europe/Paris', at: null, everyMs: null, from: 'START' },
        contentType: 'application/json',
        priority: 'HIGH',
        retry: { maxAttempts: 3, jitter: 0, backoff: { list: [], fixed: null, linear: { stepMs: 300000 }, exponential: null } },
        overlap: 'SKIP',
        leaseMs: 30000,
      },
    })
    expect(String(read(job).payload)).toBe('{"to":"a@example.org"}')
  })
  it('fills every default from the schema', () => {
    expect(read(base)).toEqual(completeDefinition(base))
    expect(read(base).retry).toMatchObject({ maxAttempts: 5, backoff: { list: [1000, 5000, 30000, 120000, 600000] } })
    expect(read({ ...base, retry: { maxAttempts: 2 } }).retry.backoff.list).toHaveLength(5)
    expect(read({ ...base, retry: { backoff: { exponential: { baseMs: 5 } } } }).retry.backoff.exponential).toEqual({
      baseMs: 5,
      factor: 2,
      maxMs: 3_600_000,
    })
  })
  it('takes its id from the JSON or from the request, but accepts no two ids', () => {
    expect(definitionFromJson(base)).toMatchObject({ ok: true, id: undefined })
    expect(definitionFromJson(base, { id: 'a' })).toMatchObject({ ok: true, id: 'a' })
    expect(definitionFromJson({ ...base, id: 'a' }, { id: 'a' })).toMatchObject({ ok: true, id: 'a' })
    expect(refused({ ...base, id: 'b' }, { id: 'a' })).toEqual(['id is "b"; allowed: the id it was sent to, "a".'])
    expect(refused(base, { idRequired: true })).toEqual(['id is missing; it is required.'])
    expect(refused({ ...base, id: '' })[0]).toMatch(/job id "" is empty/)
    expect(refused({ ...base, id: 7 })).toEqual(['id is 7; allowed: text.'])
  })
  it('accepts times with an offset, or epoch ms', () => {
    const at = (value: unknown): number | null => read({ ...base, schedule: { at: value } }).schedule.at
    expect(at('2030-01-31T09:00:00+01:00')).toBe(Date.UTC(2030, 0, 31, 8))
    expect(at(1_900_000_000_000)).toBe(1_900_000_000_000)
    expect(refused({ ...base, schedule: { at: '2030-01-31T09:00:00' } })[0]).toMatch(
      /^schedule\.at is "2030-01-31T09:00:00"; allowed: .* with an offset/,
    )
    expect(refused({ ...base, startAt: '2030-02-30T09:00:00Z' })[0]).toMatch(/^startAt/)
    expect(refused({ ...base, schedule: { at: 1.5 } })[0]).toMatch(/whole numbers/)
    expect(read({ ...base, startAt: null }).startAt).toBeNull()
  })
  it('accepts enum symbols in lower case', () => {
    expect(read({ schedule: { everyMs: 1000, from: 'end' }, target: base.target, priority: 'low' })).toMatchObject({
      schedule: { from: 'END' },
      priority: 'LOW',
    })
    expect(refused({ ...base, priority: 'urgent' })).toEqual(['priority is "urgent"; allowed: HIGH, NORMAL, LOW.'])
  })
  it('refuses unknown fields, and suggests a name', () => {
    expect(refused({ ...base, retri: {} })).toEqual(['retri is not a known field; did you mean retry?'])
    expect(refused({ ...base, schedule: { everyMS: 1000 } })).toEqual([
      'schedule.everyMS is not a known field; did you mean everyMs?',
    ])
    expect(refused({ ...base, schedule: { rRule: 'FREQ=DAILY', weekly: 1 } })[1]).toMatch(
      /^schedule\.weekly is not a known field; allowed: at, delayMs/,
    )
    expect(refused({ ...base, target: { handler: 'a', 'x\u0000y': 1 } })[0]).toMatch(/"target\.x\\u0000y" is not a known field/)
  })
  it.each([
    [{ attempts: 5 }, 'attempts', 'retry.maxAttempts'],
    [{ retry: { attempts: 5 } }, 'retry.attempts', 'retry.maxAttempts'],
    [{ backoff: { fixed: { delayMs: 5 } } }, 'backoff', 'retry.backoff'],
    [{ tz: 'Europe/Paris' }, 'tz', 'schedule.timezone'],
    [{ schedule: { cron: '@daily', time_zone: 'Europe/Paris' } }, 'schedule.time_zone', 'timezone'],
    [{ cron: '@daily' }, 'cron', 'schedule.cron'],
    [{ handler: 'a' }, 'handler', 'target.handler'],
    [{ url: 'http://a' }, 'url', 'target.http.url'],
    [{ data: 1 }, 'data', 'payload'],
  ])('knows what other schedulers call a field: %j', (json, field, meant) => {
    expect(refused({ ...base, ...json })).toContain(`${field} is not a known field; did you mean ${meant}?`)
  })
  it('tells text from a number', () => {
    expect(refused({ ...base, leaseMs: '5000' })[0]).toMatch(/^leaseMs is "5000", text instead of a number; allowed: 1000 to/)
  })
  it('refuses times that are rather in seconds, and takes them in ISO 8601', () => {
    expect(refused({ ...base, schedule: { at: 1_900_000_000 } })[0]).toBe(
      'schedule.at is 1900000000, which is 1970-01-22T23:46:40.000Z in epoch milliseconds. In seconds it is 2030-03-17T17:46:40.000Z: multiply it by 1000, or write it in ISO 8601.',
    )
    expect(refused({ ...base, startAt: 1_900_000_000 })[0]).toMatch(/^startAt is 1900000000/)
    expect(read({ ...base, schedule: { at: '1970-01-22T23:46:40.000Z' } }).schedule.at).toBe(1_900_000_000)
    expect(read({ ...base, schedule: { at: 0 } }).schedule.at).toBe(0)
  })
  it('names missing fields', () => {
    expect(refused({})).toEqual(['schedule is missing; it is required.', 'target is missing; it is required.'])
    expect(refused({ ...base, target: {} })).toEqual([
      'target must have exactly one of handler, topic, http; none of them is set.',
    ])
    expect(refused({ ...base, schedule: null })).toEqual(['schedule is null; allowed: an object.'])
    for (const json of [null, [], 'job', 7, undefined]) expect(refused(json)[0]).toMatch(/allowed: a job as a JSON object/)
  })
  it('refuses two schedules', () => {
    expect(refused({ ...base, schedule: { at: 5, cron: '@daily' } })[0]).toMatch(/at and cron are set/)
  })
  it('an unknown field does not hide the rules between the others', () => {
    const twoSchedules = { target: base.target, schedule: { cron: '@daily', delayMs: 5 }, nope: 1 }
    expect(refused(twoSchedules)).toEqual([
      expect.stringMatching(/^nope is not a known field/),
      expect.stringMatching(/cron and delayMs are set|delayMs and cron are set/),
    ])
    // A field that cannot be read is left out, so the rules would tell of what is not there.
    expect(refused({ ...twoSchedules, schedule: 5 })).toHaveLength(2)
  })
  it('does not let keys change prototypes', () => {
    const hostile =
      JSON.parse(`{"schedule":{"delayMs":0,"__proto__":{"polluted":1}},"target":{"handler":"a"},"__proto__":{"polluted":1},
      "constructor":{"prototype":{"polluted":1}},"headers":{"__proto__":"x"}}`) as unknown
    const found = refused(hostile)
    expect(found).toHaveLength(4)
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
    const plain = read({ ...base, headers: JSON.parse('{"constructor":"x","toString":"y"}') as unknown })
    expect(Object.keys(plain.headers)).toEqual(['constructor', 'toString'])
  })
  it('reports a bounded number of problems of a hostile document', () => {
    const many = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`field${index}`, 1]))
    expect(refused({ ...base, ...many }).length).toBeLessThan(60)
    expect(refused({ ...base, target: many }).length).toBeLessThan(60)
  })
})

describe('a payload', () => {
  const payload = (job: object): [string | null, string | null] => {
    const definition = read({ ...base, ...job })
    return [definition.payload === null ? null : definition.payload.toString('latin1'), definition.contentType]
  }
  it('is any JSON value', () => {
    expect(payload({ payload: { a: [1, 'é'] } })).toEqual([Buffer.from('{"a":[1,"é"]}').toString('latin1'), 'application/json'])
    expect(payload({ payload: 'text' })).toEqual(['"text"', 'application/json'])
    expect(payload({ payload: 0 })).toEqual(['0', 'application/json'])
    expect(payload({ payload: false })).toEqual(['false', 'application/json'])
    expect(payload({ payload: null })).toEqual([null, null])
    expect(payload({ payload: 'text', contentType: 'application/problem+json; charset=utf-8' })[0]).toBe('"text"')
  })
  it('is unchanged text if another media type says so', () => {
    expect(payload({ payload: 'a,b', contentType: 'text/csv' })).toEqual(['a,b', 'text/csv'])
    expect(refused({ ...base, payload: { a: 1 }, contentType: 'text/csv' })[0]).toMatch(
      /^payload is an object; allowed: text with the media type "text\/csv"/,
    )
  })
  it('is bytes in base64', () => {
    expect(payload({ payloadBase64: '/wA=' })).toEqual(['\u00ff\u0000', null])
    expect(payload({ payloadBase64: '', contentType: 'image/png' })).toEqual(['', 'image/png'])
    for (const wrong of ['/wA', '****', 7, 'a'.repeat(5)])
      expect(refused({ ...base, payloadBase64: wrong })[0]).toMatch(/^payloadBase64 .* base64/)
    expect(refused({ ...base, payload: 1, payloadBase64: '' })[0]).toMatch(/both set/)
  })
  it('is refused over the limit of the schema', () => {
    expect(refused({ ...base, payload: 'x'.repeat(524_287) })).toEqual([
      'payload has 524289 bytes; allowed: at most 524288 bytes.',
    ])
  })
  it('is refused when it cannot be JSON', () => {
    const cyclic: Record<string, unknown> = {}
    cyclic.self = cyclic
    for (const payload of [cyclic, 1n, () => 1, Symbol('s')])
      expect(refused({ ...base, payload })[0]).toMatch(/allowed: a JSON value/)
  })
  it('is refused if JSON.stringify would write something else', () => {
    for (const payload of [Number.NaN, { a: [Number.POSITIVE_INFINITY, null] }])
      expect(refused({ ...base, payload })[0]).toContain('NaN and Infinity are none')
    for (const payload of ['\ud800', { a: '\udfff' }, { '\ud800': 1 }])
      expect(refused({ ...base, payload })[0]).toContain('lone surrogates')
    expect(refused({ ...base, payload: '\ud800', contentType: 'text/plain' })[0]).toContain('payload')
    expect(read({ ...base, payload: { a: null, b: '\\ud800' } }).payload?.toString()).toBe('{"a":null,"b":"\\\\ud800"}')
  })
  it('is returned unchanged, or as base64 if it would be refused', () => {
    const shown = (text: string | Buffer, contentType: string | null): Record<string, unknown> =>
      JSON.parse(writeJson({ shown: definitionToJson(completeDefinition({ ...base, payload: Buffer.from(text), contentType })) }))
        .shown as Record<string, unknown>
    for (const text of ['{ "a": 1.0 }', '{"id":12345678901234567890}', '{"b":1,"1":-0}', '"\\u0041"', ' [1]\n']) {
      const definition = completeDefinition({ ...base, payload: Buffer.from(text), contentType: 'application/json' })
      expect(writeJson(definitionToJson(definition))).toContain(`"payload":${text}`)
    }
    for (const text of ['{"id":1e999}', '{"a":1,"a":2}', '"\\ud800"', '['.repeat(200) + ']'.repeat(200)])
      expect(shown(text, 'application/json')).toMatchObject({ payloadBase64: Buffer.from(text).toString('base64') })
    expect(shown('{"id":"12345678901234567890"}', 'application/json')).toMatchObject({ payload: { id: '12345678901234567890' } })
    expect(shown('{broken', 'application/json')).toMatchObject({ payloadBase64: expect.any(String) as string })
    expect(shown('null', 'application/json')).toMatchObject({ payloadBase64: 'bnVsbA==' })
    expect(shown(Buffer.from([255]), 'text/plain')).toMatchObject({ payloadBase64: '/w==' })
    expect(shown('a', null)).toMatchObject({ payloadBase64: 'YQ==' })
    expect(shown('a', 'text/plain')).toMatchObject({ payload: 'a' })
  })
})

describe('a definition as JSON', () => {
  it('has times in UTC and omits fields that are not set', () => {
    const definition = read({
      ...base,
      schedule: { at: 1_900_000_000_000 },
      endAt: '2031-01-01T00:00:00+01:00',
      headers: { 'x-a': 'ü' },
    })
    const json = definitionToJson(definition)
    expect(json).toMatchObject({
      schedule: { at: '2030-03-17T17:46:40.000Z' },
      endAt: '2030-12-31T23:00:00.000Z',
      headers: { 'x-a': 'ü' },
    })
    expect(json.schedule).toEqual({ at: '2030-03-17T17:46:40.000Z' })
    for (const absent of ['payload', 'payloadBase64', 'contentType', 'startAt', 'maxRuns', 'tags'])
      expect(json).not.toHaveProperty(absent)
  })
  it('reads back as the same definition', () => {
    const schedule = fc.oneof(
      fc.record({ at: fc.integer({ min: 10_000_000_000, max: 8_640_000_000_000_000 }) }),
      fc.record({ delayMs: fc.nat() }),
      fc.record({
        everyMs: fc.integer({ min: 100, max: 1e9 }),
        anchor: fc.option(fc.nat({ max: 999_999_999 })),
        from: fc.constantFrom('START', 'END'),
      }),
      fc.record({ cron: fc.constantFrom('@daily', '0 9 * * MON-FRI'), timezone: fc.constantFrom('UTC', 'Europe/Paris') }),
    )
    const payload = fc.oneof(
      fc.constant({}),
      fc.record({ payload: fc.jsonValue() }),
      fc.record({ payload: fc.string(), contentType: fc.constantFrom('text/plain', 'application/json') }),
      fc.record({
        payloadBase64: fc.uint8Array().map((bytes) => Buffer.from(bytes).toString('base64')),
        // JSON in bytes comes back as the same value, but not with the same spelling.
        contentType: fc.option(fc.constantFrom('text/plain', 'image/png')),
      }),
    )
    const backoff = fc.constantFrom(
      { list: [0, 5] },
      { fixed: { delayMs: 5 } },
      { linear: { stepMs: 7 } },
      { exponential: { baseMs: 1, factor: 1.5 } },
    )
    const rest = fc.record(
      {
        retry: fc.record(
          // With 1 the others have no effect and are refused (without-effect.test.ts).
          { maxAttempts: fc.integer({ min: 2, max: 9 }), backoff, jitter: fc.constantFrom(0, 0.25, 1) },
          { requiredKeys: [] },
        ),
        headers: fc.dictionary(
          fc.string().filter((name) => name !== '__proto__'),
          fc.string(),
          { maxKeys: 5 },
        ),
        tags: fc.array(fc.string({ maxLength: 20 }), { maxLength: 3 }),
        paused: fc.boolean(),
        maxRuns: fc.option(fc.integer({ min: 1 })),
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(schedule, payload, rest, (schedule, payload, rest) => {
        const definition = read({ schedule, target: base.target, ...payload, ...rest })
        expect(validateDefinition(definition)).toEqual([])
        const again = read(JSON.parse(JSON.stringify(definitionToJson(definition))))
        expect(again).toEqual(definition)
        const short = withoutDefaults(definitionToJson(definition))
        expect(read(JSON.parse(JSON.stringify(short)))).toEqual(definition)
        expect(short).not.toHaveProperty('priority')
      }),
      { numRuns: 2000 },
    )
  })
})

describe('any JSON input', () => {
  it('is read without a throw, and the result is valid', () => {
    const names = [
      'id',
      'schedule',
      'target',
      'payload',
      'payloadBase64',
      'contentType',
      'headers',
      'retry',
      'tags',
      'startAt',
      'priority',
      '__proto__',
      'nonsense',
    ]
    const inner = fc.oneof(
      anything(),
      fc.jsonValue(),
      fc.constantFrom<unknown>(
        { delayMs: 0 },
        { cron: '@daily' },
        { handler: 'a' },
        { backoff: { fixed: { delayMs: 1 } } },
        '2030-01-01T00:00:00Z',
        'HIGH',
      ),
    )
    const wild = fc
      .array(fc.tuple(fc.constantFrom(...names), inner), { maxLength: 6 })
      .map((entries) => ({ ...base, ...Object.fromEntries(entries) }))
    let accepted = 0
    fc.assert(
      fc.property(fc.oneof({ weight: 9, arbitrary: wild }, anything(), fc.jsonValue()), (json) => {
        const result = definitionFromJson(json)
        if (result.ok) {
          accepted++
          expect(validateDefinition(result.definition)).toEqual([])
          expect(() => JSON.stringify(definitionToJson(result.definition))).not.toThrow()
        } else {
          expect(result.problems.length).toBeGreaterThan(0)
        }
      }),
      { numRuns: 20_000 },
    )
    expect(accepted).toBeGreaterThan(500)
  })
})
