/** Secrets among the settings: how they are given, what they must be, and that no message repeats one. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { readConfig } from '../../src/ground/config/config.ts'
import { settings } from '../../src/ground/config/settings.ts'

const folder = mkdtempSync(join(tmpdir(), 'duelog-secrets-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function refusal(env: Record<string, string>): string {
  try {
    readConfig(env)
  } catch (error) {
    expect(error).toMatchObject({ code: 'bad-config' })
    return (error as Error).message
  }
  throw new Error('it was taken')
}

describe('API tokens', () => {
  test.each([
    ['admin:hidden', 1],
    ['viewer:0123456789abcdef,admin:hidden-89abcde', 2],
    ['viewer:0123456789abcdef, operator.ci:hidden', 2],
    ['viewer:hidden-89abcdef', 1],
  ])('with fewer than 16 characters are refused by their place: %s', (value, place) => {
    const message = refusal({ DUELOG_API_TOKENS: value })
    expect(message).toMatch(new RegExp(`DUELOG_API_TOKENS .*item ${place} .*at least 16 characters`))
    expect(message).not.toMatch(/hidden|--api-tokens/)
  })

  test.each(['local', 'LOCAL', 'peer', 'duelog', 'admin', 'viewer'])(
    'with the name %s, which stands for others, are refused',
    (name) => {
      const message = refusal({ DUELOG_API_TOKENS: `viewer.${name}:hidden-0123456789` })
      expect(message).toMatch(/DUELOG_API_TOKENS has a name in its item 1/)
      expect(message).not.toContain('hidden')
    },
  )
})

describe('secrets in files', () => {
  const file = (name: string, text: string): string => {
    const path = join(folder, name)
    writeFileSync(path, text)
    return path
  }
  const secrets = settings.filter(({ secret }) => secret === true).map(({ name }) => name)

  test('are those that are secret', () => {
    expect(secrets).toEqual(
      expect.arrayContaining([
        'KAFKA_SASL_PASSWORD',
        'SCHEMA_REGISTRY_PASSWORD',
        'DUELOG_HTTP_SIGNING_KEY',
        'DUELOG_API_TOKENS',
        'DUELOG_TOKEN',
      ]),
    )
  })

  test('are read without the line end, tokens one a line as well', () => {
    const path = file('tokens', 'viewer:0123456789abcdef\r\nadmin.eve:0123456789abcdeg\n')
    const { apiTokens, given } = readConfig({ DUELOG_API_TOKENS_FILE: path })
    expect(apiTokens).toMatchObject([{ token: '0123456789abcdef' }, { token: '0123456789abcdeg', name: 'eve' }])
    expect(given).toEqual({ DUELOG_API_TOKENS_FILE: path })
    const key = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
    expect(readConfig({ DUELOG_HTTP_SIGNING_KEY_FILE: file('key', `${key}\n`) }).httpSigningKey).toBe(key)
    const sasl = { KAFKA_BROKERS: 'a:1', KAFKA_SASL_MECHANISM: 'plain', KAFKA_SASL_USERNAME: 'me' }
    expect(readConfig({ ...sasl, KAFKA_SASL_PASSWORD_FILE: file('password', ' a b \r\n\n') }).sasl).toMatchObject({
      password: ' a b ',
    })
  })

  test('with certificates or a key have a limit too', () => {
    const env = { KAFKA_BROKERS: 'a:1', KAFKA_SSL_ENABLED: 'true' }
    expect(refusal({ ...env, KAFKA_SSL_CA_FILE: '/dev/zero' })).toMatch(/KAFKA_SSL_CA_FILE .*more than 4194304 bytes/)
  })

  test.each(secrets)('%s is not given twice', (name) => {
    const message = refusal({ [name]: 'hidden-0123456789', [`${name}_FILE`]: file('twice', 'hidden') })
    expect(message).toBe(`${name}_FILE and ${name} are both set; leave one of them out.`)
  })

  test('that are empty, too long, absent or of the wrong form are refused without what they hold', () => {
    const refused = (path: string): string => refusal({ DUELOG_API_TOKENS_FILE: path })
    expect(refused(file('empty', '\n'))).toMatch(/DUELOG_API_TOKENS_FILE .*which is empty/)
    expect(refused(file('long', `admin:hidden-${'x'.repeat(70_000)}`))).toMatch(/cannot be read \(it has more than 65536 bytes\)/)
    expect(refused('/dev/zero')).toMatch(/more than 65536 bytes/)
    expect(refused(join(folder, 'absent'))).toMatch(/DUELOG_API_TOKENS_FILE \(--api-tokens-file\) is .*cannot be read/)
    for (const text of ['hidden', 'admin:hidden']) {
      const message = refused(file('wrong', text))
      expect(message).toMatch(/DUELOG_API_TOKENS (is not|has a token)/)
      expect(message).not.toContain('hidden')
    }
  })
})

describe('an address with a password', () => {
  test.each([
    ['SCHEMA_REGISTRY_URL', 'https://me:hidden@registry:8081'],
    ['SCHEMA_REGISTRY_URL', 'https://hidden@registry:8081'],
    ['SCHEMA_REGISTRY_URL', 'htps://me:hidden@registry:8081'],
    ['DUELOG_JWT_JWKS_URL', 'https://me:hidden@id.example.org/keys'],
    ['DUELOG_ADVERTISED_URL', 'https://me:hidden@duelog.example.org'],
    ['KAFKA_BROKERS', 'me:hidden@broker:9092'],
  ])('%s is refused, and not repeated', (name, value) => {
    const message = refusal({ [name]: value })
    expect(message).toContain(name)
    expect(message).not.toContain('hidden')
  })

  test('of the registry has its name and password apart, both or none', () => {
    const url = { SCHEMA_REGISTRY_URL: 'http://registry:8081' }
    expect(refusal({ ...url, SCHEMA_REGISTRY_USERNAME: 'me' })).toMatch(/SCHEMA_REGISTRY_USERNAME .*must be set together/)
    expect(refusal({ SCHEMA_REGISTRY_USERNAME: 'me', SCHEMA_REGISTRY_PASSWORD: 'x' })).toMatch(/is for a registry of your own/)
  })
})
