/** `duelog topics …`: creates and checks the topics that Duelog needs. */
import { Command, Option } from 'commander'
import { counted } from '../../../streams/text/index.ts'
import type { TopicChange } from '../../cluster/index.ts'
import { environmentOf, readConfig } from '../../config/index.ts'
import { type CommandFrame, withExamples } from '../remote/index.ts'
import { exitCodes, numberText, type Paint, painterOf, settingOptions, tableText, writeAsJson } from '../terminal/index.ts'
import { aclChangesOf, aclPlanOf, aclsOption, aclsText, surplusOption } from './acl-changes.ts'
import { clusterIn, kafkaSettings } from './cluster.ts'

const settings = [
  ...kafkaSettings,
  ...['DUELOG_POOLS', 'DUELOG_PARTITIONS', 'DUELOG_REPLICATION', 'DUELOG_RUNS_RETENTION_MS', 'DUELOG_RUN_LOGS_RETENTION_MS'],
  ...['DUELOG_INTAKE_ETF1_TOPICS', 'DUELOG_INTAKE_KARAFKA_TOPICS', 'DUELOG_TARGET_TOPICS'],
]

export function topicsCommand(frame: CommandFrame): Command {
  const plan = topicCommand(
    frame,
    'plan',
    'Show which topics would be created and which settings would be raised. Nothing is written. With --acls: also which ACLs.',
  )
  const apply = topicCommand(
    frame,
    'apply',
    'Create missing topics and raise settings that could lose jobs; with --acls, also create missing ACLs. Nothing is deleted unasked.',
  )
  return new Command('topics').description('Prepare the topics of a cluster.').addCommand(plan).addCommand(apply)
}

function topicCommand(frame: CommandFrame, name: 'plan' | 'apply', description: string): Command {
  const command = withExamples(new Command(name).description(description), [
    `topics ${name} --kafka-brokers broker-1:9092 --partitions 64 --replication 3`,
    `topics ${name} --pools default,mail --json`,
    `topics ${name} --acls scheduler,retrier,api=User:duelog --acls worker=User:shop`,
  ])
  for (const option of settingOptions(settings)) command.addOption(option)
  command.addOption(aclsOption())
  if (name === 'apply') command.addOption(surplusOption())
  return command
    .addOption(new Option('--json', 'one line of JSON for each topic and each ACL'))
    .action(async (flags: Record<string, unknown>) => {
      const { terminal } = frame
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
      if (changes.some(({ action }) => action === 'refuse')) frame.exit(exitCodes.failed.code)
    })
}

/** A warning when the requested number of partitions differs from that of the existing topics. */
function ignoredCount(requested: string | undefined, changes: readonly TopicChange[]): string | undefined {
  const existing = changes.find(({ action }) => action === 'keep' || action === 'change')
  if (requested === undefined || requested === '' || existing === undefined || Number(requested) === existing.partitions)
    return undefined
  return `DUELOG_PARTITIONS=${requested} is ignored: ${existing.topic} has ${counted(existing.partitions, 'partition')}. The number is fixed when the topics are created.`
}

async function changesOf(env: Record<string, string | undefined>, name: 'plan' | 'apply'): Promise<TopicChange[]> {
  // Loaded on demand, so that commands that use only HTTP start sooner.
  const { clusterOf, plansOf } = await import('../../cluster/index.ts')
  const { pools, partitions, replication, intakeTopics, ...config } = readConfig(env)
  const { log, names } = clusterOf(clusterIn(env, 'duelog-topics'))
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
  plan: { create: 'would be created', change: 'would change', keep: 'are up to date', refuse: 'cannot be fixed' },
  apply: { create: 'created', change: 'changed', keep: 'were up to date', refuse: 'cannot be fixed' },
} as const
const colors = { create: 'green', change: 'yellow', refuse: 'red' } as const

function textOf(changes: readonly TopicChange[], name: 'plan' | 'apply', paint: Paint): string {
  const rows = changes.flatMap(({ topic, action, partitions, replicas, settings, reason }) => {
    if (action === 'keep') return []
    const size = [String(partitions), replicas === undefined ? '' : String(replicas)]
    return [[{ shown: paint(colors[action], action) }, topic, ...size, reason ?? settings.map(settingText).join(', ')]]
  })
  const counts = (['create', 'change', 'refuse', 'keep'] as const).flatMap((action) => {
    const count = changes.filter((change) => change.action === action).length
    return count === 0 ? [] : [`${numberText(count)} ${words[name][action]}`]
  })
  const table = rows.length === 0 ? '' : `${tableText(['ACTION', 'TOPIC', 'PARTITIONS', 'REPLICAS', 'SETTINGS'], rows, paint)}\n`
  return `${table}Topics: ${counts.join(', ')}.\n`
}

function settingText({ setting, found, planned }: TopicChange['settings'][number]): string {
  return found === undefined ? `${setting}=${planned}` : `${setting} ${found} -> ${planned}`
}
