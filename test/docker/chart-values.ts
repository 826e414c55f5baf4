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
  ],
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
      env: [{ name: 'REPORTS_URL', valueFrom: { secretKeyRef: { name: 'reports', key: 'url' } } }],
    },
  ],
  networkPolicy: { egress: [{ ports: [{ port: 53, protocol: 'UDP' }] }] },
  serviceMonitor: { enabled: true },
  prometheusRule: { enabled: true, labels: { release: 'monitoring' } },
  podAnnotations: { 'example.com/team': 'jobs' },
}
