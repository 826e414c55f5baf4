/** `duelog audit list`: the audit trail of the API. */
import type { Command } from 'commander'
import type { AuditRecord } from '../../answers/index.ts'
import { type CommandFrame, pagesOf, type RemoteFlags, remoteCommand, remotely } from '../remote/index.ts'
import {
  type Cell,
  hasReader,
  integer,
  numberText,
  painterOf,
  type RangeFlags,
  rangeOf,
  rangeOptions,
  type TimeText,
  tableText,
  writeAsJson,
} from '../terminal/index.ts'

interface Flags extends RemoteFlags, RangeFlags {
  job?: string
  actor?: string
  action?: string
  limit: number
}

export function auditListCommand(frame: CommandFrame): Command {
  const command = remoteCommand(
    'list',
    'List the requests that changed jobs, runs, pools and workers, newest first: when, who, what, and each field of a definition before and after. It needs a token of the role operator.',
    ['audit list --since 1h', 'audit list --job report-7', 'audit list --actor deploy --action PUT --json'],
  )
  for (const option of rangeOptions('only changes')) command.addOption(option)
  return command
    .option('--job <id>', 'only changes of this job, and batches that name it')
    .option('--actor <name>', 'only changes by this token or subject')
    .option('--action <action>', 'only these changes, such as PUT, DELETE, PAUSE, PAUSE_MANY, BATCH, PAUSE_POOL')
    .addOption(integer('--limit <n>', 'maximum number of changes to show', 100, 1, 100_000))
    .action((flags: Flags) =>
      remotely(frame, flags, async ({ api, json, terminal, time }) => {
        const { job, actor, limit } = flags
        const query = { ...rangeOf(flags), jobId: job, actor, action: flags.action?.toUpperCase() }
        const rows: Cell[][] = []
        const take = (record: AuditRecord): void => {
          if (json) writeAsJson(terminal.stdout, record)
          else rows.push(rowOf(record, time))
        }
        const goOn = () => hasReader(terminal.stdout)
        const more = await pagesOf<AuditRecord>(api, '/v1/audit', query, 'records', limit, take, goOn)
        const head = ['TIME', 'ACTOR', 'ACTION', 'ON', 'OUTCOME', 'CHANGES']
        if (!json)
          terminal.stdout.write(
            rows.length === 0 ? 'No changes.\n' : tableText(head, rows, painterOf(terminal.stdout, terminal.env)),
          )
        if (more) terminal.stderr.write(`There are more than ${numberText(limit)}. Use --limit to see more.\n`)
      }),
    )
}

function rowOf(record: AuditRecord, time: TimeText): Cell[] {
  const { at, actor, action, jobId, runNo, target, filter, jobIds, outcome, done, refused, changes } = record
  const on = jobId === null ? (target ?? '') : runNo === null ? jobId : `${jobId}/${runNo}`
  const what = [
    ...(filter == null ? [] : [`where ${filter}`]),
    ...(jobIds.length === 0 ? [] : [`${numberText(jobIds.length)} jobs: ${jobIds.slice(0, 3).join(' ')}`]),
    ...changes.map(({ field, before, after }) => `${field}: ${before ?? '—'} → ${after ?? '—'}`),
    ...(done == null ? [] : [`${numberText(done)} changed`]),
    ...(refused ? [`${numberText(refused)} refused`] : []),
  ]
  return [time(at), actor, action, on, outcome, what.join(', ')]
}
