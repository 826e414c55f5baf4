// Made by schemas/generate.ts from schemas/config.json: change that, then run `npm run generate`.

/** The environment after ajv has converted its strings and added the defaults. */
export interface Environment {
  KAFKA_BROKERS?: string
  SCHEMA_REGISTRY_URL?: string
  SCHEMA_REGISTRY_USERNAME?: string
  SCHEMA_REGISTRY_PASSWORD?: string
  SCHEMA_REGISTRY_TOKEN?: string
  SCHEMA_REGISTRY_CA_FILE?: string
  SCHEMA_REGISTRY_CERT_FILE?: string
  SCHEMA_REGISTRY_KEY_FILE?: string
  KAFKA_SASL_MECHANISM?: 'plain' | 'scram-sha-256' | 'scram-sha-512' | 'oauthbearer' | 'aws-msk-iam'
  KAFKA_SASL_USERNAME?: string
  KAFKA_SASL_PASSWORD?: string
  KAFKA_SASL_OAUTHBEARER_TOKEN_URL?: string
  KAFKA_SASL_OAUTHBEARER_CLIENT_ID?: string
  KAFKA_SASL_OAUTHBEARER_CLIENT_SECRET?: string
  KAFKA_SASL_OAUTHBEARER_SCOPE?: string
  KAFKA_SASL_OAUTHBEARER_PARAMETERS?: string
  KAFKA_SASL_OAUTHBEARER_EXTENSIONS?: string
  KAFKA_SASL_OAUTHBEARER_CA_FILE?: string
  KAFKA_SASL_AWS_REGION?: string
  KAFKA_SSL_ENABLED: boolean
  KAFKA_SSL_CA_FILE?: string
  KAFKA_SSL_CERT_FILE?: string
  KAFKA_SSL_KEY_FILE?: string
  DUELOG_ROLES: string
  DUELOG_ONE_PROCESS: boolean
  DUELOG_HTTP_HOST: string
  DUELOG_HTTP_PORT: number
  DUELOG_HTTPS_CERT_FILE?: string
  DUELOG_HTTPS_KEY_FILE?: string
  DUELOG_HTTPS_CA_FILE?: string
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
  DUELOG_EXECUTOR_PROCESSES?: string
  DUELOG_EXECUTOR_COOL_DOWN_MS: number
  DUELOG_STANDBYS: number
  DUELOG_AUDIT_GRACE_MS: number
  DUELOG_LEAD_MS: number
  DUELOG_LEAD_MS_MAX: number
  DUELOG_CLOCK_STEP_MS_MAX: number
  DUELOG_LINGER_MS: number
  DUELOG_DRAIN_MS: number
  DUELOG_RUNS_RETENTION_MS: number
  DUELOG_RUN_LOGS_RETENTION_MS: number
  DUELOG_HISTORY_URL?: string
  DUELOG_HISTORY_RETENTION_MS?: number
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
  /** Roles of this process: all, or a comma-separated choice of scheduler, executor, retrier, intake, api, auditor, history. Without api, the process serves no public HTTP: only metrics, probes and requests of other Duelog processes. */
  roles: string
  /** All roles run in one process, on one event loop. A process with a single role always does. By default, `duelog up` runs up to three: scheduler and retrier; api, intake, auditor and history; executor. What keeps one of them busy then delays no other. true takes about 100 MB less. */
  oneProcess: boolean
  /** Address the HTTP server binds to. Without authentication, only a loopback address is allowed. */
  httpHost: string
  /** Port of the HTTP server. 0: any free port. */
  httpPort: number
  /** PEM file of the certificate of the HTTP server, followed by those of its intermediate authorities. With it, the server speaks only HTTPS, from TLS 1.2 on. A changed file is read again. */
  httpsCertFile: string | undefined
  /** PEM file of the key of that certificate, without a passphrase. A changed file is read again. */
  httpsKeyFile: string | undefined
  /** PEM file of the authorities that sign the certificates of the other processes of this Duelog. Absent: the public ones that Node knows. */
  httpsCaFile: string | undefined
  /** URL at which the other processes of this Duelog reach the HTTP server of this process. Absent: http or https, DUELOG_HTTP_HOST and the port. If the host is 0.0.0.0 or ::, the name of this machine replaces it. */
  advertisedUrl: string | undefined
  /** Folder of the local stores and of the data of the embedded broker and registry. */
  dataDir: string
  /** Loopback port of the embedded broker. Its controller uses the next port. */
  embeddedKafkaPort: number
  /** Loopback port of the embedded registry. */
  embeddedRegistryPort: number
  /** Prefix of every topic, consumer group and transactional id. */
  topicPrefix: string
  /** Partitions of every topic, when the topics are created; later, duelog reshard copies a stopped system to another number. Default 4 with the embedded broker, 32 on a cluster. */
  partitions: number
  /** Replicas of every topic that Duelog creates. Default 1 with the embedded broker, 3 on a cluster. */
  replication: number
  /** Path of a module that exports handlers. The name of an export is the name of its handler. */
  handlers: string | undefined
  /** Comma-separated pools. Their topics are created, and the executor of this process serves them. */
  pools: string
  /** Comma-separated topics that jobs and receipts may be written to; * matches any characters. Absent: none. Duelog's own topics are never allowed. */
  targetTopics: string | undefined
  /** Comma-separated topics with schedules of etf1/kafka-message-scheduler, which become jobs. Absent: none. */
  intakeEtf1Topics: string | undefined
  /** Comma-separated topics with scheduled messages of Karafka Pro, which become jobs. Absent: none. */
  intakeKarafkaTopics: string | undefined
  /** Key that signs the requests of http targets according to Standard Webhooks: whsec_ and 24 to 64 bytes in base64. Absent: no signature. */
  httpSigningKey: string | undefined
  /** Comma-separated addresses and networks that http targets must not reach. The rule holds for every host name, and for IPv6 addresses that embed a denied IPv4 address (mapped, NAT64, 6to4, Teredo, ISATAP). 127.0.0.1 or ::1 denies all addresses of this machine. Default: everything that is not public, which is this machine, private and link-local networks, and the metadata services of clouds. DUELOG_HTTP_ALLOW makes exceptions. */
  httpDeny: string
  /** Comma-separated addresses and networks that http targets may reach although DUELOG_HTTP_DENY denies them, such as 10.20.0.0/16 or 127.0.0.1. Absent: none. */
  httpAllow: string | undefined
  /** Handlers that run at once in each pool of this process. */
  concurrency: number
  /** Number of child processes that run the executor role, each with DUELOG_CONCURRENCY slots in each pool. Absent: one, or 0 with DUELOG_ONE_PROCESS and where the role is alone. 0: the main process runs the role itself. 1 to 256: that many processes. cpus: one process for each processor. Two numbers, such as 1..cpus or 2..8: the number of processes follows the load of their pools. They end with this process. */
  executorProcesses: string | undefined
  /** With two numbers in DUELOG_EXECUTOR_PROCESSES: a process ends when fewer have been enough for this time. */
  executorCoolDownMs: number
  /** Standbys of each partition. A standby keeps a copy of the partition and is ready to take it over. With too few other schedulers, there are fewer standbys. If schedulers have different values, the highest applies. */
  standbys: number
  /** How long after its time a record may still arrive before the auditor reports it as overdue or lost. Also how long the auditor waits for the other records of a run. */
  auditGraceMs: number
  /** How long before its due time a run is dispatched, or longer while commits take long. Workers hold the run until it is due. */
  leadMs: number
  /** The longest lead. A run is dispatched earlier than DUELOG_LEAD_MS in a burst, in which more runs are due at once than can be committed within that time, and while commits take long. How much earlier depends on the size of the burst and the measured rate. */
  leadMsMax: number
  /** Largest difference allowed between the wall clock of this machine, its steady clock and the clocks of the brokers. With a larger difference, nothing is decided or started until the clocks agree. 0: the clocks are not compared. */
  clockStepMsMax: number
  /** Time between two commits of a partition while nothing is due. */
  lingerMs: number
  /** How long a stopping executor lets handlers finish before it gives their runs back. */
  drainMs: number
  /** How long the topic runs keeps a record of each run that has ended. It holds for a topic that Duelog creates; `duelog topics apply` lengthens that of an existing one only if it is under a day. 0: schedulers write no such records. */
  runsRetentionMs: number
  /** How long the topic run-logs keeps the lines that handlers write with run.log. It holds for a topic that Duelog creates; `duelog topics apply` lengthens that of an existing one only if it is under a day. 0: the workers of this process write no lines. */
  runLogsRetentionMs: number
  /** PostgreSQL database in which the role history keeps ended runs, such as postgres://user:password@host:5432/duelog. All processes with the role share it. Absent: each of them keeps a copy of its own in its data folder (SQLite). */
  historyUrl: string | undefined
  /** How long the role history keeps ended runs, in whole hours. Absent: as long as DUELOG_RUNS_RETENTION_MS, or 90 days if that is 0. */
  historyRetentionMs: number | undefined
  /** Least severe level that is logged. */
  logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent'
  /** Comma-separated role:token or role.name:token items. In a file, an item may also be on a line of its own. A token has at least 16 characters. The audit trail shows the name. Absent: no authentication, loopback only. */
  apiTokens: string | undefined
  /** URL at which an identity provider publishes its keys (JWKS). JSON Web Tokens signed with these keys are accepted as bearer tokens too. Absent: JSON Web Tokens are not accepted. */
  jwtJwksUrl: string | undefined
  /** Issuer (iss) that a JSON Web Token must name. */
  jwtIssuer: string | undefined
  /** Audience (aud) that a JSON Web Token must name. */
  jwtAudience: string | undefined
  /** Claim of a JSON Web Token that names viewer, operator or admin; dots separate nested claims, as in realm_access.roles. */
  jwtRolesClaim: string
  /** Requests per second that one caller of the API may send. A burst may have twice as many. 0: no limit. */
  httpRateLimit: number
}
