/** The Helm chart, rendered by Helm itself: its objects are valid, its pods start with settings that Duelog accepts, and hold their rules. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { checkServerIdentity } from 'node:tls'
import { ScaledObject } from '@kubernetes-models/keda/keda.sh/v1alpha1'
import { PrometheusRule, ServiceMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1'
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { parse } from 'yaml'
import { readConfig } from '../../src/ground/config/config.ts'
import { ChartTools, type KubernetesObject } from './chart.ts'
import { files, least, most, settings, strange } from './chart-values.ts'

/** The oldest and the newest version that it is checked for. */
const versions = ['1.30', '1.37']

let tools: ChartTools
let folder: string
let ofLeast: KubernetesObject[]
let ofMost: KubernetesObject[]
beforeAll(async () => {
  tools = await ChartTools.install()
  ofLeast = await tools.render(least)
  ofMost = await tools.render(most)
  folder = await mkdtemp(join(tmpdir(), 'duelog-chart-files-'))
}, 300_000)
afterAll(async () => {
  await tools?.remove()
  await rm(folder, { recursive: true, force: true })
})

const isOfKubernetes = ({ apiVersion }: KubernetesObject): boolean => !/keda|coreos/.test(apiVersion)
const podsOf = (objects: KubernetesObject[]): { name: string; object: KubernetesObject; pod: KubernetesObject['spec'] }[] =>
  objects
    .filter(({ spec }) => spec?.template !== undefined)
    .map((object) => ({ name: object.metadata.name, object, pod: object.spec.template.spec }))

/** Of secrets that have a form. */
const contents: Record<string, string> = {
  DUELOG_API_TOKENS_FILE: 'admin:a-token-of-the-chart',
  DUELOG_HISTORY_URL_FILE: 'postgres://duelog@db/duelog',
}

/** The environment of a pod as Kubernetes makes it. Files of secrets are written below the folder of the test. */
async function environmentOf(pod: KubernetesObject['spec']): Promise<Record<string, string>> {
  const address = (pod.containers[0].env as { name: string }[])[0]
  expect(address).toEqual({ name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } })
  const environment: Record<string, string> = {}
  for (const { name, value } of pod.containers[0].env.slice(1)) {
    if (value === undefined) continue
    expect(typeof value, name).toBe('string')
    environment[name] = value.replace('$(POD_IP)', environment.DUELOG_HTTP_HOST === '::' ? 'fd00::7' : '10.1.2.3')
  }
  const mounted = pod.volumes.find(({ name }: { name: string }) => name === 'files').projected.sources
  const paths = mounted.map(({ secret }: { secret: { items: { path: string }[] } }) => secret.items[0]?.path)
  for (const [name, value] of Object.entries(environment)) {
    if (!/^\/etc\/duelog\/(files|https)\//.test(value)) continue
    if (value.startsWith('/etc/duelog/files/')) expect(paths).toContain(value.slice('/etc/duelog/files/'.length))
    environment[name] = join(folder, name)
    await writeFile(environment[name], `${contents[name] ?? 'content'}\n`)
  }
  return environment
}

