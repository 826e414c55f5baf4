/** What the API is given by system/system.ts. */
import type { FastifyBaseLogger } from 'fastify'
import type {
  AuditEvent,
  AuditEventInput,
  JobCommand,
  JobCommandInput,
  JobDefinition,
  JobDefinitionInput,
} from '../../../schemas/index.ts'
import type { TopicNames, TopicPlan } from '../../../streams/topics/index.ts'
import type { Clock } from '../../clock/index.ts'
import type { Metrics } from '../../metrics/index.ts'
import type { Codec, LogAdmin, LogWriter, PartitionQueries, ProofQueries } from '../../ports/index.ts'
import type { AuditAction, AuditTrail } from '../audit-trail/index.ts'
import type { ApiToken, JwtOptions, Role } from '../guards/index.ts'
import type { DashboardFile } from '../http/index.ts'
import type { OwnerDirectory, ProofDirectory } from '../owners/index.ts'

export type { ApiToken, Role } from '../guards/index.ts'

export interface Health {
  /** False asks the platform to restart the process. */
  live: boolean
  /** False asks the platform to send no requests. */
  ready: boolean
  /** Why not, one sentence each. */
  reasons: string[]
}

export interface ApiOptions {
  /** Stays the caller's: stop() does not close it. */
  writer: LogWriter
  codecs: {
    definition: Codec<JobDefinition, JobDefinitionInput>
    command: Codec<JobCommand, JobCommandInput>
    audit: Codec<AuditEvent, AuditEventInput>
  }
  names: TopicNames
  partitions: number
  owners: OwnerDirectory
  /** What the auditors of the system say. Absent: there are none. */
  proofs?: ProofDirectory | undefined
  /** The auditor of this process, which other API processes ask through /internal. Absent without that role. */
  localProof?: ProofQueries | undefined
  /** The scheduler of this process, which other API processes ask through /internal. Absent without that role. */
  local?: PartitionQueries | undefined
  /** Stays the caller's as well. */
  admin: Pick<LogAdmin, 'groups' | 'groupMembers' | 'offsets'>
  /** Reads the audit trail. Stays the caller's as well. */
  trail: AuditTrail
  /** name@host:pid:boot of this process. */
  instance: string
  metrics: Metrics
  clock: Clock
  logger: FastifyBaseLogger
  /** Absent or empty: no authentication; then only requests from this machine are served. */
  apiTokens?: readonly ApiToken[] | undefined
  /** Absent: JSON Web Tokens are not accepted. */
  jwt?: JwtOptions | undefined
  /** Requests a second that one caller may send; 0 is without limit. Default: limits.ratePerSecondDefault. */
  ratePerSecond?: number | undefined
  health: () => Health
  /** What /v1/settings shows of this process, without secrets. Default: nothing. */
  settings?: readonly object[] | undefined
  topics?: readonly TopicPlan[] | undefined
  /** Files of the dashboard, as readDashboard gives them. Absent or empty: its pages say how to build it. */
  dashboard?: ReadonlyMap<string, DashboardFile> | undefined
  /** False serves metrics, probes and the questions of other processes only: the process does not have the role api. Default: true. */
  public?: boolean | undefined
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Least role that may call the route. Absent: anyone, even without a token. */
    role?: Role
    /** True serves this machine only while there are no tokens. */
    internal?: boolean
    /** What the audit trail calls a request for this change. Absent: the route changes nothing. */
    audit?: AuditAction
    /** True for a body that is read as it comes, for as long as it goes on. */
    streams?: boolean
  }
  interface FastifySchema {
    /** Of the description of the API, src/api/openapi. */
    operationId?: string
    summary?: string
    description?: string
    tags?: readonly string[]
    consumes?: readonly string[]
    produces?: readonly string[]
    /** True keeps the route out of the description. */
    hide?: boolean
  }
}
