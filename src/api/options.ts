/** What the API is given by main.ts. */
import type { FastifyBaseLogger } from 'fastify'
import type { JobCommand, JobCommandInput, JobDefinition, JobDefinitionInput } from '../../schemas/generated.ts'
import type { TopicNames } from '../../streams/topics.ts'
import type { Clock } from '../clock.ts'
import type { Metrics } from '../metrics.ts'
import type { Codec, LogWriter, PartitionQueries } from '../ports.ts'
import type { OwnerDirectory } from './owner-directory.ts'

/** viewer reads; operator also writes jobs and commands; admin may do all. */
export type Role = 'viewer' | 'operator' | 'admin'

export interface ApiToken {
  role: Role
  token: string
}

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
  codecs: { definition: Codec<JobDefinition, JobDefinitionInput>; command: Codec<JobCommand, JobCommandInput> }
  names: TopicNames
  partitions: number
  owners: OwnerDirectory
  /** The scheduler of this process, which other API processes ask through /internal. Absent without that role. */
  local?: PartitionQueries | undefined
  metrics: Metrics
  clock: Clock
  logger: FastifyBaseLogger
  /** Absent or empty: no authentication; then only requests from this machine are served. */
  apiTokens?: readonly ApiToken[] | undefined
  health: () => Health
  /** False serves metrics, probes and the questions of other processes only: the process does not have the role api. Default: true. */
  public?: boolean | undefined
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Least role that may call the route. Absent: anyone, even without a token. */
    role?: Role
    /** True serves this machine only while there are no tokens. */
    internal?: boolean
  }
}
