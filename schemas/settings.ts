// Made by schemas/generate.ts from schemas/config.json: change that, then run `npm run generate`.

/** The environment after ajv has converted its strings and added the defaults. */
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
  DUELOG_HTTP_ALLOW?: string
  DUELOG_CONCURRENCY: number
  DUELOG_EXECUTOR_PROCESSES: string
  DUELOG_STANDBYS: number
  DUELOG_AUDIT_GRACE_MS: number
  DUELOG_LEAD_MS: number
  DUELOG_LEAD_MS_MAX: number
  DUELOG_CLOCK_STEP_MS_MAX: number
  DUELOG_LINGER_MS: number
  DUELOG_DRAIN_MS: number
  DUELOG_LOG_LEVEL: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent'
  DUELOG_API_TOKENS?: string
  DUELOG_JWT_JWKS_URL?: string
  DUELOG_JWT_ISSUER?: string
  DUELOG_JWT_AUDIENCE?: string
  DUELOG_JWT_ROLES_CLAIM: string
  DUELOG_HTTP_RATE_LIMIT: number
}

/** The settings whose names begin with DUELOG_, each by the rest of its name in camel case. */
export interface SettingValues {
  /** Roles of this process: all, or a comma-separated choice of scheduler, executor, retrier, intake, api, auditor. Without api it serves no public HTTP, only metrics, probes and the questions of other processes. */
  roles: string
  /** Address the HTTP server binds to. Without authentication only a loopback address is taken. */
  httpHost: string
  /** Port of the HTTP server; 0 takes a free one. */
  httpPort: number
  /** URL under which the other processes of this Duelog reach this one's HTTP server. Absent: http, DUELOG_HTTP_HOST and the port; in place of 0.0.0.0 and :: the name of this machine. */
  advertisedUrl: string | undefined
  /** Folder of local stores and of the embedded broker's and registry's data. */
  dataDir: string
  /** Loopback port of the embedded broker; the next one up is its controller's. */
  embeddedKafkaPort: number
  /** Loopback port of the embedded registry. */
  embeddedRegistryPort: number
  /** Prefix of every topic, consumer group and transactional id. */
  topicPrefix: string
  /** Partitions of every topic, fixed when the topics are created. Default 4 with the embedded broker, 32 on a cluster. */
  partitions: number
  /** Replicas of every topic that Duelog creates. Default 1 with the embedded broker, 3 on a cluster. */
  replication: number
  /** Path of a module whose exports are handlers by name. */
  handlers: string | undefined
  /** Pools whose topics exist and that this process's executor serves. */
  pools: string
  /** Comma-separated topics that jobs may write to and receipts may go to; * stands for any characters. Absent: none. Topics of Duelog itself are never allowed. */
  targetTopics: string | undefined
  /** Comma-separated topics with schedules of etf1/kafka-message-scheduler, which become jobs. Absent: none. */
  intakeEtf1Topics: string | undefined
  /** Comma-separated topics with scheduled messages of Karafka Pro, which become jobs. Absent: none. */
  intakeKarafkaTopics: string | undefined
  /** Key that signs the requests of http targets as Standard Webhooks say: whsec_ and 24 to 64 bytes in base64. Absent: no signature. */
  httpSigningKey: string | undefined
  /** Comma-separated addresses and networks that http targets must not reach, whatever name leads to them, and whatever IPv6 address has them inside (mapped, NAT64, 6to4, Teredo, ISATAP). Where it has 127.0.0.1 or ::1 it has all addresses of this machine. Default: all that is not public: this machine, private and link-local networks, the metadata services of clouds. DUELOG_HTTP_ALLOW makes exceptions. */
  httpDeny: string
  /** Comma-separated addresses and networks that http targets may reach although DUELOG_HTTP_DENY has them, such as 10.20.0.0/16 or 127.0.0.1. Absent: none. */
  httpAllow: string | undefined
  /** Handlers that run at once in each pool of this process. */
  concurrency: number
  /** Processes that run the executor role besides this one, each with DUELOG_CONCURRENCY slots in each pool: 0 runs it in this process, 1 to 256 starts so many, cpus one for each processor. They end with this process. */
  executorProcesses: string
  /** Processes that keep a copy of each partition beside its owner, ready to take it over; fewer where there are not so many other schedulers. The highest number that any scheduler is told counts. */
  standbys: number
  /** How long after its time something may still be on its way before the auditor calls it overdue or lost, and how long it waits for what belongs to a run. */
  auditGraceMs: number
  /** How long before it is due a run is dispatched; workers hold it until it is. */
  leadMs: number
  /** How long before it is due a run is dispatched when more is due at once than can be committed in the usual lead. */
  leadMsMax: number
  /** How far the wall clock of this machine, its steady clock and the brokers' may be apart. Beyond it nothing is decided or started until they agree. 0: they are not compared. */
  clockStepMsMax: number
  /** Time between two commits of a partition while nothing is due. */
  lingerMs: number
  /** How long a stopping executor lets handlers finish before it gives their runs back. */
  drainMs: number
  /** Least severe level that is logged. */
  logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent'
  /** Comma-separated role:token or role.name:token items, in a file one a line as well; tokens have at least 16 characters, and the name stands in the audit trail. Absent: no authentication, loopback only. */
  apiTokens: string | undefined
  /** Where an identity provider publishes its keys (JWKS): then JSON Web Tokens that they sign are taken as bearer tokens too. Absent: none are. */
  jwtJwksUrl: string | undefined
  /** Issuer (iss) that a JSON Web Token must name. */
  jwtIssuer: string | undefined
  /** Audience (aud) that a JSON Web Token must name. */
  jwtAudience: string | undefined
  /** Claim of a JSON Web Token that names viewer, operator or admin; dots lead deeper, as in realm_access.roles. */
  jwtRolesClaim: string
  /** Requests a second that one caller of the API may send, and twice as many at once; 0 is without limit. */
  httpRateLimit: number
}
