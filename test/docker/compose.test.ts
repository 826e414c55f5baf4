/** docker/compose.yaml is a compose file, and what it says of our services and their neighbors holds together. */
import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import { describe, expect, test } from 'vitest'
import { readConfig } from '../../src/config/config.ts'
import { kafkaVersion, registryVersion } from '../../src/embedded/artifacts.ts'
import { topicNames, topicPlans } from '../../streams/topics/topics.ts'
import { composeFile, type Service } from './compose-file.ts'

const file = composeFile({ DUELOG_API_TOKENS: 'admin:secret-of-the-test' })
const services = Object.entries(file.services)
const ours = services.filter(([, { image }]) => image === 'duelog')
const brokers = services.filter(([name]) => /^kafka-\d$/.test(name))
const environmentOf = ({ environment = {} }: Service): Record<string, string> =>
  // What the image sets, see docker/Dockerfile.
  ({ DUELOG_HTTP_HOST: '0.0.0.0', DUELOG_DATA_DIR: 'data', ...environment })

describe('by the schema of the Compose Specification', () => {
  const { $schema: _, ...schema } = JSON.parse(readFileSync(new URL('compose-spec.json', import.meta.url), 'utf8'))
  const validate = new Ajv({ strict: false, validateFormats: false, allErrors: true }).compile(schema)

  test('the compose file is valid', () => {
    validate(file)
    expect(validate.errors).toBeNull()
  })

  test('red: a misspelled key and a wrong type are found', () => {
    expect(validate({ services: { api: { image: 'duelog', comand: ['up'] } } })).toBe(false)
    expect(validate({ services: { api: { image: 'duelog', read_only: ['yes'] } } })).toBe(false)
  })
})

test('the file has the machines of a real cluster', () => {
  expect(brokers).toHaveLength(3)
  const roles = ours.map(([, { environment }]) => `${environment?.DUELOG_ROLES} ${environment?.DUELOG_POOLS}`)
  expect(roles).toEqual([
    'scheduler,retrier default,reports',
    'scheduler,retrier default,reports',
    'executor default',
    'executor reports',
    'history default,reports',
    'api default,reports',
  ])
})

test('every Duelog setting in the file exists, and the start is refused without tokens', () => {
  for (const [, service] of ours) expect(readConfig(environmentOf(service)).replication).toBe(3)
  expect(() => composeFile({})).toThrow('DUELOG_API_TOKENS is missing')
})

test('owners and the history show other processes names of their own', () => {
  for (const [name, { environment }] of ours)
    if (/scheduler|history/.test(environment?.DUELOG_ROLES ?? ''))
      expect(environment?.DUELOG_ADVERTISED_URL).toBe(`http://${name}:8080`)
})

test('each broker knows all controllers, and has its own name', () => {
  const voters = brokers.map(([name, { environment }]) => `${environment?.KAFKA_NODE_ID}@${name}:9093`).join()
  const addresses = brokers.map(([name]) => `${name}:9092`).join()
  for (const [name, { environment = {} }] of brokers) {
    expect(environment.KAFKA_CONTROLLER_QUORUM_VOTERS).toBe(voters)
    expect(environment.KAFKA_ADVERTISED_LISTENERS).toBe(`PLAINTEXT://${name}:9092`)
    expect(environment.CLUSTER_ID).toMatch(/^[\w-]{22}$/)
  }
  for (const [, { environment }] of ours) expect(environment?.KAFKA_BROKERS).toBe(addresses)
  expect(file.services.registry?.environment?.KAFKA_BOOTSTRAP_SERVERS).toBe(addresses)
  expect(file.services['registry-topic']?.command).toContain(`--bootstrap-server=${addresses}`)
})

test('one broker may be down: every topic has a second in-sync replica, also the internal topics of Kafka', () => {
  for (const [, { environment = {} }] of brokers) {
    const settings = Object.entries(environment)
    const copies = settings.filter(([name]) => name.endsWith('REPLICATION_FACTOR'))
    const inStep = settings.filter(([name]) => /MIN_(ISR|INSYNC_REPLICAS)$/.test(name))
    expect(copies.map(([, value]) => value)).toEqual(['3', '3', '3', '3'])
    expect(inStep.map(([, value]) => value)).toEqual(['2', '2', '2'])
  }
})

test('the versions are those that the tests use', () => {
  for (const [, { image }] of [...brokers, ...services.filter(([name]) => name === 'registry-topic')])
    expect(image).toBe(`apache/kafka:${kafkaVersion}`)
  expect(file.services.registry?.image).toBe(`apicurio/apicurio-registry-kafkasql:${registryVersion}`)
})

test('dependencies and named volumes of each service exist', () => {
  for (const [name, { depends_on = {}, volumes = [] }] of services) {
    for (const other of Object.keys(depends_on)) expect(file.services, name).toHaveProperty([other])
    for (const volume of volumes) expect(file.volumes, name).toHaveProperty([volume.split(':')[0] ?? ''])
  }
})

test('what owners and the history keep survives their containers', () => {
  for (const [name, { environment, volumes = [] }] of ours)
    if (/scheduler|history/.test(environment?.DUELOG_ROLES ?? '')) expect(volumes).toEqual([`${name}:/var/lib/duelog`])
})

test('nothing is reachable from outside the machine', () => {
  for (const [, { ports = [] }] of services) for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/)
})

test('a stopping service has more time than its handlers', () => {
  for (const [, service] of ours) {
    expect(parseInt(service.stop_grace_period ?? '0', 10) * 1_000).toBeGreaterThan(
      readConfig(environmentOf(service)).drainMs + 10_000,
    )
  }
})

test('owners create the topics of every pool that an executor serves', () => {
  const topicsOf = (service: Service): string[] =>
    topicPlans(topicNames('duelog.'), readConfig(environmentOf(service)).pools).map(({ topic }) => topic)
  const owners = ours.filter(([name]) => name.startsWith('scheduler'))
  for (const [, owner] of owners)
    for (const [, service] of ours) expect(topicsOf(owner)).toEqual(expect.arrayContaining(topicsOf(service)))
})
