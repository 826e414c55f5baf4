/** The environment after ajv made numbers and booleans of its strings and added the defaults. */
export interface Environment {
  KAFKA_BROKERS?: string
  SCHEMA_REGISTRY_URL?: string
  SCHEMA_REGISTRY_USERNAME?: string
  SCHEMA_REGISTRY_PASSWORD?: string
  KAFKA_SASL_MECHANISM?: 'plain' | 'scram-sha-256' | 'scram-sha-512'
  KAFKA_SASL_USERNAME?: string
  KAFKA_SASL_PASSWORD?: string
  KAFKA_SSL_ENABLED: boolean
  KAFKA_SSL_CA_FILE?: string
  KAFKA_SSL_CERT_FILE?: string
  KAFKA_SSL_KEY_FILE?: string
  DUELOG_ROLES: string
  DUELOG_HTTP_HOST: string
  DUELOG_HTTP_PORT: number
  DUELOG_ADVERTISED_URL?: string
  DUELOG_DATA_DIR: string
  DUELOG_EMBEDDED_KAFKA_PORT: number
  DUELOG_EMBEDDED_REGISTRY_PORT: number
  DUELOG_TOPIC_PREFIX: string
  DUELOG_PARTITIONS: number
  DUELOG_REPLICATION: number
  DUELOG_HANDLERS?: string
  DUELOG_POOLS: string
  DUELOG_TARGET_TOPICS?: string
  DUELOG_INTAKE_ETF1_TOPICS?: string
  DUELOG_INTAKE_KARAFKA_TOPICS?: string
  DUELOG_HTTP_SIGNING_KEY?: string
  DUELOG_HTTP_DENY: string
  DUELOG_CONCURRENCY: number
  DUELOG_EXECUTOR_PROCESSES: string
  DUELOG_STANDBYS: number
  DUELOG_AUDIT_GRACE_MS: number
  DUELOG_LEAD_MS: number
  DUELOG_LEAD_MS_MAX: number
  DUELOG_LINGER_MS: number
  DUELOG_CLOCK_STEP_MS_MAX: number
  DUELOG_DRAIN_MS: number
  DUELOG_LOG_LEVEL: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent'
  DUELOG_API_TOKENS?: string
  DUELOG_JWT_JWKS_URL?: string
  DUELOG_JWT_ISSUER?: string
  DUELOG_JWT_AUDIENCE?: string
  DUELOG_JWT_ROLES_CLAIM: string
  DUELOG_HTTP_RATE_LIMIT: number
  DUELOG_HTTP_ALLOW?: string
}