describe.each([
  ['least', least],
  ['most', most],
])('with the %s values', (_, values) => {
  const rendered = (): KubernetesObject[] => (values === most ? ofMost : ofLeast)

  it('Helm finds nothing wrong, and all objects are valid', async () => {
    await tools.lint(values)
    const objects = rendered()
    for (const version of versions) expect(await tools.problems(objects.filter(isOfKubernetes), version)).toBe('')
    for (const object of objects.filter(({ kind }) => kind === 'ScaledObject')) new ScaledObject(object as never).validate()
    for (const object of objects.filter(({ kind }) => kind === 'ServiceMonitor')) new ServiceMonitor(object as never).validate()
    for (const object of objects.filter(({ kind }) => kind === 'PrometheusRule')) new PrometheusRule(object as never).validate()
    const names = objects.map(({ kind, metadata: { name } }) => `${kind} ${name}`)
    expect(new Set(names).size).toBe(names.length)
  })

  it('Duelog accepts the settings of each pod', async () => {
    const objects = rendered()
    const roles: Record<string, string[]> = {}
    for (const { name, pod } of podsOf(objects)) {
      const config = readConfig(await environmentOf(pod))
      roles[name] = [...config.roles]
      const names = pod.containers[0].env.map((entry: { name: string }) => entry.name)
      expect(new Set(names).size, name).toBe(names.length)
      expect(config.brokers).toEqual(['b-1:9092', 'b-2:9092'])
      expect(config.apiTokens).toHaveLength(1)
      expect(config.advertisedUrl).toBe(values === most ? 'http://[fd00::7]:8080' : 'http://10.1.2.3:8080')
    }
    expect(roles).toMatchObject({
      'duelog-scheduler': ['scheduler', 'retrier'],
      'duelog-api': ['api'],
      'duelog-pool-default': ['executor'],
    })
  })

  it('no pod has rights, and each ends in time', async () => {
    const objects = rendered()
    for (const { name, pod } of podsOf(objects)) {
      expect(pod.securityContext, name).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } })
      expect(pod.automountServiceAccountToken).toBe(false)
      for (const container of pod.containers) {
        expect(container.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        })
        expect(container.resources.limits.memory).toBeDefined()
      }
      if (pod.restartPolicy === 'Never') continue
      // The process closes its data folder to others. It may do so with a folder that it makes, not with the volume.
      const { mountPath } = pod.containers[0].volumeMounts.find((mount: { name: string }) => mount.name === 'data')
      expect(dirname(readConfig(await environmentOf(pod)).dataDir)).toBe(mountPath)
      const [{ readinessProbe, livenessProbe, lifecycle }] = pod.containers
      expect([readinessProbe.httpGet.path, livenessProbe.httpGet.path]).toEqual(['/readyz', '/livez'])
      // Requests still come for some seconds after a pod has begun to end.
      expect(lifecycle?.preStop.exec.command, name).toEqual(name === 'duelog-api' ? ['sleep', '5'] : undefined)
      const { drainMs } = readConfig(await environmentOf(pod))
      const pauseMs = lifecycle === undefined ? 0 : 5_000
      expect(pod.terminationGracePeriodSeconds * 1_000, name).toBeGreaterThanOrEqual(pauseMs + drainMs + 30_000)
    }
  })

  it('each part has pods that its selectors meet, and one disruption at a time', async () => {
    const objects = rendered()
    const workloads = objects.filter(({ kind }) => kind === 'StatefulSet' || kind === 'Deployment')
    const budgets = objects.filter(({ kind }) => kind === 'PodDisruptionBudget')
    for (const { spec, metadata } of workloads) {
      const { labels } = spec.template.metadata
      expect(labels).toMatchObject(spec.selector.matchLabels)
      const own = budgets.filter(({ spec: { selector } }) =>
        Object.entries(selector.matchLabels).every(([key, value]) => labels[key] === value),
      )
      expect(
        own.map(({ spec: budget }) => [budget.maxUnavailable, budget.unhealthyPodEvictionPolicy]),
        metadata.name,
      ).toEqual([[1, metadata.name === 'duelog-scheduler' ? undefined : 'AlwaysAllow']])
    }
  })
})

