/** `duelog acls`: the ACLs that each role needs, as a table or as commands that grant them. */
import { Command, Option } from 'commander'
import type { AclEntry } from '../../../schemas/index.ts'
import { environmentOf } from '../../config/index.ts'
import { type CommandFrame, withExamples } from '../remote/index.ts'
import { painterOf, settingOptions, tableText, writeAsJson } from '../terminal/index.ts'
import { accessNames, entriesOf, requirePrincipal, roles } from './acl-entries.ts'

const settings = [
  ...['DUELOG_TOPIC_PREFIX', 'DUELOG_POOLS', 'DUELOG_TARGET_TOPICS'],
  ...['DUELOG_INTAKE_ETF1_TOPICS', 'DUELOG_INTAKE_KARAFKA_TOPICS'],
]

export function aclsCommand(frame: CommandFrame): Command {
  const command = withExamples(
    new Command('acls').description(
      'Show the Kafka ACLs that each role needs, without contacting a broker. With --principal: print the commands that grant them.',
    ),
    [
      'acls --role scheduler,api',
      'acls --role scheduler --principal User:duelog --bootstrap-server broker-1:9092 --command-config admin.properties | sh',
    ],
  )
  for (const option of settingOptions(settings)) command.addOption(option)
  return command
    .addOption(
      new Option('--role <roles>', `comma-separated roles: ${roles.join(', ')}`).default('scheduler,executor,retrier,api'),
    )
    .addOption(new Option('--principal <principal>', 'principal that gets the ACLs, such as User:duelog'))
    .addOption(new Option('--bootstrap-server <broker>', 'broker for the commands').default('localhost:9092'))
    .addOption(new Option('--command-config <file>', 'properties file that kafka-acls.sh signs in with'))
    .addOption(new Option('--json', 'one line of JSON for each resource'))
    .action(async (flags: Record<string, unknown>) => {
      const { terminal } = frame
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
    })
}

function grantOf({ resource, name, pattern, operations }: AclEntry, principal: string): string {
  const granted = operations.map((operation) => `--operation ${operation}`).join(' ')
  return `--add --force --allow-principal ${quoted(principal)} ${granted} --${resource} ${quoted(name)} --resource-pattern-type ${pattern}`
}

/** For a shell. */
const quoted = (text: string): string => (/^[\w.:@/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`)
