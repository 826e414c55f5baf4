/** `duelog topics …`: creates and checks the topics that Duelog needs. */
import { counted } from '../../../../streams/text/index.ts'
import { environmentOf, readConfig } from '../../../ground/config/index.ts'
import type { TopicChange } from '../../../log/cluster/index.ts'
import { type CommandPlan, groupOf, jsonOption } from '../remote/index.ts'
import { exitCodes, type Paint, painterOf, settingOptions, tableText, writeAsJson } from '../terminal/index.ts'
import { aclChangesOf, aclPlanOf, aclsOption, aclsText, countsText, surplusOption, type Verb } from './acls-command.ts'
import { clusterIn, kafkaSettings } from './cluster.ts'

const settings = [
  ...kafkaSettings,
  ...['DUELOG_POOLS', 'DUELOG_PARTITIONS', 'DUELOG_REPLICATION', 'DUELOG_RUNS_RETENTION_MS', 'DUELOG_RUN_LOGS_RETENTION_MS'],
  ...['DUELOG_INTAKE_ETF1_TOPICS', 'DUELOG_INTAKE_KARAFKA_TOPICS', 'DUELOG_TARGET_TOPICS'],
]

const topicCommand = (name: Verb, description: string): CommandPlan => ({
  name,
  description,
  examples: [
    `topics ${name} --kafka-brokers broker-1:9092 --partitions 64 --replication 3`,
    `topics ${name} --pools default,mail --json`,
    `topics ${name} --acls scheduler,retrier,api=User:duelog --acls worker=User:shop`,
  ],
  options: [
    ...settingOptions(settings),
    aclsOption(),
    ...(name === 'apply' ? [surplusOption()] : []),
    jsonOption('one line of JSON for each topic and each ACL'),
  ],
  run: async ({ terminal, exit }, flags: Record<string, unknown>) => {
    const env = { ...terminal.env, ...environmentOf(flags) }
    const { acls: items, deleteSurplusAcls } = flags as { acls?: string[]; deleteSurplusAcls?: boolean }
    const asked = { items: items ?? [], deleteSurplus: deleteSurplusAcls === true }
    // Wrong options are refused before anything is created.
    const aclPlan = aclPlanOf(env, asked)
    const changes = await changesOf(env, name)
    const ignored = ignoredCount(env.DUELOG_PARTITIONS, changes)
    if (ignored !== undefined) terminal.stderr.write(`${ignored}\n`)
    if (flags.json) for (const change of changes) writeAsJson(terminal.stdout, change)
    else terminal.stdout.write(textOf(changes, name, painterOf(terminal.stdout, terminal.env)))
    if (asked.items.length > 0) {
      const acls = await aclChangesOf(env, name, aclPlan, asked)
      if (flags.json) for (const acl of acls) writeAsJson(terminal.stdout, acl)
      else terminal.stdout.write(aclsText(acls, name, asked.deleteSurplus, painterOf(terminal.stdout, terminal.env)))
    }
    if (changes.some(({ action }) => action === 'refuse')) exit(exitCodes.failed.code)
  },
})

/** A warning when the requested number of partitions differs from that of the existing topics. */
function ignoredCount(requested: string | undefined, changes: readonly TopicChange[]): string | undefined {
  const existing = changes.find(({ action }) => action === 'keep' || action === 'change')
  if (requested === undefined || requested === '' || existing === undefined || Number(requested) === existing.partitions)
    return undefined
  return `DUELOG_PARTITIONS=${requested} is ignored: ${existing.topic} has ${counted(existing.partitions, 'partition')}. The number is fixed when the topics are created.`
}

async function changesOf(env: Record<string, string | undefined>, name: Verb): Promise<TopicChange[]> {
  // Loaded on demand, so that commands that use only HTTP start sooner.
  const { clusterOf, plansOf } = await import('../../../log/cluster/index.ts')
  const { pools, partitions, replication, intakeTopics, ...config } = readConfig(env)
  const { log, names } = clusterOf(await clusterIn(env, 'duelog-topics'))
  const wanted = { plans: plansOf(names, pools, config), partitions, replication }
  const changes = await (name === 'plan' ? log.planTopics(wanted) : log.changeTopics(wanted))
  const foreign = [...intakeTopics.etf1, ...intakeTopics.karafka]
  const size = { partitions: changes[0]?.partitions ?? partitions, replication }
  const missing = foreign.length === 0 ? [] : await (name === 'plan' ? missingOf(log, foreign) : log.makeMissing(foreign, size))
  // Existing foreign topics are not changed.
  const created = missing.map(
    (topic): TopicChange => ({
      ...{ topic, action: 'create', partitions: size.partitions, replicas: size.replication },
      ...{ settings: [], reason: undefined },
    }),
  )
  return [...changes, ...created]
}

async function missingOf(log: { topics(): Promise<string[]> }, topics: readonly string[]): Promise<string[]> {
  const existing = new Set(await log.topics())
  return topics.filter((topic) => !existing.has(topic))
}

const words = {
  plan: { create: 'would be created', change: 'would change', refuse: 'cannot be fixed', keep: 'are up to date' },
  apply: { create: 'created', change: 'changed', refuse: 'cannot be fixed', keep: 'were up to date' },
} as const
const colors = { create: 'green', change: 'yellow', refuse: 'red' } as const

function textOf(changes: readonly TopicChange[], name: Verb, paint: Paint): string {
  const rows = changes.flatMap(({ topic, action, partitions, replicas, settings, reason }) => {
    if (action === 'keep') return []
    const size = [String(partitions), replicas === undefined ? '' : String(replicas)]
    return [[{ shown: paint(colors[action], action) }, topic, ...size, reason ?? settings.map(settingText).join(', ')]]
  })
  const table = rows.length === 0 ? '' : `${tableText(['ACTION', 'TOPIC', 'PARTITIONS', 'REPLICAS', 'SETTINGS'], rows, paint)}\n`
  return `${table}Topics: ${countsText(changes, words[name])}.\n`
}

function settingText({ setting, found, planned }: TopicChange['settings'][number]): string {
  return found === undefined ? `${setting}=${planned}` : `${setting} ${found} -> ${planned}`
}

export const topicsCommand = groupOf('topics', 'Prepare the topics of a cluster.', [
  topicCommand(
    'plan',
    'Show which topics would be created and which settings would be raised. Nothing is written. With --acls: also which ACLs.',
  ),
  topicCommand(
    'apply',
    'Create missing topics and raise settings that could lose jobs; with --acls, also create missing ACLs. Nothing is deleted unasked.',
  ),
])
