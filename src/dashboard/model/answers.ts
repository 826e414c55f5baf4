/** What the HTTP API answers, as far as the pages read it. */

export type Role = 'viewer' | 'operator' | 'admin'
export interface Session {
  role: Role
  /** False: this system asks nobody for a token. */
  authentication: boolean
}

export type JobStatus = 'ACTIVE' | 'PAUSED' | 'COMPLETED' | 'INVALID'
export const activeStatuses = ['DISPATCHED', 'RUNNING', 'RETRY_WAIT', 'WAITING'] as const
export type RunStatus = (typeof activeStatuses)[number] | 'SUCCEEDED' | 'FAILED' | 'EXPIRED' | 'CANCELLED' | 'SKIPPED' | 'DEAD'

export interface AttemptError {
  attempt: number
  at: string
  worker: string | null
  type: string
  message: string
}

export interface Run {
  runId: string
  jobId: string
  runNo: number
  status: RunStatus
  trigger: string
  scheduledFor: string
  attempts: number
  dueAt?: string
  dispatchedAt?: string
  startedAt: string | null
  finishedAt: string | null
  worker: string | null
  progress?: number | null
  message?: string | null
  checkedAt?: string | null
  result: unknown
  errors: AttemptError[]
}

export interface Schedule {
  at?: string | number
  delayMs?: number
  everyMs?: number
  cron?: string
  rrule?: string
  timezone?: string
}
export interface Target {
  handler?: string
  pool?: string
  topic?: { name: string }
  http?: { url: string; method?: string }
}
export interface Definition {
  schedule: Schedule
  target: Target
  payload?: unknown
  payloadBase64?: string
  tags?: string[]
  priority?: string
  [field: string]: unknown
}

export interface Job {
  id: string
  etag: string
  status: JobStatus
  reason: string | null
  nextFireAt: string | null
  runNo: number
  scheduledRuns: number
  succeeded: number
  failed: number
  skipped: number
  cancelled: number
  deadRuns: number[]
  active: Run[]
  lastRun: Run | null
  definition: Definition | null
}

export interface Page<Item extends string> {
  cursor: string | null
  /** Makes pages of different things different types. */
  of?: Item
}
export type JobPage = Page<'jobs'> & { jobs: Job[]; searched: number }
export type RunPage = Page<'runs'> & { runs: Run[] }

export interface DeadLetter {
  run: Run
  /** What its last attempt was given. */
  execution: {
    target: Target
    specOffset: number
    contentType?: string
    payload?: unknown
    payloadBase64?: string
    headers: Record<string, unknown>
  }
}

/** What writing one definition would change. */
export interface PlannedJob {
  action: 'CREATE' | 'UPDATE' | 'UNCHANGED' | 'DROPPED' | 'INVALID'
  reason?: string | null
  fires?: { added: string[]; removed: string[]; moved: { from: string; to: string }[]; kept: number; until: string }
  problems?: { message: string }[]
  /** What is allowed and hardly meant. */
  warnings?: string[]
}

export interface Why {
  id: string
  status: JobStatus
  why: { code: string; text: string; at: string | null }[]
}

export interface Fire {
  at: string
  atMs: number
  note?: string
}

/** Answer to a command. `applied` is false when its owner had not taken it in within the API's patience. */
export interface Commanded {
  applied: boolean
  runId?: string | null
  reason?: string | null
  detail?: string
}

export interface PartitionState {
  partition: number
  phase: 'restoring' | 'claiming' | 'active' | 'closed'
  restoreRemaining: number
  mailboxDepth: number
  jobsOffset: number
  /** How long the oldest timer that is due has waited. */
  overdueMs: number
  restoreTotal: number
  /** Version of the time zone rules that its owner goes by. An owner of an earlier version does not say. */
  zoneRules?: string
  /** While its jobs are looked at because these rules have changed. */
  zoneWalk?: { checked: number; moved: number } | null
  /** Why its owner decides nothing for now. */
  problem?: string | null
  /** A position that lay outside its log; `at` in epoch ms. */
  lastReset?: { topic: string; from: number; to: number; reason: 'beyond-end' | 'expired' | 'lost'; at: number } | null
  openTransaction?: { topic: string; offset: number; records: number; since: number } | null
  underWay: { dispatched: number; running: number; waiting: number }
  instance: string | null
  url: string | null
}

export interface Worker {
  /** name@host:pid:boot */
  instance: string
  name: string | null
  host: string | null
  pid: number | null
  version: string | null
  connected: boolean
  pools: { pool: string; slots: number | null; partitions: number }[]
  running: number
  runIds: string[]
  lastHeardAt: string | null
}

export interface Settings {
  settings: { name: string; value: string | null; given: boolean; secret: boolean; unit: string | null; description: string }[]
  topics: { topic: string; schema: string; config: Record<string, string> }[]
  partitions: number
}

export interface Forecast {
  bucketMs: number
  buckets: { at: string; next: number; later: number }[]
  overdue: number
  jobs: number
  /** Whether `later` is an estimate. */
  estimate: boolean
  /** What is due after it is missing. */
  until: string
}

export interface Counts {
  definitions: number
  dispatched: number
  written: number
  retries: number
  leasesLost: number
  ended: Partial<Record<string, number>>
  skipped: Partial<Record<string, number>>
  lateness: [upToMs: number | null, starts: number][]
}

/** What /v1/events sends once a second. */
export interface StatsMessage {
  at: number
  counts: Counts
  partitions: PartitionState[]
  /** What the auditors say; null where nobody can say. Absent: the process is of an earlier version. */
  proof?: { found: number; audited: number; judgedUntil: number | null } | null
}

/** What /v1/proof answers. */
export interface Proof {
  audited: number
  partitions: number
  since: string | null
  judgedUntil: string | null
  behindRecords: number
  records: number
  unreadable: number
  runs: number
  occurrences: number
  found: number
  findings: Record<string, number>
  unjudged: Record<string, number>
  recent: { at: string; kind: string; what: string; detail: string }[]
}
