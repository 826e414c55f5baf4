/** `duelog acls`: the ACLs that each role needs, as a table or as commands that grant them. `topics … --acls`: planned or created. */
import { Option } from 'commander'
import { type AccessNames, type AccessRole, type AclEntry, accessOf, accessRoles } from '../../../../schemas/index.ts'
import { environmentOf, readConfig } from '../../../ground/config/index.ts'
import { DuelogError } from '../../../ground/errors/index.ts'
import type { AclChange, AclPlan, AclsWanted } from '../../../log/cluster/index.ts'
import { type CommandPlan, jsonOption } from '../remote/index.ts'
import { numberText, type Paint, painterOf, settingOptions, tableText, writeAsJson } from '../terminal/index.ts'
import { clusterIn } from './cluster.ts'

const roles = Object.keys(accessRoles) as AccessRole[]

const settings = [
  ...['DUELOG_TOPIC_PREFIX', 'DUELOG_POOLS', 'DUELOG_TARGET_TOPICS'],
  ...['DUELOG_INTAKE_ETF1_TOPICS', 'DUELOG_INTAKE_KARAFKA_TOPICS'],
]

export const aclsCommand: CommandPlan = {
  name: 'acls',
  description:
    'Show the Kafka ACLs that each role needs, without contacting a broker. With --principal: print the commands that grant them.',
  examples: [
    'acls --role scheduler,api',
    'acls --role scheduler --principal User:duelog --bootstrap-server broker-1:9092 --command-config admin.properties | sh',
  ],
  options: [
    ...settingOptions(settings),
    new Option('--role <roles>', `comma-separated roles: ${roles.join(', ')}`).default('scheduler,executor,retrier,api'),
    new Option('--principal <principal>', 'principal that gets the ACLs, such as User:duelog'),
    new Option('--bootstrap-server <broker>', 'broker for the commands').default('localhost:9092'),
    new Option('--command-config <file>', 'properties file that kafka-acls.sh signs in with'),
    jsonOption('one line of JSON for each resource'),
  ],
  run: async ({ terminal }, flags: Record<string, unknown>) => {
    const entries = entriesOf(accessNames({ ...terminal.env, ...environmentOf(flags) }), String(flags.role).split(','))
    const { principal } = flags
    if (typeof principal === 'string') requirePrincipal('--principal', principal)
    if (flags.json) for (const entry of entries) writeAsJson(terminal.stdout, entry)
    else if (typeof principal === 'string') {
      const config = flags.commandConfig === undefined ? '' : ` --command-config ${quoted(String(flags.commandConfig))}`
      const program = `kafka-acls.sh --bootstrap-server ${quoted(String(flags.bootstrapServer))}${config}`
      for (const entry of entries) terminal.stdout.write(`${program} ${grantOf(entry, principal)}\n`)
    } else {
      const rows = entries.map(({ resource, name, pattern, operations, why }) => [
        resource,
        pattern === 'prefixed' ? `${name}*` : name,
        operations.join(', '),
        why,
      ])
      const paint = painterOf(terminal.stdout, terminal.env)
      terminal.stdout.write(`${tableText(['RESOURCE', 'NAME', 'OPERATIONS', 'FOR'], rows, paint)}\n`)
    }
  },
}

function grantOf({ resource, name, pattern, operations }: AclEntry, principal: string): string {
  const granted = operations.map((operation) => `--operation ${operation}`).join(' ')
  return `--add --force --allow-principal ${quoted(principal)} ${granted} --${resource} ${quoted(name)} --resource-pattern-type ${pattern}`
}

