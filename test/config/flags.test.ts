import { expect, test } from 'vitest'
import { readConfig } from '../../src/ground/config/config.ts'
import { environmentOf, flagsFromSchema, settings } from '../../src/ground/config/settings.ts'

test('every setting of the system but secrets is a flag with its description and default', () => {
  const flags = flagsFromSchema()
  expect(flags.map(({ env }) => env)).toEqual(
    settings.filter(({ client, secret }) => client !== true && secret !== true).map(({ name }) => name),
  )
  expect(new Set(flags.map(({ name }) => name)).size).toBe(flags.length)
  expect(flags.find(({ name }) => name === '--http-port')).toEqual({
    name: '--http-port',
    key: 'httpPort',
    env: 'DUELOG_HTTP_PORT',
    argument: '<integer>',
    description: 'Port of the HTTP server. 0: any free port.',
    default: 8080,
  })
  expect(flags.find(({ env }) => env === 'KAFKA_BROKERS')).toMatchObject({ name: '--kafka-brokers', argument: '<string>' })
  expect(flags.find(({ env }) => env === 'KAFKA_SSL_ENABLED')).toMatchObject({ argument: '[boolean]', default: false })
})

test('flags go before the environment', () => {
  const env = { DUELOG_HTTP_PORT: '1', DUELOG_LOG_LEVEL: 'warn' }
  const flags = environmentOf({ httpPort: '2', topicPrefix: undefined, other: 'x' })
  expect(flags).toEqual({ DUELOG_HTTP_PORT: '2' })
  expect(readConfig({ ...env, ...flags })).toMatchObject({ httpPort: 2, logLevel: 'warn' })
})
