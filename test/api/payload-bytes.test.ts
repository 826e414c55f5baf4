/** Payloads in JSON through the API: stored and shown as the bytes that were sent, or refused. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JobCommand, JobDefinition } from '../../schemas/generated.ts'
import { payloadOf } from '../../src/worker/executor/handlers/handler.ts'
import { jsonTexts } from '../streams/jobs/json-texts.ts'
import { codecs, createSystem } from './system-in-memory.ts'

const headers = { 'content-type': 'application/json' }
const about = '"schedule":{"at":"2031-01-01T12:00:00Z"},"target":{"handler":"noop"}'
type System = ReturnType<typeof createSystem>

const storedIn = (system: System): string | undefined => {
  const value = system.log.written.at(-1)?.value
  return value == null ? undefined : (codecs.definition.decode(value as Buffer) as JobDefinition).payload?.toString()
}
const put = (system: System, id: string, payload: string) =>
  system.api.instance.inject({ method: 'PUT', url: `/v1/jobs/${id}`, headers, payload })

describe('a JSON payload', () => {
  it('is stored, shown and written back byte for byte, whatever its numbers, escapes and white space', async () => {
    await using system = createSystem()
    await fc.assert(
      fc.asyncProperty(jsonTexts, async (text) => {
        expect((await put(system, 'a', `{ ${about} , "payload" :\n${text} , "priority":"HIGH"}`)).statusCode).toBeLessThan(300)
        expect(storedIn(system)).toBe(text)
        const shown = (await system.api.instance.inject('/v1/jobs/a')).body
        expect(shown).toContain(`"payload":${text}`)
        const { definition } = JSON.parse(shown) as { definition: object }
        expect(definition).toMatchObject({ payload: JSON.parse(text), priority: 'HIGH' })
        // Like a client that handles text only.
        const from = shown.indexOf('"definition":') + '"definition":'.length
        expect((await put(system, 'a', shown.slice(from, -1))).statusCode).toBeLessThan(300)
        expect(storedIn(system)).toBe(text)
        expect(payloadOf(Buffer.from(text), 'application/json')).toEqual(JSON.parse(text))
      }),
      { numRuns: 150 },
    )
  })
  it('that is not UTF-8, from another producer, fails its run; it would be another text', () => {
    expect(() => payloadOf(Buffer.from('"caf\xe9"', 'latin1'), 'application/json')).toThrow('not JSON')
  })
  it('is stored byte for byte by POST, by lines and by trigger', async () => {
    await using system = createSystem()
    const text = '{ "n": 9007199254740993, "p": 1.10, "e": "\\u0041" }'
    await system.api.instance.inject({ method: 'POST', url: '/v1/jobs', headers, payload: `{${about},"payload":${text}}` })
    expect(storedIn(system)).toBe(text)
    const batch = await system.api.instance.inject({
      method: 'POST',
      url: '/v1/jobs/batch',
      headers: { 'content-type': 'application/x-ndjson' },
      payload: `{"id":"b","payload": ${text} ,${about}}\r\n`,
    })
    expect(batch.statusCode).toBe(200)
    expect(storedIn(system)).toBe(text)
    await system.api.instance.inject({ method: 'POST', url: '/v1/jobs/b/trigger', headers, payload: `{"payload":${text}}` })
    const command = codecs.command.decode(system.log.written.at(-1)?.value as Buffer) as JobCommand
    expect(command.payload?.toString()).toBe(text)
  })
  it('is text if the media type says so, and null is no payload', async () => {
    await using system = createSystem()
    await put(system, 'a', `{${about},"contentType":"text/plain","payload":"\\u0041\\/ü"}`)
    expect(storedIn(system)).toBe('A/ü')
    await put(system, 'a', `{${about},"payload": null }`)
    expect(storedIn(system)).toBeUndefined()
  })
  it('is compared by its bytes in a plan', async () => {
    await using system = createSystem()
    await put(system, 'a', `{${about},"payload":{"n":1.10}}`)
    const planned = async (payload: string): Promise<object> => {
      const body = `{"jobs":[{"id":"a",${about},"payload":${payload}}]}`
      const answer = await system.api.instance.inject({ method: 'POST', url: '/v1/jobs/plan', headers, payload: body })
      return (answer.json() as { jobs: [object] }).jobs[0]
    }
    expect(await planned('{"n":1.10}')).toMatchObject({ action: 'UNCHANGED' })
    for (const other of ['{"n":1.1}', '{ "n":1.10}'])
      expect(await planned(other)).toMatchObject({ action: 'UPDATE', changed: ['payload'] })
  })
})

describe('ambiguous JSON', () => {
  it.each([
    ['a name twice in the payload', `{${about},"payload":{"a":{"b":1,"b":2}}}`, 'payload.a.b'],
    ['a name twice in the definition', `{${about},"priority":"LOW","priority":"HIGH"}`, 'priority'],
    ['a number out of range', `{${about},"payload":[1,1e400]}`, 'payload[1]'],
    ['half of a character in a tag', `{${about},"tags":["\\ud800"]}`, 'tags[0]'],
    ['half of a character in a name', `{${about},"payload":{"\\udc00":1}}`, 'payload["\\udc00"]'],
    ['a depth of 200,000', `{${about},"payload":${'['.repeat(200_000)}${']'.repeat(200_000)}}`, 'payload'],
  ])('is refused with its position: %s', async (_what, body, field) => {
    await using system = createSystem()
    const answer = await put(system, 'a', body)
    expect(answer.statusCode).toBe(400)
    const { code, problems } = answer.json() as { code: string; problems: { field: string }[] }
    expect(code).toBe('bad-request')
    expect(problems[0]?.field.startsWith(field)).toBe(true)
    const lines = await system.api.instance.inject({
      method: 'POST',
      url: '/v1/jobs/batch',
      headers: { 'content-type': 'application/x-ndjson' },
      payload: `{"id":"b",${body.slice(1)}\n`,
    })
    expect(lines.json()).toMatchObject({ ok: false, code: 'bad-request', problems: [{ field: problems[0]?.field }] })
    expect(system.log.written).toEqual([])
  })
  it('is refused in an id', async () => {
    await using system = createSystem()
    const lines = await system.api.instance.inject({
      method: 'POST',
      url: '/v1/jobs/batch',
      headers: { 'content-type': 'application/x-ndjson' },
      payload: `{"id":"\\ud800",${about}}\n`,
    })
    expect(lines.json()).toMatchObject({ ok: false, code: 'bad-request', problems: [{ field: 'id' }] })
  })
})