/** For a shell. */
const quoted = (text: string): string => (/^[\w.:@/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`)

function accessNames(env: Record<string, string | undefined>): AccessNames {
  const { topicPrefix: prefix, pools, targetTopics: targets, intakeTopics } = readConfig(env)
  return { prefix, pools, targets, foreign: [...intakeTopics.etf1, ...intakeTopics.karafka] }
}

/** One entry for each resource of these roles. Throws `bad-usage`. */
function entriesOf(names: AccessNames, wanted: readonly string[]): AclEntry[] {
  const entries = wanted.flatMap((name) => {
    const role = roles.find((known) => known === name.trim())
    if (role === undefined)
      throw new DuelogError('bad-usage', `Unknown role ${JSON.stringify(name)}. The roles are ${roles.join(', ')}.`)
    return accessOf(role, names)
  })
  return joined(entries)
}

/** `scheduler,retrier=User:duelog`: the roles, and the principal that runs them, which may itself have commas and equal signs. */
function wantedOf(names: AccessNames, items: readonly string[]): AclsWanted[] {
  return items.map((item) => {
    const [, given = '', principal = ''] = /^([^=]*)=(.*)$/s.exec(item) ?? []
    if (principal === '')
      throw new DuelogError(
        'bad-usage',
        `--acls is ${JSON.stringify(item)}; give roles and their principal, such as scheduler,retrier=User:duelog.`,
      )
    requirePrincipal('--acls', principal)
    return { principal, entries: entriesOf(names, given.split(',')) }
  })
}

function requirePrincipal(option: string, principal: string): void {
  if (/^[A-Za-z]+:./.test(principal)) return
  throw new DuelogError(
    'bad-usage',
    `${option} is ${JSON.stringify(principal)}; Kafka requires a type before the name, such as User:${principal}.`,
  )
}

/** Merges the entries of several roles for one resource. */
function joined(entries: readonly AclEntry[]): AclEntry[] {
  const byResource = new Map<string, AclEntry>()
  for (const entry of entries) {
    const key = `${entry.resource} ${entry.pattern} ${entry.name}`
    const known = byResource.get(key)
    if (known === undefined) byResource.set(key, entry)
    else {
      const why = known.why.includes(entry.why) ? known.why : `${known.why}; ${entry.why}`
      byResource.set(key, { ...known, operations: [...new Set([...known.operations, ...entry.operations])], why })
    }
  }
  return [...byResource.values()]
}

export type Verb = 'plan' | 'apply'

export const aclsOption = (): Option =>
  new Option(
    '--acls <roles=principal>',
    'also the ACLs of these roles for this principal, such as scheduler,retrier=User:duelog; may be repeated. Give all roles of a principal: others of its ACLs on names of Duelog are shown as surplus',
  ).argParser((item: string, before: string[] | undefined) => [...(before ?? []), item])

export const surplusOption = (): Option => new Option('--delete-surplus-acls', 'delete the ACLs that are shown as surplus')

export interface AclsAsked {
  /** Values of --acls. */
  items: readonly string[]
  deleteSurplus: boolean
}

/** Throws `bad-usage`. */
export function aclPlanOf(env: Record<string, string | undefined>, { items, deleteSurplus }: AclsAsked): AclPlan {
  if (items.length === 0 && deleteSurplus)
    throw new DuelogError('bad-usage', '--delete-surplus-acls needs --acls, which says what is not surplus.')
  const names = accessNames(env)
  return { wanted: wantedOf(names, items), prefix: names.prefix }
}

/** Rejects with `kafka-denied` or `bad-config`. */
export async function aclChangesOf(
  env: Record<string, string | undefined>,
  verb: Verb,
  plan: AclPlan,
  { deleteSurplus }: AclsAsked,
): Promise<AclChange[]> {
  const { clusterOf } = await import('../../../log/cluster/index.ts')
  const { log } = clusterOf(await clusterIn(env, 'duelog-topics'))
  return verb === 'plan' ? log.planAcls(plan) : log.changeAcls(plan, { deleteSurplus })
}

const colors = { create: 'green', surplus: 'yellow', deny: 'red' } as const

export function aclsText(changes: readonly AclChange[], verb: Verb, deleteSurplus: boolean, paint: Paint): string {
  const rows = changes.flatMap(({ action, principal, resource, name, pattern, operation, host }) => {
    if (action === 'keep') return []
    const shown = action === 'surplus' && deleteSurplus ? 'delete' : action
    return [
      [{ shown: paint(colors[action], shown) }, principal, resource, pattern === 'prefixed' ? `${name}*` : name, operation, host],
    ]
  })
  const isDone = verb === 'apply'
  const words = {
    create: isDone ? 'created' : 'would be created',
    surplus: deleteSurplus ? 'deleted' : 'are surplus',
    deny: 'are denials',
    keep: isDone ? 'were there' : 'are there',
  }
  const table =
    rows.length === 0 ? '' : `${tableText(['ACTION', 'PRINCIPAL', 'RESOURCE', 'NAME', 'OPERATION', 'HOST'], rows, paint)}\n`
  return `${table}ACLs: ${countsText(changes, words)}.\n`
}

/** How many changes there are of each action, in the order of the words. */
export const countsText = <Action extends string>(
  changes: readonly { action: Action }[],
  words: Record<Action, string>,
): string =>
  (Object.keys(words) as Action[])
    .map((action) => ({ count: changes.filter((change) => change.action === action).length, word: words[action] }))
    .flatMap(({ count, word }) => (count === 0 ? [] : [`${numberText(count)} ${word}`]))
    .join(', ')