test('a pool that follows its load has no fixed number of pods', async () => {
  const objects = ofMost
  const deployment = objects.find(
    ({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'duelog-pool-night-reports-9f0f52a5',
  )
  expect(deployment?.spec).not.toHaveProperty('replicas')
  expect(deployment?.spec.template.spec.containers[0].image).toBe('example/reports:3')
  const scaled = objects.find(({ kind }) => kind === 'ScaledObject')
  expect(scaled?.spec).toMatchObject({
    scaleTargetRef: { name: deployment?.metadata.name },
    minReplicaCount: 0,
    maxReplicaCount: 12,
  })
  const [{ metadata: trigger }] = scaled?.spec.triggers ?? []
  expect(await readFile(new URL('../../docs/METRICS.md', import.meta.url), 'utf8')).toContain(
    '| `duelog_pool_workers_wanted` | gauge | `pool` |',
  )
  // Of this system alone, as Prometheus may have several.
  expect(trigger.query).toBe('max(duelog_pool_workers_wanted{job="duelog-jobs-duelog",pool="night_reports"})')
  // Nobody measures: the pool keeps its pods.
  expect(trigger.ignoreNullValues).toBe('false')
  expect(scaled?.spec.fallback).toMatchObject({ replicas: 1, behavior: 'currentReplicasIfHigher' })
  expect(readConfig(await environmentOf(deployment?.spec.template.spec))).toMatchObject({
    pools: ['night_reports'],
    concurrency: 5,
    drainMs: 600_000,
    runsRetentionMs: 7_776_000_000,
  })
})

test('the alert rules are those of the compose file', async () => {
  const objects = ofMost
  const { spec } = objects.find(({ kind }) => kind === 'PrometheusRule') as KubernetesObject
  const rules = parse(await readFile(new URL('../../docker/prometheus/alerts/duelog.yaml', import.meta.url), 'utf8'))
  expect(spec).toEqual(rules)
  expect(spec.groups.length).toBeGreaterThan(0)
})

test('metrics of one system are one job of Prometheus, with the token of a viewer', () => {
  const { spec } = ofMost.find(({ kind }) => kind === 'ServiceMonitor') as KubernetesObject
  const service = ofMost.find(({ kind, metadata }) => kind === 'Service' && metadata.name === 'duelog-pods') as KubernetesObject
  expect(service.metadata.labels).toMatchObject(spec.selector.matchLabels)
  expect(spec.endpoints).toMatchObject([
    {
      path: '/metrics',
      authorization: { credentials: { name: 'duelog-tokens', key: 'viewer' } },
      relabelings: [{ targetLabel: 'job', replacement: 'duelog-jobs-duelog' }],
    },
  ])
})

describe('with HTTPS', () => {
  const values = { ...least, https: { secret: 'duelog-tls' }, serviceMonitor: { enabled: true } }
  let objects: KubernetesObject[]
  beforeAll(async () => {
    objects = await tools.render(values)
  })

  it('all objects are valid, and each pod serves, is asked and is measured by HTTPS', async () => {
    await tools.lint(values)
    for (const version of versions) expect(await tools.problems(objects.filter(isOfKubernetes), version)).toBe('')
    const monitor = objects.find(({ kind }) => kind === 'ServiceMonitor') as KubernetesObject
    new ServiceMonitor(monitor as never).validate()
    expect(monitor.spec.endpoints).toMatchObject([{ scheme: 'https', tlsConfig: { ca: { secret: { name: 'duelog-tls' } } } }])
    for (const { name, object, pod } of podsOf(objects)) {
      const environment = pod.containers[0].env.filter((entry: { name: string }) => /HTTPS/.test(entry.name))
      const values = environment.map((entry: { value: string }) => entry.value)
      if (object.kind === 'Job') {
        expect(values).toEqual([])
        continue
      }
      expect(values, name).toEqual(['tls.crt', 'tls.key', 'ca.crt'].map((file) => `/etc/duelog/https/${file}`))
      expect(pod.containers[0].volumeMounts).toContainEqual({ name: 'https', mountPath: '/etc/duelog/https', readOnly: true })
      expect(pod.volumes.find((volume: { name: string }) => volume.name === 'https').secret.secretName).toBe('duelog-tls')
      const { startupProbe, livenessProbe, readinessProbe } = pod.containers[0]
      for (const probe of [startupProbe, livenessProbe, readinessProbe]) expect(probe.httpGet.scheme).toBe('HTTPS')
    }
  })

  it('a certificate with the names of the page is that of each host which processes, callers and Prometheus call', async () => {
    const page = await readFile(new URL('../../docs/how-to/kubernetes.md', import.meta.url), 'utf8')
    const [, names = ''] = /dnsNames: \[(.*)\]/.exec(page) ?? []
    const given = names.split(',').map((name) => `DNS:${name.replace(/[ "]/g, '')}`)
    const certificate = { subject: {}, subjectaltname: given.join(', ') }
    const isOf = (host: string): boolean => checkServerIdentity(host, certificate as never) === undefined
    const parts = podsOf(objects).filter(({ object }) => object.kind === 'StatefulSet')
    for (const { name, object, pod } of parts) {
      const { value } = pod.containers[0].env.find((entry: { name: string }) => entry.name === 'DUELOG_ADVERTISED_URL')
      const { protocol, hostname } = new URL(value.replace('$(POD_NAME)', `${name}-0`))
      expect([protocol, isOf(hostname)], hostname).toEqual(['https:', true])
      // Kubernetes gives the pod that name only below the Service of its set, in the namespace of the release.
      expect(hostname).toBe(`${name}-0.${object.spec.serviceName}.jobs.svc`)
    }
    expect(parts.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['duelog-scheduler', 'duelog-auditor', 'duelog-history']),
    )
    const monitor = objects.find(({ kind }) => kind === 'ServiceMonitor') as KubernetesObject
    const { tlsConfig } = monitor.spec.endpoints[0]
    expect([isOf(tlsConfig.serverName), isOf('duelog.other.svc')]).toEqual([true, false])
    const service = objects.find(({ kind, metadata }) => kind === 'Service' && metadata.name === 'duelog')
    expect(tlsConfig.serverName).toBe(`${service?.metadata.name}.jobs.svc`)
  })

  it('a public authority needs no file of its own', async () => {
    const rendered = JSON.stringify(await tools.render({ ...values, https: { secret: 'duelog-tls', ca: false } }))
    expect(rendered).toContain('tls.crt')
    expect(rendered).not.toContain('ca.crt')
  })
})

test('the values of the page are accepted', async () => {
  const page = await readFile(new URL('../../docs/how-to/kubernetes.md', import.meta.url), 'utf8')
  const blocks = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text]) => parse(text as string))
  const values = Object.assign({}, ...blocks.filter((block) => block.apiVersion === undefined))
  const objects = await tools.render(values)
  expect(await tools.problems(objects.filter(isOfKubernetes), versions[0] as string)).toBe('')
  for (const { pod } of podsOf(objects)) readConfig(await environmentOf(pod))
  expect(objects.map(({ kind }) => kind)).toEqual(
    expect.arrayContaining(['StatefulSet', 'ScaledObject', 'ServiceMonitor', 'PrometheusRule']),
  )
})

