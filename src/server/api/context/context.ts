/** The options of the API, from system/system.ts, and what its routes share. */
import type { RouteOptions } from 'fastify'
import type {
  AuditEvent,
  AuditEventInput,
  JobCommand,
  JobCommandInput,
  JobDefinition,
  JobDefinitionInput,
} from '../../../../schemas/index.ts'
import type { TopicNames, TopicPlan } from '../../../../streams/topics/index.ts'
import type { Clock } from '../../../ground/clock/index.ts'
import type { FairSlots } from '../../../ground/concurrency/index.ts'
import type { Logger } from '../../../ground/logging/index.ts'
import type { Metrics } from '../../../ground/metrics/index.ts'
import type {
  Codec,
  Health,
  HistoryQueries,
  LogAdmin,
  LogWriter,
  Operations,
  PartitionQueries,
  PauseControl,
  PoolNeed,
  ProofQueries,
} from '../../../ground/ports/index.ts'
import type { OwnerDirectory, PeerWatch, ProofDirectory, RemoteQueries } from '../../peers/index.ts'
import type { AuditAction, AuditLog, AuditTrail } from '../audit-trail/index.ts'
import type { ApiToken, JwtOptions, Role } from '../guards/index.ts'
import type { DashboardFile, ReadingTurns, ServerCertificateFiles } from '../http/index.ts'
import type { Calculator, JobWrites, RunEnds, RunLogSource, RunLogs } from '../jobs/index.ts'
import type { SeriesSampler } from '../series/index.ts'

export type { ApiToken, Role } from '../guards/index.ts'

export interface ApiOptions {
  /** Owned by the caller: stop() does not close it. */
  writer: LogWriter
  codecs: {
    definition: Codec<JobDefinition, JobDefinitionInput>
    command: Codec<JobCommand, JobCommandInput>
    audit: Codec<AuditEvent, AuditEventInput>
  }
  names: TopicNames
  partitions: number
  owners: OwnerDirectory
  /** The operations of the system. Absent: this process lacks the role api. */
  operations?: Operations | undefined
  /** Which pools and workers are paused. Absent: this process lacks the role api. */
  pauses?: PauseControl | undefined
  /** How many workers the pools need now. Never rejects: pools that cannot be measured are missing. Absent: nobody measures them here. */
  poolNeeds?: (() => Promise<readonly PoolNeed[]>) | undefined
  /** The proofs of the auditors of the system. Absent: there are none. */
  proofs?: ProofDirectory | undefined
  /** The auditor of this process, which other API processes query through /internal. Absent without that role. */
  localProof?: ProofQueries | undefined
  /** The history of ended runs, here or in another process. Absent: it cannot be asked. */
  history?: HistoryQueries | undefined
  /** The history of this process, which other API processes query through /internal. Absent without that role. */
  localHistory?: HistoryQueries | undefined
  /** The scheduler of this process, which other API processes query through /internal. Absent without that role. */
  local?: PartitionQueries | undefined
  /** Owned by the caller as well. */
  admin: Pick<LogAdmin, 'groups' | 'groupMembers' | 'offsets'>
  /** The names of all topics that this process may see. Absent: a plan does not look whether targets are there. */
  existingTopics?: (() => Promise<string[]>) | undefined
  /** Reads the audit trail. Owned by the caller as well. */
  trail: AuditTrail
  /** Where the lines of runs are. Owned by the caller as well. Absent: this process serves none. */
  runLogs?: RunLogSource | undefined
  /** name@host:pid:boot of this process. */
  instance: string
  metrics: Metrics
  clock: Clock
  logger: Logger
  /** Absent or empty: no authentication; then only requests from this machine are served. */
  apiTokens?: readonly ApiToken[] | undefined
  /** Absent: JSON Web Tokens are not accepted. */
  jwt?: JwtOptions | undefined
  /** Requests per second that one caller may send; 0: no limit. Default: limits.ratePerSecondDefault. */
  ratePerSecond?: number | undefined
  health: () => Health
  /** Tells other processes that this one lives. Absent: nobody watches it. */
  peers?: Pick<PeerWatch, 'alive' | 'hears'> | undefined
  /** The engine that this process is the front of: it answers for its partitions, its health and its metrics. Absent: there is none. */
  engine?: RemoteQueries | undefined
  /** What `getSettings` shows of this process, without secrets. Default: nothing. */
  settings?: readonly object[] | undefined
  topics?: readonly TopicPlan[] | undefined
  /**
   * True: for tests of users, whose requests are injected. Checks of requests are made when they are needed, schedules are calculated without a
   * thread, and only the public API is served.
   */
  inProcess?: boolean | undefined
  /** File that keeps the series over a restart. Absent: they are in memory only. */
  seriesFile?: string | undefined
  /** Certificate and key of the server. Absent: it speaks HTTP. */
  https?: ServerCertificateFiles | undefined
  /** Files of the dashboard, as readDashboard gives them. Absent or empty: its pages say how to build it. */
  dashboard?: ReadonlyMap<string, DashboardFile> | undefined
  /**
   * False: serves only metrics, probes and the queries of other processes, because the process lacks the role api. Default:
   * true.
   */
  public?: boolean | undefined
}

/** What the routes share. */
export interface ApiContext extends Omit<ApiOptions, 'runLogs'> {
  writes: JobWrites
  /** All routes, once they are added. */
  routes: readonly RouteOptions[]
  /** Requests that wait for the end of a run. */
  runEnds: RunEnds
  runLogs: RunLogs
  audit: AuditLog
  series: SeriesSampler
  calculator: Pick<Calculator, 'run' | 'stop'>
  reading: ReadingTurns
  /** For lists of jobs, each of which needs megabytes while it is built. */
  lists: FairSlots
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The lowest role that may call the route. Absent: any caller, even without a token. */
    role?: Role
    /** True: without tokens only this machine may call it. */
    internal?: boolean
    /** The name of the change in the audit trail. Absent: the route changes nothing. */
    audit?: AuditAction
    /** True for a body that is streamed for as long as it lasts. */
    streams?: boolean
  }
  interface FastifySchema {
    /** For the description of the API, src/server/api/openapi. */
    operationId?: string
    summary?: string
    description?: string
    tags?: readonly string[]
    consumes?: readonly string[]
    produces?: readonly string[]
    /** True: the route is not in the description. */
    hide?: boolean
  }
}
