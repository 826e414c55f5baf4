/** The Helm chart with values that are legal and unlike what people usually write: names stay unique and valid, texts stay texts. */
import { ScaledObject } from '@kubernetes-models/keda/keda.sh/v1alpha1'
import { ServiceMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ChartTools, type KubernetesObject } from './chart.ts'
import { least, strange } from './chart-values.ts'

/** The oldest and the newest version that it is checked for. */
const versions = ['1.30', '1.37']

let tools: ChartTools
beforeAll(async () => {
  tools = await ChartTools.install()
}, 300_000)
afterAll(() => tools?.remove())

const isOfKubernetes = ({ apiVersion }: KubernetesObject): boolean => !/keda|coreos/.test(apiVersion)

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
    expect(metadata.name).toMatch(kind === 'StatefulSet' ? /^[a-z][a-z0-9-]{0,50}[a-z0-9]$/ : /^[a-z][a-z0-9-]{0,61}[a-z0-9]$/)
    for (const label of Object.values(metadata.labels)) expect(label).toMatch(/^[A-Za-z0-9]([\w.-]{0,61}[A-Za-z0-9])?$/)
  }
  for (const objects of rendered) {
    const names = objects.map(({ kind, metadata: { name } }) => `${kind} ${name}`)
    expect(new Set(names).size).toBe(names.length)
    const parts = objects.filter(({ kind }) => kind === 'Deployment').map(({ spec }) => JSON.stringify(spec.selector.matchLabels))
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