test('a pool that follows its load says which metrics are its own, and when it gets smaller', async () => {
  const pools = [{ name: 'a', autoscaling: { min: 1, max: 3, cooldownSeconds: 60 } }]
  const keda = { labels: { cluster: 'eu "1"' }, authentication: 'prometheus', authModes: 'bearer' }
  const objects = await tools.render({ ...least, pools, keda })
  const { spec } = objects.find(({ kind }) => kind === 'ScaledObject') as KubernetesObject
  expect(spec.triggers[0].metadata.query).toBe('max(duelog_pool_workers_wanted{cluster="eu \\"1\\"",pool="a"})')
  expect(spec.triggers[0]).toMatchObject({ metadata: { authModes: 'bearer' }, authenticationRef: { name: 'prometheus' } })
  const { scaleDown } = spec.advanced.horizontalPodAutoscalerConfig.behavior
  expect([spec.cooldownPeriod, scaleDown.stabilizationWindowSeconds]).toEqual([60, 60])
})

test('topics are created before the first process starts, in all pools', async () => {
  const objects = ofMost
  const job = objects.find(({ kind }) => kind === 'Job') as KubernetesObject
  expect(job.metadata.annotations).toMatchObject({ 'helm.sh/hook': 'pre-install,pre-upgrade' })
  expect(job.spec.template.spec.containers[0].args).toEqual(['topics', 'apply'])
  // Helm waits for a hook for 5 minutes.
  expect(job.spec.activeDeadlineSeconds).toBeLessThan(300)
  expect(job.spec.template.metadata).toMatchObject({ labels: most.podLabels, annotations: most.podAnnotations })
  const { tolerations, nodeSelector, priorityClassName } = most.schedulers
  expect(job.spec.template.spec).toMatchObject({ tolerations, nodeSelector, priorityClassName })
  // Its account and its policy are there before it, and it is no pod of the other policies.
  const before = objects.filter(({ metadata }) => Number(metadata.annotations?.['helm.sh/hook-weight']) < 0)
  expect(before.map(({ kind, metadata: { name } }) => [kind, name])).toEqual(
    expect.arrayContaining([
      ['ServiceAccount', job.spec.template.spec.serviceAccountName],
      ['NetworkPolicy', 'duelog-topics'],
    ]),
  )
  const policies = objects.filter(({ kind }) => kind === 'NetworkPolicy')
  const own = policies.filter(({ spec }) =>
    Object.entries(spec.podSelector.matchLabels).every(([key, value]) => job.spec.template.metadata.labels[key] === value),
  )
  expect(own.map(({ spec, metadata: { name } }) => [name, spec.policyTypes, spec.ingress, spec.egress])).toEqual([
    ['duelog-topics', ['Ingress', 'Egress'], undefined, most.networkPolicy.egress],
  ])
  expect(readConfig(await environmentOf(job.spec.template.spec)).pools).toEqual(['default', 'night_reports'])
  expect((await tools.render({ ...most, createTopics: false })).filter(({ kind }) => kind === 'Job')).toEqual([])
})

