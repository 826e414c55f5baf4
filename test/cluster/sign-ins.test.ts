import { expect, it } from 'vitest'
import { clusterIn } from '../../src/cli/commands/cluster.ts'

const env = {
  ...{ KAFKA_BROKERS: 'broker:9093', SCHEMA_REGISTRY_URL: 'https://registry:8081', KAFKA_SSL_ENABLED: 'true' },
  ...{ KAFKA_SASL_MECHANISM: 'scram-sha-512', KAFKA_SASL_USERNAME: 'me', KAFKA_SASL_PASSWORD: 'hidden' },
  ...{ SCHEMA_REGISTRY_USERNAME: 'us', SCHEMA_REGISTRY_PASSWORD: 'secret' },
}

it('commands sign in to brokers and registry with all that the settings say', () => {
  expect(clusterIn(env, 'duelog-test')).toMatchObject({
    brokers: ['broker:9093'],
    clientId: 'duelog-test',
    sasl: { mechanism: 'scram-sha-512', username: 'me', password: 'hidden' },
    ssl: {},
    registryAuth: { username: 'us', password: 'secret' },
  })
})

it('commands without sign-ins have none', () => {
  const { sasl, ssl, registryAuth, registrySsl } = clusterIn({}, 'duelog-test')
  expect([sasl, ssl, registryAuth, registrySsl]).toEqual([undefined, undefined, undefined, undefined])
})
