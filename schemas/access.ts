/**
 * The Kafka ACLs that each role of Duelog, and each program that works with it, needs. The table in docs/ACCESS.md, `duelog acls` and the
 * tests on a broker with an authorizer are made from this file.
 */

export type AclOperation = 'Read' | 'Write' | 'Create' | 'Delete' | 'Describe' | 'DescribeConfigs' | 'AlterConfigs'

export interface AclEntry {
  resource: 'topic' | 'group' | 'transactional-id' | 'cluster'
  /** The name of the resource. With `prefixed`: the beginning of the names. */
  name: string
  pattern: 'literal' | 'prefixed'
  operations: readonly AclOperation[]
  /** The purpose of the entry, as a sentence of docs/ACCESS.md. */
  why: string
}

/** The roles of DUELOG_ROLES, and the programs that are not Duelog processes. */
export type AccessRole =
  | 'scheduler'
  | 'executor'
  | 'retrier'
  | 'api'
  | 'intake'
  | 'auditor'
  | 'history'
  | 'setup'
  | 'worker'
  | 'client'

export const accessRoles: Record<AccessRole, string> = {
  scheduler: 'a process with the role scheduler: it owns partitions',
  executor: 'a process with the role executor: it runs handlers',
  retrier: 'a process with the role retrier: it forwards retries when they are due',
  api: 'a process with the role api: it answers HTTP',
  intake: 'a process with the role intake: it reads the schedules of other schedulers',
  auditor: 'a process with the role auditor, and `duelog audit`: they judge the log',
  history: 'a process with the role history: it keeps ended runs in a database',
  setup: '`duelog topics apply`, or the first process that starts: it creates the topics',
  worker: 'a worker that is no Duelog process: createWorker, or one in another language',
  client: 'a program that writes definitions: createClient, or a producer of its own',
}

export interface AccessNames {
  /** The value of DUELOG_TOPIC_PREFIX. */
  prefix: string
  /**
   * Topics that jobs write to, that receipts go to, or that the handler kafka.produce writes to. A `*` at the end matches any
   * characters.
   */
  targets: readonly string[]
  /** Topics of other schedulers that the role intake reads. */
  foreign: readonly string[]
  /** The pools of a worker. */
  pools: readonly string[]
}

/**
 * The entries that a role needs, one for each resource. A process with several roles needs the entries of all of them. Kafka allows Describe
 * with Read or Write, and DescribeConfigs with AlterConfigs, so those are not repeated.
 */
