import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { clusterIn } from '../../src/program/cli/commands/cluster.ts'

const folder = mkdtempSync(join(tmpdir(), 'duelog-sign-ins-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const [kafkaCa, registryCa] = [join(folder, 'kafka.pem'), join(folder, 'registry.pem')]
writeFileSync(kafkaCa, 'authority of the brokers')
writeFileSync(registryCa, 'authority of the registry')

const env = {
  ...{ KAFKA_BROKERS: 'broker:9093', KAFKA_SSL_ENABLED: 'true', KAFKA_SSL_CA_FILE: kafkaCa },
  ...{ KAFKA_SASL_MECHANISM: 'scram-sha-512', KAFKA_SASL_USERNAME: 'me', KAFKA_SASL_PASSWORD: 'hidden' },
  ...{ SCHEMA_REGISTRY_URL: 'https://registry:8081', SCHEMA_REGISTRY_CA_FILE: registryCa },
  ...{ SCHEMA_REGISTRY_USERNAME: 'us', SCHEMA_REGISTRY_PASSWORD: 'secret' },
}

it('commands sign in to brokers and registry with all that the settings say', async () => {
  expect(await clusterIn(env, 'duelog-test')).toMatchObject({
    brokers: ['broker:9093'],
    clientId: 'duelog-test',
    sasl: { mechanism: 'scram-sha-512', username: 'me', password: 'hidden' },
    ssl: { caFile: kafkaCa },
    registryAuth: { username: 'us', password: 'secret' },
    registrySsl: { caFile: registryCa },
  })
})

it('commands without sign-ins have none', async () => {
  const { sasl, ssl, registryAuth, registrySsl } = await clusterIn({}, 'duelog-test')
  expect([sasl, ssl, registryAuth, registrySsl]).toEqual([undefined, undefined, undefined, undefined])
})
