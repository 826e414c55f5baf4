/**
 * What each part of Duelog, and each program beside it, must be allowed to do by the ACLs of a Kafka cluster: the one source of the
 * table in docs/ACCESS.md, of `duelog acls`, and of the tests on a broker with an authorizer.
 */

export type AclOperation = 'Read' | 'Write' | 'Create' | 'Describe' | 'DescribeConfigs' | 'AlterConfigs'

export interface AclEntry {
  resource: 'topic' | 'group' | 'transactional-id' | 'cluster'
  /** Of a `prefixed` one, what the names begin with. */
  name: string
  pattern: 'literal' | 'prefixed'
  operations: readonly AclOperation[]
  /** What it is needed for. */
  why: string
}

/** Roles of DUELOG_ROLES, and what is no process of Duelog. */
export type AccessRole = 'scheduler' | 'executor' | 'retrier' | 'api' | 'intake' | 'auditor' | 'setup' | 'worker' | 'client'

export const accessRoles: Record<AccessRole, string> = {
  scheduler: 'a process with the role scheduler: it owns partitions',
  executor: 'a process with the role executor: it runs handlers',
  retrier: 'a process with the role retrier: it forwards attempts that waited',
  api: 'a process with the role api: it answers HTTP',
  intake: 'a process with the role intake: it reads the schedules of other schedulers',
  auditor: 'a process with the role auditor, and `duelog audit`: they judge the log',
  setup: '`duelog topics apply`, or the first process that starts: it makes the topics',
  worker: 'a worker that is no Duelog process: createWorker, or one in another language',
  client: 'a program that writes definitions: createClient, or a producer of its own',
}

export interface AccessNames {
  /** DUELOG_TOPIC_PREFIX. */
  prefix: string
  /** Topics that jobs write to, receipts go to, or the handler kafka.produce writes to; a `*` at the end stands for any characters. */
  targets: readonly string[]
  /** Topics of other schedulers, for the role intake. */
  foreign: readonly string[]
  /** Of a worker: its pools. */
  pools: readonly string[]
}

/** What a role needs, each resource once. A process with several roles needs those of all. */
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
      name: name.replace(/\*.*$/, ''),
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
    operations: ['Write', 'Describe'],
    why,
  })
  const common: AclEntry[] = [
    topics('', ['Describe', 'DescribeConfigs'], 'looks whether all topics are there, and safe'),
    groups('', ['Read', 'Describe'], 'joins the groups of its roles, asks who owns what, and takes out members that have died'),
    topic('audit', ['Read', 'Write', 'Describe'], 'every process serves HTTP, and says who asked it for a change'),
  ]
  const tables: Record<AccessRole, AclEntry[]> = {
    scheduler: [
      ...common,
      topic('jobs', ['Read', 'Write', 'Describe'], 'definitions; tombstones of what is over, and what is moved to its partition'),
      topic('job-commands', ['Read', 'Write', 'Describe'], 'commands; follow-ups'),
      topic('job-state', ['Read', 'Write', 'Describe'], 'what was decided'),
      topic('execution-events', ['Read', 'Write', 'Describe'], 'reports'),
      topics('executions.', ['Write', 'Describe'], 'dispatches; dead letters'),
      topics('retry.', ['Write', 'Describe'], 'attempts that wait'),
      topic('worker-control', ['Write', 'Describe'], 'cancellations, pinned runs'),
      ids('scheduler-', 'each partition has one committing writer'),
      ...others(names.targets, ['Write', 'Describe', 'DescribeConfigs'], 'records of topic targets; receipts'),
    ],
    executor: [
      ...common,
      topics('executions.', ['Read', 'Describe'], 'takes runs'),
      topic('worker-control', ['Read', 'Describe'], 'hears of cancellations'),
      topic('execution-events', ['Write', 'Describe'], 'reports'),
      ...others(names.targets, ['Write', 'Describe'], 'the handler kafka.produce'),
    ],
    retrier: [
      ...common,
      topics('retry.', ['Read', 'Describe'], 'attempts that wait'),
      topic('execution-events', ['Write', 'Describe'], 'reports that they are due'),
    ],
    api: [
      ...common,
      topic('jobs', ['Write', 'Describe'], 'definitions'),
      topic('job-commands', ['Write', 'Describe'], 'commands'),
    ],
    intake: [
      ...common,
      topic('jobs', ['Write', 'Describe'], 'definitions'),
      ids('intake-', 'each foreign record becomes a definition once'),
      ...others(names.foreign, ['Read', 'Describe'], 'the schedules of others'),
      ...others(names.targets, ['Write', 'Describe', 'DescribeConfigs'], 'receipts of what is refused'),
    ],
    auditor: [
      ...common,
      ...['jobs', 'job-commands', 'job-state', 'worker-control'].map((name) => topic(name, ['Read', 'Describe'], 'judges it')),
      topics('executions.', ['Read', 'Describe'], 'judges them'),
      topics('retry.', ['Read', 'Describe'], 'judges them'),
      topic('execution-events', ['Read', 'Write', 'Describe'], 'judges it; asks brokers for the time'),
      ...others(names.targets, ['Read', 'Describe'], '`duelog audit --target-topics`'),
    ],
    setup: [topics('', ['Create', 'Describe', 'DescribeConfigs', 'AlterConfigs'], 'makes topics, and raises what is unsafe')],
    worker: [
      ...names.pools.map((pool) => topics(`executions.${pool}.`, ['Read', 'Describe'], 'takes runs')),
      topic('worker-control', ['Read', 'Describe'], 'hears of cancellations'),
      topic('execution-events', ['Write', 'Describe'], 'reports'),
      ...names.pools.map((pool) => group(`exec.${pool}`, ['Read', 'Describe'], 'shares the runs of the pool')),
      groups('control.', ['Read', 'Describe'], 'reads worker-control alone'),
    ],
    client: [topic('jobs', ['Write', 'Describe'], 'definitions')],
  }
  return tables[role]
}