export function accessOf(role: AccessRole, names: AccessNames): AclEntry[] {
  const { prefix } = names
  const topic = (name: string, operations: AclOperation[], why: string): AclEntry => ({
    resource: 'topic',
    name: prefix + name,
    pattern: 'literal',
    operations,
    why,
  })
  const topics = (name: string, operations: AclOperation[], why: string): AclEntry => ({
    ...topic(name, operations, why),
    pattern: 'prefixed',
  })
  const others = (list: readonly string[], operations: AclOperation[], why: string): AclEntry[] =>
    list.map((name) => ({
      resource: 'topic',
      name: name.split('*', 1).join(),
      pattern: name.includes('*') ? 'prefixed' : 'literal',
      operations,
      why,
    }))
  const group = (name: string, operations: AclOperation[], why: string): AclEntry => ({
    resource: 'group',
    name: prefix + name,
    pattern: 'literal',
    operations,
    why,
  })
  const groups = (name: string, operations: AclOperation[], why: string): AclEntry => ({
    ...group(name, operations, why),
    pattern: 'prefixed',
  })
  const ids = (name: string, why: string): AclEntry => ({
    resource: 'transactional-id',
    name: prefix + name,
    pattern: 'prefixed',
    operations: ['Write'],
    why,
  })
  const ofAll = (trail: AclOperation[] = ['Write']): AclEntry[] => [
    topics('', ['Describe', 'DescribeConfigs'], 'checks that all topics exist and that their settings are safe'),
    groups('', ['Read'], 'joins the groups of its roles, asks which member owns a partition, and removes dead members'),
    topic('audit', trail, 'every process serves HTTP, and records who requested a change'),
  ]
  const tables: Record<AccessRole, AclEntry[]> = {
    scheduler: [
      ...ofAll(),
      topic('jobs', ['Read', 'Write'], 'definitions; tombstones of ended jobs; definitions that are moved to their partition'),
      topic('job-commands', ['Read', 'Write'], 'commands; follow-ups'),
      topic('job-state', ['Read', 'Write'], 'the changelog: the state of jobs and runs'),
      topic('execution-events', ['Read'], 'reports'),
      topics('executions.', ['Write'], 'dispatches; dead letters'),
      topics('retry.', ['Write'], 'retries that wait'),
      topic('worker-control', ['Write'], 'cancellations, pinned runs'),
      topic('pauses', ['Read'], 'which pools are paused'),
      topic('runs', ['Write'], 'a record for each run that has ended'),
      ids('scheduler-', 'each partition has one committing writer'),
      ...others(names.targets, ['Write', 'DescribeConfigs'], 'records of topic targets; receipts'),
    ],
    executor: [
      ...ofAll(),
      topics('executions.', ['Read'], 'reads runs'),
      topic('worker-control', ['Read'], 'reads cancellations and pinned runs'),
      topic('pauses', ['Read'], 'whether it or its pool is paused'),
      topic('execution-events', ['Write'], 'reports'),
      topic('run-logs', ['Write'], 'lines of run.log'),
      ...others(names.targets, ['Write'], 'the handler kafka.produce'),
    ],
    retrier: [
      ...ofAll(),
      topics('retry.', ['Read'], 'retries that wait'),
      topic('execution-events', ['Write'], 'reports that a retry is due'),
    ],
    api: [
      ...ofAll(['Read', 'Write']),
      topic('jobs', ['Write'], 'definitions'),
      topic('job-commands', ['Write'], 'commands'),
      topic('run-logs', ['Read'], 'lines of run.log'),
      topic('operations', ['Read', 'Write'], 'changes of many jobs, and their progress'),
      topic('pauses', ['Read', 'Write'], 'which pools and workers are paused'),
    ],
    intake: [
      ...ofAll(),
      topic('jobs', ['Write'], 'definitions'),
      ids('intake-', 'each foreign record becomes a definition exactly once'),
      ...others(names.foreign, ['Read'], 'schedules of other schedulers'),
      ...others(names.targets, ['Write', 'DescribeConfigs'], 'receipts for refused schedules'),
    ],
    auditor: [
      ...ofAll(),
      ...['jobs', 'job-state', 'worker-control'].map((name) => topic(name, ['Read'], 'judges its records')),
      topics('executions.', ['Read'], 'judges these records'),
      topic('execution-events', ['Read', 'Write'], 'judges its records; gets the time of the brokers'),
      topic('pauses', ['Read'], 'which pools are paused: their runs wait past their start deadlines'),
      ...others(names.targets, ['Read'], '`duelog audit --target-topics`'),
    ],
    history: [
      ...ofAll(),
      topic('runs', ['Read'], 'the runs that have ended'),
      topic('execution-events', ['Write'], 'gets the time of the brokers'),
    ],
    setup: [topics('', ['Create', 'Describe', 'AlterConfigs'], 'creates topics, and raises unsafe settings')],
    worker: [
      ...names.pools.map((pool) => topics(`executions.${pool}.`, ['Read'], 'reads runs')),
      topic('worker-control', ['Read'], 'reads cancellations and pinned runs'),
      topic('pauses', ['Read'], 'whether it or its pool is paused'),
      topic('execution-events', ['Write'], 'reports'),
      topic('run-logs', ['Write'], 'lines of run.log'),
      ...names.pools.map((pool) => group(`exec.${pool}`, ['Read'], 'shares the runs of the pool')),
      groups('control.', ['Read'], 'reads worker-control and pauses in groups of its own'),
    ],
    client: [topic('jobs', ['Write'], 'definitions')],
  }
  return tables[role]
}