test('accounts of the release have the role of the cloud, and one that exists is taken as it is', async () => {
  const accounts = ofMost.filter(({ kind }) => kind === 'ServiceAccount')
  expect(accounts.map(({ metadata: { name } }) => name).sort()).toEqual(['duelog', 'duelog-topics'])
  for (const { metadata } of accounts) expect(metadata.annotations).toMatchObject(most.serviceAccount.annotations)
  const objects = await tools.render({ ...least, serviceAccount: { create: false, name: 'jobs' } })
  expect(objects.filter(({ kind }) => kind === 'ServiceAccount')).toEqual([])
  const used = podsOf(objects).map(({ pod }) => pod.serviceAccountName)
  expect([...new Set(used)]).toEqual(['jobs'])
})

test('a cluster may choose the users of pods itself', async () => {
  const nobody = { runAsUser: null, runAsGroup: null, fsGroup: null }
  const usersOf = async (values: object): Promise<unknown[]> => {
    const contexts = podsOf(await tools.render(values)).map(({ pod: { securityContext: given } }) => [
      given.runAsNonRoot,
      given.runAsUser,
      given.runAsGroup,
      given.fsGroup,
    ])
    return [...new Set(contexts.map((context) => JSON.stringify(context)))]
  }
  expect(await usersOf(least)).toEqual(['[true,1000,1000,1000]'])
  expect(await usersOf({ ...least, runAs: nobody })).toEqual(['[true,null,null,null]'])
})

test('an entry of a part counts more than one of all pods, and that more than a setting', async () => {
  const configOf = async (name: string) =>
    readConfig(await environmentOf(podsOf(ofMost).find((pod) => pod.name === name)?.pod as KubernetesObject['spec']))
  const reports = 'duelog-pool-night-reports-9f0f52a5'
  expect((await configOf('duelog-scheduler')).logLevel).toBe('debug')
  expect((await configOf('duelog-api')).logLevel).toBe('warn')
  expect((await configOf('duelog-api')).sasl).toMatchObject({ username: 'duelog' })
  expect((await configOf(reports)).sasl).toMatchObject({ username: 'reports' })
  const { pod } = podsOf(ofMost).find(({ name }) => name === reports) as { pod: KubernetesObject['spec'] }
  expect(pod.containers[0].image).toBe('example/reports:3')
  expect(pod.containers[0].volumeMounts).toContainEqual({ name: 'fonts', mountPath: '/app/fonts' })
  expect(pod.volumes).toContainEqual({ name: 'fonts', configMap: { name: 'fonts' } })
})

test('a secret with parts is in these alone', () => {
  const having = podsOf(ofMost).filter(({ pod }) => JSON.stringify(pod).includes('DUELOG_HISTORY_URL'))
  expect(having.map(({ name }) => name)).toEqual(['duelog-history'])
  expect(JSON.stringify(having[0]?.pod.volumes)).toContain('"path":"DUELOG_HISTORY_URL"')
})

