/** docker/helm/duelog/values.schema.json: what the chart accepts. Helm checks values against it before anything is installed. */
import { type Setting, settings } from '../../src/ground/config/settings.ts'

type Json = Record<string, unknown>

/** Settings that the chart writes itself. */
export const ownSettings: readonly string[] = [
  'DUELOG_ROLES',
  'DUELOG_POOLS',
  'DUELOG_HTTP_HOST',
  'DUELOG_HTTP_PORT',
  'DUELOG_ADVERTISED_URL',
  'DUELOG_DATA_DIR',
]
/** The chart mounts the folder of the certificate, and names its files itself: https. */
const httpsPrefix = 'DUELOG_HTTPS_'
/** A pool has values of its own for them. */
const ofPools = ['DUELOG_HANDLERS', 'DUELOG_CONCURRENCY', 'DUELOG_DRAIN_MS']
/** Processes without the role executor refuse the first, and the second goes with it. A pool has them in its `env`. */
const ofExecutors = ['DUELOG_EXECUTOR_PROCESSES', 'DUELOG_EXECUTOR_COOL_DOWN_MS']
/** Entries of the environment that the chart writes, and that a list of entries may not have. */
const writtenNames = [...ownSettings, 'POD_IP', 'POD_NAME']

const isOfCluster = ({ name, client }: Setting): boolean =>
  client !== true &&
  !name.startsWith('DUELOG_EMBEDDED_') &&
  !name.startsWith(httpsPrefix) &&
  !ownSettings.includes(name) &&
  !ofPools.includes(name) &&
  !ofExecutors.includes(name)
/** A file in a pod: of a secret, or of a certificate or key. */
const isFile = ({ name }: Setting): boolean => name.endsWith('_FILE')

/** Parts of a release that may get a secret of their own. All pools are one part. */
const partNames = ['scheduler', 'api', 'auditor', 'history', 'intake', 'pools', 'topics']

const text: Json = { type: 'string' }
const flag: Json = { type: 'boolean' }
const count: Json = { type: 'integer', minimum: 0 }
/** Of a user or a group; 0 would be root. */
const id: Json = { type: ['integer', 'null'], minimum: 1 }
const port: Json = { type: 'integer', minimum: 1, maximum: 65_535 }
const quantity: Json = { type: ['string', 'number'], pattern: '^[0-9.]+(m|k|M|G|T|Ki|Mi|Gi|Ti)?$' }
const texts: Json = { type: 'object', additionalProperties: text }
const objects: Json = { type: 'array', items: { type: 'object' } }
const poolName: Json = { type: 'string', pattern: '^[a-z0-9][a-z0-9_-]{0,39}$' }

const object = (properties: Json, required: string[] = []): Json => ({
  type: 'object',
  additionalProperties: false,
  properties,
  ...(required.length > 0 && { required }),
})

const entry: Json = { type: 'object', required: ['name'], properties: { name: { type: 'string', not: { enum: writtenNames } } } }
const environment: Json = { type: 'array', items: entry }
/** Where a pod may run, and what it gets. */
const placing: Json = {
  resources: { type: 'object' },
  env: environment,
  volumes: objects,
  volumeMounts: objects,
  nodeSelector: texts,
  tolerations: objects,
  affinity: { type: 'object' },
  priorityClassName: text,
}
const stored: Json = { storage: quantity, storageClass: text }

