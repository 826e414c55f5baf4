/** docker/compose.yaml is a compose file, and what it says of our services and their neighbors holds together. */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { afterAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { readConfig } from '../../src/ground/config/config.ts'
import { kafkaVersion, registryVersion } from '../../src/program/embedded/artifacts.ts'
import { topicNames, topicPlans } from '../../streams/topics/topics.ts'
import { filesIn, readHouseFile } from '../house/tree.ts'
import { composeFile, environmentIn, type Service } from './compose-file.ts'

const secretsFolder = mkdtempSync(join(tmpdir(), 'duelog-secrets-'))
writeFileSync(join(secretsFolder, 'api-tokens'), 'admin:secret-of-the-test\n')
afterAll(() => rmSync(secretsFolder, { recursive: true }))

const file = composeFile('docker/compose.yaml')
const small = composeFile('docker/compose.dev.yaml')
const everyService = [file, small].flatMap(({ services }) => Object.entries(services))
const services = Object.entries(file.services)
const ours = services.filter(([, { image }]) => image === 'duelog')
const brokers = services.filter(([name]) => /^kafka-\d$/.test(name))
const environmentOf = (service: Service): Record<string, string> =>
  // What the image sets, see docker/Dockerfile.
  ({ DUELOG_HTTP_HOST: '0.0.0.0', DUELOG_DATA_DIR: 'data', ...environmentIn(secretsFolder, service) })

describe('by the schema of the Compose Specification', () => {
  const { $schema: _, ...schema } = JSON.parse(readFileSync(new URL('compose-spec.json', import.meta.url), 'utf8'))
  const validate = new Ajv({ strict: false, validateFormats: false, allErrors: true }).compile(schema)

  test('the compose files are valid', () => {
    for (const each of [file, small]) {
      validate(each)
      expect(validate.errors).toBeNull()
    }
  })

  test('red: a misspelled key and a wrong type are found', () => {
    expect(validate({ services: { api: { image: 'duelog', comand: ['up'] } } })).toBe(false)
    expect(validate({ services: { api: { image: 'duelog', read_only: ['yes'] } } })).toBe(false)
  })
})

test('the file has the machines of a real cluster', () => {
  expect(brokers).toHaveLength(3)
  const roles = ours.map(
    ([, { environment, deploy }]) => `${deploy?.replicas ?? 1} ${environment?.DUELOG_ROLES} ${environment?.DUELOG_POOLS}`,
  )
  expect(roles).toEqual([
    '1 scheduler,retrier default,reports',
    '1 scheduler,retrier default,reports',
    '0 scheduler,retrier default,reports',
    '4 executor default',
    '2 executor reports',
    '1 history default,reports',
    '1 api default,reports',
  ])
})

test('every Duelog setting in the files exists, and the start is refused without tokens', () => {
  for (const [, service] of ours) {
    expect(readConfig(environmentOf(service)).replication).toBe(3)
    const { DUELOG_API_TOKENS_FILE: _, ...others } = environmentOf(service)
    expect(() => readConfig(others)).toThrow('DUELOG_API_TOKENS')
  }
  const alone = small.services.duelog as Service
  const { replication, roles } = readConfig(environmentOf(alone))
  expect(replication).toBe(1)
  for (const role of ['api', 'scheduler', 'executor', 'history'] as const) expect(roles).toContain(role)
})

test('secrets are files: no environment holds one, and each file is declared and given to its service', () => {
  for (const [name, { environment = {}, secrets = [] }] of everyService) {
    const named = Object.values(environment).flatMap((value) => /^\/run\/secrets\/(.+)$/.exec(value)?.[1] ?? [])
    // Prometheus reads no environment; its own file names its secret.
    expect(name === 'prometheus' ? ['metrics-token'] : named, name).toEqual(secrets)
    for (const secret of secrets) expect(file.secrets[secret]?.file).toBe(`./secrets/${secret}`)
    expect(Object.keys(environment).filter((key) => /TOKEN|PASSWORD|SECRET/.test(key) && !/_FILE$/.test(key))).toEqual([])
  }
  expect(everyService.filter(([, { secrets = [] }]) => secrets.includes('api-tokens'))).toHaveLength(ours.length + 1)
  expect(readHouseFile('.gitignore').text.split('\n')).toContain('docker/secrets/')
})

test('every container has a memory limit, no capability, and no way to gain one', () => {
  for (const [name, service] of everyService) {
    expect(service.mem_limit, name).toMatch(/^\d+[mg]$/)
    expect(service.cap_drop, name).toEqual(['ALL'])
    expect(service.security_opt, name).toEqual(['no-new-privileges:true'])
  }
  for (const [name, { image, read_only }] of everyService) if (image === 'duelog') expect(read_only, name).toBe(true)
})

test('a service starts when what it calls is healthy, and what is waited for has a health check', () => {
  const each = [file, small].flatMap(({ services }) =>
    Object.entries(services).map(([name, service]) => ({ name, service, services })),
  )
  for (const { name, service, services } of each) {
    const { depends_on = {} } = service
    const conditions = Array.isArray(depends_on) ? [] : Object.entries(depends_on)
    for (const [other, { condition }] of conditions) {
      if (condition === 'service_healthy') expect(services[other]?.healthcheck?.test, `${name} waits for ${other}`).toBeDefined()
      else expect(`${other} ${condition}`).toBe('registry-topic service_completed_successfully')
    }
  }
})

test('health checks are one text for the shell: Podman splits the words of an array again', () => {
  const checks = everyService.flatMap(([name, { healthcheck }]) => (healthcheck ? [{ name, ...healthcheck }] : []))
  expect(checks.map(({ name }) => name)).toEqual(['kafka-1', 'kafka-2', 'kafka-3', 'registry', 'kafka', 'registry'])
  for (const check of checks) expect([check.test[0], check.test.length], check.name).toEqual(['CMD-SHELL', 2])
})

test('the health check of the registry asks for its readiness, and believes only 200', async () => {
  const [, command = ''] = file.services.registry?.healthcheck?.test ?? []
  for (const [status, code] of [
    [200, 0],
    [503, 1],
  ] as const) {
    const paths: string[] = []
    const server = createServer((request, response) => {
      paths.push(request.url ?? '')
      response.writeHead(status).end()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    // The engine makes one dollar of two.
    const text = command.replace('/8080', `/${port}`).replaceAll('$$', '$')
    const child = spawn('/bin/sh', ['-c', text], { stdio: 'ignore' })
    const ended = await new Promise((resolve) => child.once('exit', resolve))
    await new Promise((resolve) => server.close(resolve))
    expect(ended).toBe(code)
    expect(paths).toEqual(['/health/ready'])
  }
})

test('Prometheus scrapes every process of ours, and it and Grafana have what lies in their folders', () => {
  const prometheus = parse(readHouseFile('docker/prometheus/prometheus.yml').text) as {
    rule_files: string[]
    scrape_configs: {
      job_name: string
      authorization?: { credentials_file: string }
      dns_sd_configs?: { names: string[]; port: number }[]
    }[]
  }
  const [duelog] = prometheus.scrape_configs.filter(({ job_name }) => job_name === 'duelog')
  expect(duelog?.dns_sd_configs?.[0]).toMatchObject({ names: ours.map(([name]) => name), port: 8080 })
  // /metrics refuses everyone without a token.
  expect(duelog?.authorization).toEqual({ credentials_file: '/run/secrets/metrics-token' })
  expect(file.services.prometheus?.secrets).toEqual(['metrics-token'])
  expect(file.services.prometheus?.volumes).toContain('./prometheus:/etc/prometheus:ro')
  expect(prometheus.rule_files).toEqual(['/etc/prometheus/alerts/*.yaml'])
  expect(file.services.grafana?.volumes).toEqual(
    expect.arrayContaining([
      './grafana/provisioning:/etc/grafana/provisioning:ro',
      './grafana/dashboards:/etc/grafana/dashboards:ro',
    ]),
  )
  const [provider] = (
    parse(readHouseFile('docker/grafana/provisioning/dashboards/duelog.yaml').text) as {
      providers: { options: { path: string } }[]
    }
  ).providers
  expect(provider?.options.path).toBe('/etc/grafana/dashboards')
  const [source] = (
    parse(readHouseFile('docker/grafana/provisioning/datasources/prometheus.yaml').text) as {
      datasources: { uid: string; url: string }[]
    }
  ).datasources
  expect(source).toMatchObject({ uid: 'prometheus', url: 'http://prometheus:9090' })
  for (const { path, text } of filesIn(['docker'], '.json')) expect(() => JSON.parse(text), path).not.toThrow()
})

test('owners and the history show other processes names of their own', () => {
  for (const [name, { environment, deploy }] of ours)
    if (deploy === undefined && /scheduler|history/.test(environment?.DUELOG_ROLES ?? ''))
      expect(environment?.DUELOG_ADVERTISED_URL).toBe(`http://${name}:8080`)
})

test('what can be scaled has no name, no named volume and no published port, which its containers would share', () => {
  const scaled = ours.filter(([, { deploy }]) => deploy !== undefined)
  expect(scaled.map(([name]) => name)).toEqual(['scheduler', 'executor-default', 'executor-reports'])
  for (const [name, { environment, volumes, ports, tmpfs = [] }] of scaled) {
    expect([environment?.DUELOG_ADVERTISED_URL, volumes, ports], name).toEqual([undefined, undefined, undefined])
    const data = environment?.DUELOG_DATA_DIR ?? ''
    expect(
      tmpfs.some((mount) => data.startsWith(`${mount.split(':')[0]}/`)),
      name,
    ).toBe(true)
  }
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
  const kafkas = everyService.filter(([name]) => /^kafka|^registry-topic$/.test(name))
  expect(kafkas).toHaveLength(5)
  for (const [, { image }] of kafkas) expect(image).toBe(`apache/kafka:${kafkaVersion}`)
  for (const { services } of [file, small])
    expect(services.registry?.image).toBe(`apicurio/apicurio-registry-kafkasql:${registryVersion}`)
})

test('dependencies and named volumes of each service exist', () => {
  for (const { services, volumes: known } of [file, small])
    for (const [name, { depends_on = {}, volumes = [] }] of Object.entries(services)) {
      const others = Array.isArray(depends_on) ? depends_on : Object.keys(depends_on)
      for (const other of others) expect(services, name).toHaveProperty([other])
      for (const volume of volumes.filter((each) => !each.startsWith('./')))
        expect(known, name).toHaveProperty([volume.split(':')[0] ?? ''])
    }
})

test('what owners, the history and the API keep survives their containers, and what those that scale keep does not', () => {
  for (const [name, { deploy, volumes = [] }] of ours)
    expect(volumes).toEqual(deploy !== undefined ? [] : [`${name}:/var/lib/duelog`])
})

test('no container leaves a nameless volume: each folder that its image declares is a named volume or in memory', () => {
  // The recipe of the stand-in declares what the real image declares.
  const recipes = { duelog: 'docker/Dockerfile', 'apache/kafka': 'test/docker/stand-ins/kafka/Dockerfile' }
  const declared = Object.entries(recipes).map(([image, path]) => {
    const [, text = ''] = /^VOLUME (.+)$/m.exec(readHouseFile(path).text) ?? []
    return { image, folders: text.startsWith('[') ? (JSON.parse(text) as string[]) : [text] }
  })
  expect(declared.map(({ folders }) => folders.length)).toEqual([1, 3])
  for (const [name, { image, volumes = [], tmpfs = [] }] of everyService) {
    const folders = declared.find((each) => each.image === image.replace(/:.*/, ''))?.folders ?? []
    const held = [...volumes.map((volume) => volume.split(':')[1]), ...tmpfs.map((mount) => mount.split(':')[0])]
    expect(held, name).toEqual(expect.arrayContaining(folders))
  }
})

test('nothing is reachable from outside the machine', () => {
  for (const [, { ports = [] }] of everyService) for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/)
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