test('an image is named by its digest, if there is one', () => {
  const pod = podsOf(ofMost).find(({ name }) => name === 'duelog-api')?.pod
  expect(pod.containers[0].image).toBe(`registry.example/duelog@${most.image.digest}`)
})

/** A setting that only some roles take would stop the pods of the others. */
test('each setting of the values is accepted by all pods, or refused by all', async () => {
  const schema = JSON.parse(await readFile(new URL('../../docker/helm/duelog/values.schema.json', import.meta.url), 'utf8'))
  const environments = await Promise.all(podsOf(ofLeast).map(async ({ pod }) => environmentOf(pod)))
  const accepted = (environment: Record<string, string>): string => {
    try {
      readConfig(environment)
      return 'accepted'
    } catch (error) {
      return (error as Error).message
    }
  }
  const texts = ['1', '1000', 'true', 'http://example.com', 'a', 'A=b', '60000', 'x.y', '10.0.0.0/8']
  const names = Object.keys(schema.properties.settings.properties)
  for (const name of names) {
    const { enum: symbols, minimum } = schema.properties.settings.properties[name]
    const values: string[] = [...(symbols ?? []), minimum, ...texts].filter((value) => value !== undefined).map(String)
    for (const value of values) {
      const answers = new Set(environments.map((environment) => accepted({ ...environment, [name]: value })))
      expect([...answers], `${name}=${value}`).toHaveLength(1)
    }
  }
  expect(names.length).toBeGreaterThan(30)
})

describe('refuses', () => {
  it.each([
    ['no brokers', { ...least, settings: { SCHEMA_REGISTRY_URL: 'http://r' } }, 'KAFKA_BROKERS is required'],
    ['no tokens', { ...least, files: [] }, 'files: At least one'],
    [
      'a secret in the settings',
      { ...least, settings: { ...settings, KAFKA_SASL_PASSWORD: 'x' } },
      'KAFKA_SASL_PASSWORD is not allowed',
    ],
    ['a setting of the chart', { ...least, settings: { ...settings, DUELOG_ROLES: 'api' } }, 'DUELOG_ROLES is not allowed'],
    ['a misspelled setting', { ...least, settings: { ...settings, DUELOG_PARTITION: 3 } }, 'DUELOG_PARTITION is not allowed'],
    [
      'a number beyond its limit',
      { ...least, settings: { ...settings, DUELOG_PARTITIONS: 9_999 } },
      'less than or equal to 1024',
    ],
    ['a misspelled value', { ...least, scheduler: { replicas: 3 } }, 'scheduler is not allowed'],
    [
      'a file for a setting that is no secret',
      { ...least, files: [...files, { setting: 'DUELOG_LEAD_MS', secret: 'a', key: 'b' }] },
      'must be one of',
    ],
    [
      'a certificate beside https',
      { ...least, files: [...files, { setting: 'DUELOG_HTTPS_CERT_FILE', secret: 'a', key: 'b' }] },
      'must be one of',
    ],
    [
      'a part without tokens',
      { ...least, files: [{ ...files[0], parts: ['api', 'topics'] }] },
      /files: the part \w+ has no DUELOG_API_TOKENS/,
    ],
    ['a secret that a part gets twice', { ...least, files: [...files, { ...files[0], key: 'b' }] }, 'gets a setting twice'],
    [
      'an entry that the chart writes',
      { ...least, env: [{ name: 'DUELOG_ROLES', value: 'api' }] },
      'env.0.name: Must not validate the schema',
    ],
    [
      'an entry that a value of the pool writes',
      { ...least, pools: [{ name: 'a', env: [{ name: 'DUELOG_DRAIN_MS', value: '1' }] }] },
      'a value of the pool sets it',
    ],
    [
      'processes that not each role takes',
      { ...least, settings: { ...settings, DUELOG_EXECUTOR_PROCESSES: '2' } },
      'DUELOG_EXECUTOR_PROCESSES is not allowed',
    ],
    [
      'pods of several workers that KEDA counts as one',
      {
        ...least,
        poolDefaults: { env: [{ name: 'DUELOG_EXECUTOR_PROCESSES', value: '4' }] },
        pools: [{ name: 'a', autoscaling: { min: 1, max: 2 } }],
      },
      'counts each pod as one worker',
    ],
    ['fewer pods at most than at least', { ...least, pools: [{ name: 'a', autoscaling: { min: 3, max: 2 } }] }, 'min is greater'],
    ['a port that is none', { ...least, api: { service: { port: 0 } } }, 'greater than or equal to 1'],
    ['a digest that is none', { ...least, image: { digest: 'latest' } }, 'Does not match pattern'],
    ['two pools of one name', { ...least, pools: [{ name: 'a' }, { name: 'a' }] }, 'each pool has a name of its own'],
    ['a name that no pool has', { ...least, pools: [{ name: 'A B' }] }, 'Does not match pattern'],
  ])('%s', async (_, values, message) => {
    await expect(tools.render(values)).rejects.toThrow(message)
  })
})