export function chartValuesSchema(): string {
  const root = object(
    {
      global: { type: 'object' },
      image: object({
        repository: text,
        tag: text,
        digest: { type: 'string', pattern: '^(sha256:[a-f0-9]{64})?$' },
        pullPolicy: { enum: ['Always', 'IfNotPresent', 'Never'] },
      }),
      imagePullSecrets: objects,
      settings: object(settingsSchema(), ['KAFKA_BROKERS', 'SCHEMA_REGISTRY_URL']),
      files: filesSchema(),
      env: environment,
      serviceAccount: object({ create: flag, name: text, annotations: texts }),
      runAs: object({ runAsUser: id, runAsGroup: id, fsGroup: id }),
      ipFamily: { enum: ['IPv4', 'IPv6'] },
      https: object({ secret: text, ca: flag }),
      createTopics: flag,
      podLabels: texts,
      podAnnotations: texts,
      schedulers: object({ replicas: count, minReadySeconds: count, ...stored, ...placing }),
      api: object({
        replicas: count,
        service: object({ type: { enum: ['ClusterIP', 'NodePort', 'LoadBalancer'] }, port, annotations: texts }),
        ingress: object({ enabled: flag, className: text, host: text, annotations: texts, tlsSecret: text }),
        ...placing,
      }),
      // Two auditors would each judge all records.
      auditor: object({ enabled: flag, ...stored, ...placing }),
      history: object({ enabled: flag, replicas: count, ...stored, ...placing }),
      intake: object({ enabled: flag, replicas: count, ...placing }),
      pools: { type: 'array', maxItems: 100, items: object({ name: poolName, ...poolProperties() }, ['name']) },
      poolDefaults: object(poolProperties()),
      keda: object({
        prometheusUrl: { type: 'string', pattern: '^https?://' },
        authentication: text,
        authModes: text,
        labels: texts,
      }),
      podDisruptionBudgets: flag,
      networkPolicy: object({ enabled: flag, apiFrom: objects, metricsFrom: objects, egress: objects }),
      serviceMonitor: object({ enabled: flag, interval: text, labels: texts, tokenSecret: object({ name: text, key: text }) }),
      prometheusRule: object({ enabled: flag, labels: texts }),
    },
    ['settings', 'files'],
  )
  const note =
    'Made by docs/generate.ts from schemas/config.json: change that or docs/pages/chart-values.ts, then run `npm run generate`.'
  return `${JSON.stringify({ $schema: 'http://json-schema.org/draft-07/schema#', $comment: note, ...root }, null, 2)}\n`
}

function settingsSchema(): Json {
  const chosen = settings.filter((setting) => isOfCluster(setting) && !isFile(setting) && setting.secret !== true)
  return Object.fromEntries(chosen.map((setting) => [setting.name, settingSchema(setting)]))
}

/** YAML has numbers and booleans, an environment has texts: both are taken. */
function settingSchema({ type, enum: symbols, pattern, minimum, maximum }: Setting): Json {
  if (type === 'boolean') return { enum: [true, false, 'true', 'false'] }
  if (type === 'integer')
    return {
      type: ['integer', 'string'],
      pattern: '^[0-9]+$',
      ...(minimum !== undefined && { minimum }),
      ...(maximum !== undefined && { maximum }),
    }
  if (symbols !== undefined) return { enum: symbols }
  return { type: ['string', 'integer'], ...(pattern !== undefined && { pattern }) }
}

function filesSchema(): Json {
  const chosen = settings.filter((setting) => isOfCluster(setting))
  const names = chosen
    .filter((setting) => setting.secret === true || (isFile(setting) && setting.fileOf === undefined))
    .map(({ name }) => name)
  const given: Json = { type: 'string', minLength: 1 }
  const parts: Json = { type: 'array', minItems: 1, uniqueItems: true, items: { enum: partNames } }
  const file = object({ setting: { enum: names }, secret: given, key: given, parts }, ['setting', 'secret', 'key'])
  return {
    type: 'array',
    maxItems: 50,
    items: file,
    // Processes call each other with its token, and listen beyond loopback only with it.
    contains: { type: 'object', properties: { setting: { const: 'DUELOG_API_TOKENS' } } },
  }
}

function poolProperties(): Json {
  const limits = (name: string): Json => settingSchema(settings.find((setting) => setting.name === name) as Setting)
  const autoscaling = object({ min: count, max: { type: 'integer', minimum: 1 }, cooldownSeconds: count }, ['min', 'max'])
  return {
    replicas: count,
    image: text,
    handlers: text,
    concurrency: limits('DUELOG_CONCURRENCY'),
    drainMs: limits('DUELOG_DRAIN_MS'),
    autoscaling,
    ...placing,
  }
}
