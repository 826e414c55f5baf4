/** Values for the chart: the fewest that it needs, and many at once. */

export const settings = { KAFKA_BROKERS: 'b-1:9092,b-2:9092', SCHEMA_REGISTRY_URL: 'http://registry:8081' }
export const files = [{ setting: 'DUELOG_API_TOKENS', secret: 'duelog-tokens', key: 'tokens' }]
export const least = { settings, files }
export const most = {
  settings: {
    ...settings,
    DUELOG_PARTITIONS: 32,
    DUELOG_RUNS_RETENTION_MS: 7_776_000_000,
    KAFKA_SSL_ENABLED: true,
    KAFKA_SASL_MECHANISM: 'scram-sha-512',
    KAFKA_SASL_USERNAME: 'duelog',
    DUELOG_INTAKE_ETF1_TOPICS: 'schedules',
    DUELOG_TARGET_TOPICS: 'orders',
  },
  files: [
    ...files,
    { setting: 'KAFKA_SASL_PASSWORD', secret: 'kafka-user', key: 'password' },
    { setting: 'KAFKA_SSL_CA_FILE', secret: 'kafka-ca', key: 'ca.crt' },
    { setting: 'DUELOG_HISTORY_URL', secret: 'postgres', key: 'url', parts: ['history'] },
  ],
  env: [
    { name: 'OTEL_EXPORTER_OTLP_ENDPOINT', value: 'http://collector:4318' },
    { name: 'DUELOG_LOG_LEVEL', value: 'warn' },
  ],
  serviceAccount: { annotations: { 'eks.amazonaws.com/role-arn': 'arn:aws:iam::1:role/duelog' } },
  image: { repository: 'registry.example/duelog', digest: `sha256:${'0a'.repeat(32)}` },
  schedulers: {
    priorityClassName: 'high',
    nodeSelector: { disk: 'fast' },
    tolerations: [{ key: 'jobs', operator: 'Exists' }],
    env: [{ name: 'DUELOG_LOG_LEVEL', value: 'debug' }],
  },
  ipFamily: 'IPv6',
  intake: { enabled: true },
  history: { replicas: 2, storageClass: 'fast' },
  api: { ingress: { enabled: true, className: 'nginx', host: 'jobs.example.com', tlsSecret: 'jobs-tls' } },
  pools: [
    { name: 'default' },
    {
      name: 'night_reports',
      image: 'example/reports:3',
      handlers: '/app/handlers.mjs',
      concurrency: 5,
      drainMs: 600_000,
      autoscaling: { min: 0, max: 12 },
      env: [
        { name: 'REPORTS_URL', valueFrom: { secretKeyRef: { name: 'reports', key: 'url' } } },
        { name: 'KAFKA_SASL_USERNAME', value: 'reports' },
      ],
      volumes: [{ name: 'fonts', configMap: { name: 'fonts' } }],
      volumeMounts: [{ name: 'fonts', mountPath: '/app/fonts' }],
    },
  ],
  networkPolicy: { egress: [{ ports: [{ port: 53, protocol: 'UDP' }] }] },
  serviceMonitor: { enabled: true },
  prometheusRule: { enabled: true, labels: { release: 'monitoring' } },
  podLabels: { 'azure.workload.identity/use': 'true' },
  podAnnotations: { 'example.com/team': 'jobs' },
}

const long = 'a'.repeat(39)
/** Legal, and unlike what people usually write: texts that YAML reads as something else, the longest names, names that differ in one character. */
export const strange = {
  settings: { ...settings, KAFKA_SASL_USERNAME: `"a" 'b' \\c: #{d}`, DUELOG_PARTITIONS: '32' },
  files: [{ setting: 'DUELOG_API_TOKENS', secret: '123', key: '1.5' }],
  image: { repository: 'registry.example:5000/duelog', tag: '1e3' },
  https: { secret: '0123' },
  history: { storageClass: '1e3' },
  api: { ingress: { enabled: true, className: '1', host: '*.example.com', tlsSecret: 'true' } },
  keda: { authentication: '7' },
  serviceMonitor: { enabled: true, interval: '0', tokenSecret: { name: '1', key: '0x1' } },
  podLabels: { tier: '12' },
  poolDefaults: { replicas: 3, autoscaling: { min: 1, max: 5 } },
  pools: [
    { name: '7', drainMs: 0, autoscaling: { min: 0, max: 2_000_000, cooldownSeconds: 0 } },
    ...['a_b', 'a-b', 'a-', `${long}1`, `${long}2`].map((name) => ({ name })),
  ],
}