// Values that are legal and unlike what people usually write: names stay unique and valid, texts stay texts.
describe('strange values', () => {
  it('each object and part has a valid name of its own, and texts stay texts, whatever the name of the release', async () => {
    const releases = ['duelog', '123', 'a.b', 'a'.repeat(40), 'a'.repeat(53)]
    const rendered = await Promise.all(releases.map((release) => tools.render(strange, release)))
    const all = rendered.flat()
    // Those of one release, because the validator needs seconds for each.
    const [, ofNumber = []] = rendered
    for (const version of versions) expect(await tools.problems(ofNumber.filter(isOfKubernetes), version)).toBe('')
    for (const object of all.filter(({ kind }) => kind === 'ScaledObject')) new ScaledObject(object as never).validate()
    for (const object of all.filter(({ kind }) => kind === 'ServiceMonitor')) new ServiceMonitor(object as never).validate()
    for (const { kind, metadata } of all) {
      // A Service has the strictest rule. Pods of a StatefulSet have its name and up to 11 more characters in a label.
      // KEDA makes an object with nine more.
      const charsMax = kind === 'StatefulSet' ? 52 : kind === 'ScaledObject' ? 54 : 63
      expect(metadata.name).toMatch(/^[a-z][a-z0-9-]*[a-z0-9]$/)
      expect(metadata.name.length, metadata.name).toBeLessThanOrEqual(charsMax)
      for (const label of Object.values(metadata.labels)) expect(label).toMatch(/^[A-Za-z0-9]([\w.-]{0,61}[A-Za-z0-9])?$/)
    }
    for (const objects of rendered) {
      const names = objects.map(({ kind, metadata: { name } }) => `${kind} ${name}`)
      expect(new Set(names).size).toBe(names.length)
      const parts = objects
        .filter(({ kind }) => kind === 'Deployment')
        .map(({ spec }) => JSON.stringify(spec.selector.matchLabels))
      expect(new Set(parts).size).toBe(1 + strange.pools.length)
      const budgets = objects.filter(({ kind }) => kind === 'PodDisruptionBudget')
      expect(budgets.map(({ spec }) => JSON.stringify(spec.selector.matchLabels))).toEqual(expect.arrayContaining(parts))
    }
  }, 120_000)

  it('a 0 of a pool counts more than the default', async () => {
    const objects = await tools.render(strange)
    const scaled = objects.find(({ kind, metadata }) => kind === 'ScaledObject' && metadata.name === 'duelog-pool-7')
    expect(scaled?.spec).toMatchObject({ minReplicaCount: 0, maxReplicaCount: 2_000_000, cooldownPeriod: 0 })
    const environment = objects.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'duelog-pool-7')?.spec
      .template.spec.containers[0].env
    expect(environment).toContainEqual({ name: 'DUELOG_DRAIN_MS', value: '0' })
    expect(environment).toContainEqual({ name: 'KAFKA_SASL_USERNAME', value: strange.settings.KAFKA_SASL_USERNAME })
    const fixed = await tools.render({ ...least, pools: [{ name: 'idle', replicas: 0 }] })
    const idle = fixed.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'duelog-pool-idle')
    expect(idle?.spec.replicas).toBe(0)
    const [ingress] = objects.filter(({ kind }) => kind === 'Ingress')
    expect(ingress?.spec.rules[0].host).toBe('*.example.com')
  })
})
