/** The targets of a definition: which are allowed, and their form in JSON. */
import { describe, expect, it } from 'vitest'
import { definitionFromJson, definitionToJson } from '../../../streams/definitions/definition-json.ts'
import { topicAllowance } from '../../../streams/topics/topics.ts'

const read = (target: unknown, more: object = {}) => definitionFromJson({ schedule: { delayMs: 0 }, target, ...more })
const refused = (target: unknown, more: object = {}): string => {
  const found = read(target, more)
  return found.ok ? 'taken' : found.problems.map(({ message }) => message).join(' ')
}

describe('a target', () => {
  it('is exactly one of handler, topic and http', () => {
    const [topic, http] = [{ name: 't' }, { url: 'https://example.org/' }]
    for (const target of [{ handler: 'a' }, { topic }, { http }, { http, pool: 'web' }]) expect(refused(target)).toBe('taken')
    expect(refused({ handler: 'a', topic })).toMatch(/target must have exactly one of .*; handler and topic are set/)
    expect(refused({ pool: 'web' })).toMatch(/none of them is set/)
  })
  it('has a pool only if a worker runs it', () => {
    expect(refused({ topic: { name: 't' }, pool: 'web' })).toMatch(/^target\.pool is "web", but it is allowed only with/)
  })
  it('has topic names that Kafka accepts', () => {
    for (const name of ['', 'a b', '..', 'x'.repeat(250)]) expect(refused({ topic: { name } })).toMatch(/target\.topic\.name/)
  })
  it('has URLs without a password, and no invalid or reserved headers', () => {
    const http = (more: object) => ({ http: { url: 'https://example.org/', ...more } })
    expect(refused(http({ url: 'ftp://example.org/' }))).toMatch(/target\.http\.url/)
    const password = refused(http({ url: 'https://user:secret@example.org/' }))
    expect(password).toMatch(/without user and password/)
    expect(password).not.toMatch(/secret/)
    // Everybody sees a reason, so it quotes nothing that may be a credential.
    for (const url of [
      'example.org/?key=secret',
      'HTTPS//secret',
      'mailto:secret',
      `https://${'x'.repeat(2_048)}/secret`,
      'http://s\ud800ecret/',
    ])
      expect(refused(http({ url }))).toMatch(/^target\.http\.url (?!.*s\S*ecret)/)
    for (const headers of [{ 'x-key': 's\ud800ecret' }, { 'x-key': ['secret'] }]) {
      expect(refused(http({ headers }))).toMatch(/^target\.http\.headers\["x-key"\] (?!.*s\S*ecret)/)
      expect(refused({ handler: 'h' }, { headers })).not.toMatch(/s\S*ecret/)
    }
    expect(refused(http({ method: 'get' }), { payload: 1 })).toMatch(/target\.http\.method is GET/)
    for (const name of ['bad name', 'Content-Length', 'Idempotency-Key', 'webhook-id', 'Host'])
      expect(refused(http({ headers: { [name]: 'x' } })), name).toMatch(/cannot be sent/)
    expect(refused(http({ headers: { 'x-mine': 'a\r\nb: c' } }))).toMatch(/cannot be sent/)
  })
  it('returns unchanged from JSON, keys and headers byte for byte', () => {
    const key = Buffer.from([255, 0])
    const json = {
      schedule: { delayMs: 0 },
      target: { topic: { name: 't', key: { base64: key.toString('base64') }, partition: 3 } },
      headers: { text: 'é', raw: { base64: key.toString('base64') } },
    }
    const found = definitionFromJson(json)
    if (!found.ok) throw new Error(found.problems[0]?.message)
    expect(found.definition.target.topic).toEqual({ name: 't', key, partition: 3 })
    expect(found.definition.headers.raw).toEqual(key)
    expect(definitionToJson(found.definition)).toMatchObject(json)
    expect(refused({ topic: { name: 't', key: { base64: '***' } } })).toMatch(/target\.topic\.key .* text, or {"base64"}/)
    expect(refused({ topic: { name: 't', key: 7 } })).toMatch(/target\.topic\.key is 7/)
  })
})

describe('the allow-list of topics', () => {
  it('accepts names and patterns, and never our own topics', () => {
    const allowed = topicAllowance(['orders', 'mail.*', '*-out'], 'duelog.')
    expect(['orders', 'mail.a', 'x-out'].map(allowed)).toEqual([true, true, true])
    expect(['orders2', 'mail', 'mailxa', 'duelog.x-out'].map(allowed)).toEqual([false, false, false, false])
    expect(topicAllowance(['*'], 'duelog.')('duelog.jobs')).toBe(false)
    expect(topicAllowance([], 'duelog.')('orders')).toBe(false)
  })
})
