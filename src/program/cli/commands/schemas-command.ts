/** `duelog schemas …`: shows the versions of Duelog's subjects in the registry, and removes versions that others registered. */
import { environmentOf, readConfig } from '../../../ground/config/index.ts'
import type { SubjectStanding } from '../../../log/cluster/index.ts'
import { type CommandPlan, groupOf, jsonOption } from '../remote/index.ts'
import { exitCodes, numberText, type Paint, painterOf, settingOptions, tableText, writeAsJson } from '../terminal/index.ts'
import { clusterIn, kafkaSettings } from './cluster.ts'

const settings = [...kafkaSettings, 'DUELOG_POOLS']

const schemaCommand = (name: 'list' | 'repair', description: string): CommandPlan => ({
  name,
  description,
  examples: [`schemas ${name} --schema-registry-url http://registry:8081`, `schemas ${name} --pools default,mail --json`],
  options: [...settingOptions(settings), jsonOption('one line of JSON for each subject')],
  run: async ({ terminal, exit }, flags: Record<string, unknown>) => {
    const standings = await standingsOf({ ...terminal.env, ...environmentOf(flags) }, name)
    if (flags.json) for (const standing of standings) writeAsJson(terminal.stdout, standing)
    else terminal.stdout.write(textOf(standings, name, painterOf(terminal.stdout, terminal.env)))
    if (name === 'list' && standings.some(wantsRepair)) exit(exitCodes.failed.code)
  },
})

async function standingsOf(env: Record<string, string | undefined>, name: 'list' | 'repair'): Promise<SubjectStanding[]> {
  // Loaded on demand, so that commands that use only HTTP start sooner.
  const { clusterOf } = await import('../../../log/cluster/index.ts')
  const cluster = clusterOf(await clusterIn(env, 'duelog-schemas'))
  const { pools } = readConfig(env)
  return name === 'list' ? cluster.schemaStandings(pools) : cluster.repairSchemas(pools)
}

const isForeign = ({ standing }: SubjectStanding['versions'][number]): boolean => standing === 'foreign'
/** An empty subject needs no repair: the first process registers its schema. */
const wantsRepair = ({ versions, isRegistered }: SubjectStanding): boolean =>
  versions.some(isForeign) || (!isRegistered && versions.some(({ standing }) => standing !== 'earlier'))

function textOf(standings: readonly SubjectStanding[], name: 'list' | 'repair', paint: Paint): string {
  const rows = standings.flatMap(({ subject, versions }) =>
    versions
      .filter(isForeign)
      .map(({ version, id, reason }) => [
        { shown: paint(name === 'list' ? 'red' : 'yellow', name === 'list' ? 'foreign' : 'removed') },
        subject,
        String(version),
        String(id),
        reason ?? '',
      ]),
  )
  const table = rows.length === 0 ? '' : `${tableText(['STANDING', 'SUBJECT', 'VERSION', 'ID', 'REASON'], rows, paint)}\n`
  const foreign = rows.length === 0 ? 'none foreign' : `${numberText(rows.length)} foreign`
  const versions = standings.reduce((sum, standing) => sum + standing.versions.length, 0)
  const missing = standings.filter(({ isRegistered }) => !isRegistered).length
  const ours =
    missing === 0 ? '' : ` Our schema ${name === 'list' ? 'is' : 'was'} not registered for ${numberText(missing)} of them.`
  return `${table}Schemas: ${numberText(versions)} versions of ${numberText(standings.length)} subjects, ${foreign}.${ours}\n`
}

export const schemasCommand = groupOf('schemas', 'Check and repair the schemas in the registry.', [
  schemaCommand(
    'list',
    'Show the versions of each subject that others registered. Nothing is written. Fails if a repair is needed.',
  ),
  schemaCommand(
    'repair',
    'Remove versions that others registered, and register ours. Records that were written with them stay readable.',
  ),
])
